use std::collections::BTreeSet;
use std::time::Duration;

use edgeproof_fixtures::spec::{Advice, Stimulus};
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{AnswerSubject, Count, Counted, TimeRule};
use serde_json::Value;

use super::expected::{AVAILABLE, PENDING, answer, verdict};
use super::{VerdictExchange, VerdictObservation, VerdictRule};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, VerdictRequest};
use crate::judge::{self, AnswerResult, Check};
use crate::states::StateNeed;

/// Tolerance after the age limit of a verdict.
const SLACK: Duration = Duration::from_secs(10);
/// Interval between two requests for an ageing verdict.
const PAUSE: Duration = Duration::from_secs(2);

/// Sessions that have a verdict (3, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    available(cases);
    age(cases);
}

fn available(cases: &mut CaseList<'_, Service>) {
    let needs = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    let title = "the answer for a session with a verdict is the verdict";
    let exchange = VerdictExchange::with_verdict().expect(VerdictRule::Verdict);
    cases
        .case("verdict.200.available", "verdict.available", title)
        .exchange(exchange.clone().observe(VerdictObservation::Format))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::SessionTrial])
        .stimulus(Stimulus::VerdictReady)
        .also("endpoint.service.verdict");
    let title = "an available verdict is returned at once, with any waitMs";
    let at_once =
        VerdictRule::Within { rule: TimeRule::AtOnce, longest: Duration::from_secs(3), advice: None };
    let exchange = exchange.query("waitMs=4000").timeout(Duration::from_secs(8)).expect(at_once);
    cases
        .case("statement.wait-optional", "verdict.available.with-wait", title)
        .exchange(exchange)
        .requires(needs)
        .also("verdict.200.available");
    cases
        .case("verdict.200.available", "verdict.available.again", "a verdict can be requested more than once")
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let request = context.with_token(&reference);
            let first = context.fetch_verdict(&request).await;
            let second = context.fetch_verdict(&request).await;
            context.checks(verdict(context.spec(), &first));
            context.checks(verdict(context.spec(), &second));
            let same = judge::same_answer(AnswerSubject::AsTheFirstTime, &first, &second).ok;
            context.observe("verdict.again", if same { "the same" } else { "another body" });
        }))
        .observes(["verdict.again"])
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}

/// The session reference in a verdict of the built-in mock.
pub(super) fn reference_in(reply: &AnswerResult) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.as_ref().ok()?.body).ok()?;
    Some(body.get("ref")?.as_str()?.to_owned())
}

/// A verdict is no longer available when it is older than the limit (8).
fn age(cases: &mut CaseList<'_, Service>) {
    let Some(limit) = cases.spec.limit("limit.verdict-age") else { return };
    cases
        .case("limit.verdict-age", "verdict.too-old", "a verdict older than two minutes is pending again")
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let request = context.with_token(&reference);
            let first = context.fetch_verdict(&request).await;
            context.checks(verdict(context.spec(), &first));
            let last = after_limit(context, &request, limit).await;
            let expected = answer(context.row(PENDING), &reference);
            let checks = judge::exact(&expected, &last);
            context.checks(checks);
            let unknown = context.reference("unknown");
            let reply = context.fetch_verdict(&context.with_token(&unknown)).await;
            context.checks(judge::exact(&answer(context.row(PENDING), &unknown), &reply));
            context.check(same_fields(&last, &reply));
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::WaitsOrLater])
        .exclusive()
        .takes(limit + 2 * SLACK)
        .also(PENDING)
        .stimulus(Stimulus::VerdictTooOld);
}

/// The names of the header fields are the same for an old verdict and for none. Values can differ without a reason, such as
/// request ids.
fn same_fields(old: &AnswerResult, none: &AnswerResult) -> Check {
    let names = |reply: &AnswerResult| {
        let fields = reply.iter().flat_map(|answer| answer.headers.keys().map(ToString::to_string));
        fields.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    let (old, none) = (names(old), names(none));
    let same = old == none;
    let count = Count::new(Counted::RevealingHeaders, 0, usize::from(!same)).wanted(none).first(Some(old));
    Check::judged(count, same).at(CaseLevel::Should).advise(Advice::SessionRevealed)
}

/// The answer when the verdict is older than the limit. A service that cannot move its clock takes real time.
async fn after_limit(
    context: &mut ServiceCaseContext,
    request: &VerdictRequest,
    limit: Duration,
) -> AnswerResult {
    if context.supports(StateNeed::Later) {
        let seconds = limit.as_secs() + 1;
        context.provide(StateRequest::Later { seconds }).await;
        return context.fetch_verdict(request).await;
    }
    let seen = context.now();
    loop {
        context.sleep(PAUSE).await;
        let sent = context.begin(&request.draft(), context.timeout).await;
        let there = context.has_status(AVAILABLE, &sent.reply);
        if !there || context.now() > seen + limit + SLACK {
            let reply = sent.reply.clone();
            context.record(&request.draft(), sent);
            return reply;
        }
    }
}
