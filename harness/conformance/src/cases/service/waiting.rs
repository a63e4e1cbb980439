use std::pin::pin;
use std::time::Duration;

use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::difference::{Counted, TimeRule};

use super::expected::{PENDING, UNAUTHORIZED};
use super::{TokenChoice, VerdictExchange, VerdictObservation, VerdictRule};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::Check;
use crate::states::StateNeed;

/// Timeout of an answer to a short `waitMs`. A service may have a default wait.
const SHORT_WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of an answer to an excessive `waitMs`. Proxies in front of a service rarely wait longer.
const EXCESSIVE_TIMEOUT: Duration = Duration::from_secs(150);
/// A request that asks for no wait is answered at once.
const SOON: VerdictRule = VerdictRule::Within {
    rule: TimeRule::WithoutWait,
    longest: Duration::from_secs(5),
    advice: Some(Advice::WaitUnasked),
};
/// Excessive values of `waitMs`: id, title, query.
const EXCESSIVE: [(&str, &str, &str); 4] = [
    ("huge", "a waitMs of four months", "waitMs=9999999999"),
    ("beyond-32-bits", "a waitMs beyond 32 bits", "waitMs=4294967296"),
    ("beyond-64-bits", "a waitMs beyond 64 bits", "waitMs=18446744073709551616"),
    ("endless", "waitMs=Infinity", "waitMs=Infinity"),
];
/// Timeout of the service's reaction to a client that has disconnected.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// A request that takes longer has waited.
const LONG_ANSWER: Duration = Duration::from_secs(1);
/// Assumed start-up time of a long poll.
pub(in crate::cases) const TO_BEGIN: Duration = Duration::from_millis(250);
/// How long a case without `--waits` observes an excessive wait.
const OBSERVATION: Duration = Duration::from_secs(2);

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
        let exchange = VerdictExchange::unknown(id).query(query).timeout(SHORT_WAIT_TIMEOUT);
        // Without the parameter a service may use a default wait, and instead of a short wait its shortest one.
        let exchange = exchange.expect(VerdictRule::Pending).expect((id == "zero").then_some(SOON));
        cases
            .case("statement.wait-optional", &format!("verdict.wait.{id}"), title)
            .exchange(exchange)
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
        ("twice", "a repeated waitMs", "waitMs=0&waitMs=1"),
        ("list", "waitMs as an array", "waitMs[]=0"),
        ("unit", "waitMs with a unit", "waitMs=1ms"),
        ("other-name", "an unknown query parameter", "edgeproof=1"),
    ] {
        let exchange = VerdictExchange::unknown(id).query(query).timeout(SHORT_WAIT_TIMEOUT);
        // A service may ignore the value, and then wait as without one.
        let exchange = exchange.expect(VerdictRule::NoServerError).observe(VerdictObservation::Status);
        let title = format!("the service answers {title} without a server error");
        cases
            .case("statement.wait-robust", &format!("verdict.wait.{id}"), &title)
            .exchange(exchange)
            .requires(&[ServiceNeed::ReadToken])
            .takes(SHORT_WAIT_TIMEOUT);
    }
}

/// An excessive wait causes no server error. Whether it ends is open.
fn excessive(cases: &mut CaseList<'_, Service>) {
    for (id, title, query) in EXCESSIVE {
        let exchange = VerdictExchange::unknown("ages").query(query).timeout(OBSERVATION);
        let title = format!("{title} causes no server error");
        cases
            .case("statement.wait-robust", &format!("verdict.wait.{id}"), &title)
            .exchange(exchange.expect(VerdictRule::Waits))
            .requires(&[ServiceNeed::ReadToken]);
    }
    for (id, title, query) in EXCESSIVE {
        ends(cases, id, title, query);
    }
}

fn ends(cases: &mut CaseList<'_, Service>, id: &str, title: &str, query: &'static str) {
    let longest = cases.spec.profile().wait_max;
    cases
        .case(
            "statement.wait-robust",
            &format!("verdict.wait.{id}-ends"),
            &format!("{title} causes no server error within 150 seconds"),
        )
        .steps(steps!(async |context| {
            let draft = context.with_token(&context.reference("ages")).query(query).draft();
            let mut asking = pin!(context.begin(&draft, EXCESSIVE_TIMEOUT));
            let sent = tokio::select! {
                sent = &mut asking => sent,
                () = time_passes(context, longest) => asking.await,
            };
            context.record(&draft, sent.clone());
            VerdictRule::Waits.judge(context, "", "", &sent);
        }))
        .observes_itself()
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Waits])
        .exclusive()
        .takes(EXCESSIVE_TIMEOUT);
}

/// Moves the clock of the service. Where that is impossible, time passes by itself.
async fn time_passes(context: &mut ServiceCaseContext, longest: Duration) {
    if context.supports(StateNeed::Later) {
        // The clock must move after the request has started to wait.
        context.sleep(TO_BEGIN).await;
        context.provide(StateRequest::Later { seconds: longest.as_secs() }).await;
    }
}

/// Duration of a moderate wait.
fn kept(cases: &mut CaseList<'_, Service>) {
    let (query, wait) = ("waitMs=700", Duration::from_millis(700));
    let exchange = VerdictExchange::unknown("kept").query(query).timeout(SHORT_WAIT_TIMEOUT);
    let exchange = exchange.observe(VerdictObservation::Wait(wait));
    cases
        .case("statement.wait-bounds", "verdict.wait.kept", "the duration of a wait of 700 ms")
        .exchange(exchange)
        .requires(&[ServiceNeed::ReadToken])
        .takes(SHORT_WAIT_TIMEOUT);
}

/// A request without a token must not wait: anyone could keep connections open.
fn without_token(cases: &mut CaseList<'_, Service>) {
    let title = "a request without a token is unauthorized at once, even with waitMs";
    let in_time = VerdictRule::Within {
        rule: TimeRule::WithoutToken,
        longest: Duration::from_secs(3),
        advice: Some(Advice::TokenAfterWait),
    };
    let exchange = VerdictExchange::unknown("wait")
        .token(TokenChoice::Missing)
        .query("waitMs=4000")
        .timeout(SHORT_WAIT_TIMEOUT)
        .expect(VerdictRule::Unauthorized)
        .expect(in_time);
    cases
        .case(UNAUTHORIZED, "verdict.wait.without-token", title)
        .exchange(exchange)
        .takes(SHORT_WAIT_TIMEOUT);
}

/// A disconnected client must not occupy a long poll.
fn client_leaves(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.wait-ends-with-client",
            "verdict.wait.client-leaves",
            "a request stops waiting when its client disconnects",
        )
        .steps(steps!(async |context| {
            let request = context.with_token(&context.reference("leaves"));
            let draft = request.query("waitMs=25000").draft();
            let mut asking = Box::pin(context.begin(&draft, SHORT_WAIT_TIMEOUT));
            let begun = tokio::select! {
                begun = waiting(context, SHORT_WAIT_TIMEOUT, |count| count > 0) => begun,
                // An answer at once occupies nothing.
                sent = &mut asking => {
                    if sent.took > LONG_ANSWER {
                        context.found.not_run =
                            Some("the state hook counts no waiting request, but one waited".to_owned());
                    }
                    false
                }
            };
            // This drops the request and its connection.
            drop(asking);
            let ended = !begun || waiting(context, DISCONNECT_TIMEOUT, |count| count == 0).await;
            context.check(Check::counted(Counted::WaitingRequests, 0, usize::from(!ended)));
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::State(StateNeed::Waiting)])
        .takes(SHORT_WAIT_TIMEOUT)
        .exclusive();
}

/// Whether the number of waiting requests becomes one of these within a time.
async fn waiting(context: &mut ServiceCaseContext, limit: Duration, is: fn(usize) -> bool) -> bool {
    let began = context.now();
    while context.now() < began + limit {
        let Some(reply) = context.provide(StateRequest::Waiting {}).await else { return false };
        if reply.waiting.is_some_and(is) {
            return true;
        }
        context.sleep(Duration::from_millis(10)).await;
    }
    false
}
