use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use edgeproof_http::ReusedConnection;
use edgeproof_mock::states::StateRequest;

use super::lifecycle::{available, needs, pending};
use super::named::own_verdict;
use crate::cases::service::expected::{AVAILABLE, PENDING};
use crate::cases::service::stable_values::StableValues;
use crate::cases::{CaseList, Service, ServiceCaseContext};
use crate::judge::AnswerResult;
use crate::states::StateNeed;

const ROW: &str = "limit.verdict-age";

/// The two minutes of a verdict begin with itself: not with its session, and not with an earlier verdict (3, 8).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let Some(limit) = cases.spec.limit(ROW).map(|limit| limit.as_secs()) else { return };
    after_pending(cases, limit);
    after_verdict(cases, limit);
}

/// Three quarters of a lifetime before the verdict, and then half of one, are more than one lifetime together.
const fn parts(limit: u64) -> (u64, u64) {
    (limit * 3 / 4, limit / 2)
}

fn after_pending(cases: &mut CaseList<'_, Service>, limit: u64) {
    cases
        .case(ROW, "verdict.life.from-verdict", "the two minutes of a verdict begin when it is available")
        .steps(steps!(async |context| {
            let (before, after) = parts(limit);
            let mut kept = ReusedConnection::default();
            let reference = context.reference("from-verdict");
            if context.chosen(StateRequest::pending(&reference)).await.is_none() {
                return;
            }
            pending(context, &mut kept, &reference).await;
            if context.provide(StateRequest::Later { seconds: before }).await.is_none()
                || context.chosen(StateRequest::verdict(&reference)).await.is_none()
            {
                return;
            }
            available(context, &mut kept, &reference).await;
            if context.provide(StateRequest::Later { seconds: after }).await.is_some() {
                available(context, &mut kept, &reference).await;
            }
        }))
        .requires(&needs(&[StateNeed::Pending, StateNeed::Later]))
        .exclusive()
        .also(AVAILABLE)
        .also(PENDING);
}

/// The interface does not show whether a session can have a second verdict. A service that returns it counts its age.
fn after_verdict(cases: &mut CaseList<'_, Service>, limit: u64) {
    cases
        .case(ROW, "verdict.life.second", "a second verdict for a session has its own two minutes")
        .steps(steps!(async |context| {
            let (before, after) = parts(limit);
            let reference = context.reference("second");
            let judged = |decision| {
                StateRequest::judged(&reference, Judgement { decision, confidence: Confidence::FULL })
            };
            if context.chosen(judged(Decision::Allow)).await.is_none() {
                return;
            }
            let first = verdict(context, &reference).await;
            if context.provide(StateRequest::Later { seconds: before }).await.is_none() {
                return;
            }
            let later = verdict(context, &reference).await;
            if context.chosen(judged(Decision::Deny)).await.is_none() {
                return;
            }
            let second = verdict(context, &reference).await;
            if context.found.checks.iter().any(|check| !check.ok) {
                return;
            }
            if StableValues::of(&first, &later).is_in(&second) {
                context.found.not_applicable = Some("no answer shows a second verdict".into());
                return;
            }
            if context.provide(StateRequest::Later { seconds: after }).await.is_some() {
                available(context, &mut ReusedConnection::default(), &reference).await;
            }
        }))
        .requires(&needs(&[StateNeed::Later]))
        .exclusive()
        .also(AVAILABLE);
}

/// The answer with a verdict, which is judged.
async fn verdict(context: &mut ServiceCaseContext, reference: &str) -> AnswerResult {
    let reply = context.fetch_verdict(&context.with_token(reference)).await;
    let checks = own_verdict(context, reference, &reply);
    context.checks(checks);
    reply
}
