use std::pin::pin;
use std::time::Duration;

use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::difference::{Counted, DifferenceKind, TimeRule};
use edgeproof_reports::{CaseLevel, Hop};
use tokio::time::timeout;

use super::expected::{PENDING, UNAUTHORIZED, answer};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, VerdictRequest, summary};
use crate::judge::{self, AnswerResult, Check};
use edgeproof_http::{NoAnswer, Sent};

/// Timeout of an answer to a short `waitMs`. A service may have a default wait.
const SHORT_WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of an answer to an excessive `waitMs`. Proxies in front of a service rarely wait longer.
const EXCESSIVE_TIMEOUT: Duration = Duration::from_secs(150);
/// Timeout of an answer to `waitMs=0` or a negative `waitMs`.
const SOON: Duration = Duration::from_secs(5);
/// Excessive values of `waitMs`: id, title, value.
const EXCESSIVE: [(&str, &str, &str); 4] = [
    ("huge", "a waitMs of four months", "9999999999"),
    ("beyond-32-bits", "a waitMs beyond 32 bits", "4294967296"),
    ("beyond-64-bits", "a waitMs beyond 64 bits", "18446744073709551616"),
    ("endless", "waitMs=Infinity", "Infinity"),
];
/// Timeout of the service's reaction to a client that has disconnected.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a case without `--waits` observes an excessive wait.
const OBSERVATION: Duration = Duration::from_secs(2);
/// A moderate wait.
const MODERATE: Duration = Duration::from_millis(700);

/// The query parameter `waitMs` (4). The interface does not show its type, unit and bounds.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    optional(cases);
    robust(cases);
    excessive(cases);
    kept(cases);
    without_token(cases);
    client_leaves(cases);
}

fn optional(cases: &mut CaseList<'_, Service>) {
    for (id, title, query) in [
        ("absent", "an unknown session is pending without waitMs", None),
        ("zero", "an unknown session is pending with waitMs=0", Some("waitMs=0")),
        ("short", "an unknown session is pending with waitMs=50", Some("waitMs=50")),
    ] {
        let row = cases.row(PENDING).clone();
        cases
            .steps(
                "statement.wait-optional",
                &format!("verdict.wait.{id}"),
                title,
                steps!(
                    async |context| {
                        let reference = context.reference(id);
                        let mut request = context.with_token(&reference);
                        if let Some(query) = query {
                            request = request.query(query);
                        }
                        let sent = context.fetch_verdict_within(&request, SHORT_WAIT_TIMEOUT).await;
                        context.checks(judge::exact(&answer(&row, &reference), &sent.reply));
                        // Without the parameter a service may use a default wait.
                        if query.is_some() {
                            context.check(soon(&sent));
                        }
                    },
                    with(row)
                ),
            )
            .requires(&[ServiceNeed::ReadToken])
            .also(PENDING)
            .takes(SHORT_WAIT_TIMEOUT);
    }
}

/// The service answers an invalid `waitMs`, and not with a server error.
fn robust(cases: &mut CaseList<'_, Service>) {
    for (id, title, query) in [
        ("negative", "waitMs=-1", "waitMs=-1"),
        ("most-negative", "the smallest 64-bit integer as waitMs", "waitMs=-9223372036854775808"),
        ("not-a-number", "waitMs=soon", "waitMs=soon"),
        ("nan", "waitMs=NaN", "waitMs=NaN"),
        ("empty", "waitMs without a value", "waitMs="),
        ("name-alone", "waitMs without an equals sign", "waitMs"),
        ("fraction", "waitMs=0.5", "waitMs=0.5"),
        ("twice", "two waitMs", "waitMs=0&waitMs=1"),
        ("list", "waitMs as an array", "waitMs[]=0"),
        ("unit", "waitMs with a unit", "waitMs=1ms"),
        ("other-name", "an unknown query parameter", "edgeproof=1"),
    ] {
        let point = format!("verdict.wait.{id}");
        cases
            .steps(
                "statement.wait-robust",
                &point.clone(),
                &format!("the service answers {title} without a server error"),
                steps!(
                    async |context| {
                        let request = context.with_token(&context.reference(id)).query(query);
                        let sent = context.fetch_verdict_within(&request, SHORT_WAIT_TIMEOUT).await;
                        context.check(no_server_error(&sent.reply));
                        if id.ends_with("negative") {
                            context.check(soon(&sent));
                        }
                        context.observe(&point, summary::status(&sent.reply));
                    },
                    with(point)
                ),
            )
            .requires(&[ServiceNeed::ReadToken])
            .takes(SHORT_WAIT_TIMEOUT);
    }
}

/// An excessive wait causes no server error now and ends eventually.
fn excessive(cases: &mut CaseList<'_, Service>) {
    for (id, title, value) in EXCESSIVE {
        let point = format!("verdict.wait.{id}");
        cases
            .steps(
                "statement.wait-robust",
                &point.clone(),
                &format!("{title} causes no server error"),
                steps!(
                    async |context| {
                        let request = excessive_request(context, value);
                        let sent = context.fetch_verdict_within(&request, OBSERVATION).await;
                        let held = matches!(sent.reply, Err(NoAnswer::TimedOut(_)));
                        if held {
                            let kind = DifferenceKind::time(TimeRule::MayWait, None, OBSERVATION);
                            context.check(Check::judged(kind, true));
                            context.observe(&point, "waits");
                        } else {
                            context.check(no_server_error(&sent.reply));
                            context.observe(&point, summary::status(&sent.reply));
                        }
                    },
                    with(point)
                ),
            )
            .requires(&[ServiceNeed::ReadToken]);
    }
    for (id, title, value) in EXCESSIVE {
        ends(cases, id, title, value);
    }
}

fn ends(cases: &mut CaseList<'_, Service>, id: &str, title: &str, value: &'static str) {
    let longest = cases.spec.profile().wait_max;
    let point = format!("verdict.wait.{id}-ends");
    cases
        .steps(
            "statement.wait-robust",
            &point.clone(),
            &format!("the service answers {title} within 150 seconds"),
            steps!(
                async |context| {
                    let (endpoint, draft) =
                        (context.service().clone(), excessive_request(context, value).draft());
                    let mut asking = pin!(edgeproof_http::send(&endpoint, &draft, EXCESSIVE_TIMEOUT));
                    let sent = tokio::select! {
                        sent = &mut asking => sent,
                        () = time_passes(context, longest) => asking.await,
                    };
                    context.record(Hop::ClientService, &endpoint, &draft, sent.clone());
                    context.check(no_server_error(&sent.reply));
                    context.observe(&point, summary::status(&sent.reply));
                },
                with(point)
            ),
        )
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Waits])
        .exclusive()
        .takes(EXCESSIVE_TIMEOUT);
}

/// Advances the built-in mock's clock. Another service takes real time.
async fn time_passes(context: &ServiceCaseContext, longest: Duration) {
    if let Some((mock, _)) = context.builtin_mock() {
        // The clock must advance after the request has started to wait. An error means that the mock has ended.
        let _ = mock.polls().wait_for(|polls| *polls > 0).await;
        mock.clock().advance(longest);
    }
}

fn excessive_request(context: &ServiceCaseContext, value: &str) -> VerdictRequest {
    context.with_token(&context.reference("ages")).query(&format!("waitMs={value}"))
}

/// A request without a wait is answered at once.
fn soon(sent: &Sent) -> Check {
    Check::timed(TimeRule::WithoutWait, sent.took, SOON).at(CaseLevel::Should).advise(Advice::WaitUnasked)
}

fn no_server_error(reply: &AnswerResult) -> Check {
    judge::no_server_error(reply).advise(Advice::WaitUnbounded)
}

/// Duration of a moderate wait.
fn kept(cases: &mut CaseList<'_, Service>) {
    cases
        .steps(
            "statement.wait-bounds",
            "verdict.wait.kept",
            "the duration of a wait of 700 ms",
            steps!(async |context| {
                let query = format!("waitMs={}", MODERATE.as_millis());
                let request = context.with_token(&context.reference("kept")).query(&query);
                let sent = context.fetch_verdict_within(&request, SHORT_WAIT_TIMEOUT).await;
                let length = match sent.took {
                    took if took < MODERATE / 2 => "answered at once",
                    took if took < MODERATE => "answered early",
                    took if took < MODERATE + Duration::from_secs(2) => {
                        "answered after as long as was asked for"
                    }
                    _ => "answered later than was asked for",
                };
                let observed = format!("{}, {length}", summary::status(&sent.reply));
                context.observe("verdict.wait.kept", observed);
            }),
        )
        .requires(&[ServiceNeed::ReadToken])
        .takes(SHORT_WAIT_TIMEOUT);
}

/// A request without a token must not wait: anyone could keep connections open.
fn without_token(cases: &mut CaseList<'_, Service>) {
    let row = cases.row(UNAUTHORIZED).clone();
    cases
        .steps(
            UNAUTHORIZED,
            "verdict.wait.without-token",
            "a request without a token is unauthorized at once, even with waitMs",
            steps!(
                async |context| {
                    let request = context.verdict(&context.reference("wait")).query("waitMs=4000");
                    let sent = context.fetch_verdict_within(&request, SHORT_WAIT_TIMEOUT).await;
                    context.checks(judge::exact(&answer(&row, ""), &sent.reply));
                    let check = Check::timed(TimeRule::WithoutToken, sent.took, Duration::from_secs(3));
                    context.check(check.at(CaseLevel::Should).advise(Advice::TokenAfterWait));
                },
                with(row)
            ),
        )
        .takes(SHORT_WAIT_TIMEOUT);
}

/// A disconnected client must not occupy a long poll. Only the built-in mock reports the number of waiting requests.
fn client_leaves(cases: &mut CaseList<'_, Service>) {
    cases
        .steps(
            "statement.wait-ends-with-client",
            "verdict.wait.client-leaves",
            "a request stops waiting when its client disconnects",
            steps!(async |context| {
                let request = context.with_token(&context.reference("leaves"));
                let draft = request.query("waitMs=25000").draft();
                let endpoint = context.service().clone();
                let Some((mock, _)) = context.builtin_mock() else { return };
                let mut polls = mock.polls();
                let begun = tokio::select! {
                    begun = polls.wait_for(|polls| *polls > 0) => begun.is_ok(),
                    // An answer at once occupies nothing. Otherwise this drops the request and its connection.
                    _ = edgeproof_http::send(&endpoint, &draft, SHORT_WAIT_TIMEOUT) => false,
                };
                let ended =
                    !begun || timeout(DISCONNECT_TIMEOUT, polls.wait_for(|polls| *polls == 0)).await.is_ok();
                context.check(Check::counted(Counted::WaitingRequests, 0, usize::from(!ended)));
            }),
        )
        .requires(&[ServiceNeed::Mock])
        .exclusive();
}
