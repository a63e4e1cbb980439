use edgeproof_fixtures::credentials::Secret;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::states::StateRequest;

use super::named::own_verdict;
use crate::cases::service::expected::{PENDING, answer};
use crate::cases::{CaseList, Phase, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult};
use crate::states::StateNeed;

const ROW: &str = "verdict.401.revoked";

/// Read tokens that were accepted and are refused now (5, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    revoked(cases);
    revoked_and_restored(cases);
}

/// A token that was revoked before the run.
fn revoked(cases: &mut CaseList<'_, Service>) {
    cases
        .case(ROW, "verdict.revoked.before", "the service refuses a revoked read token as revoked")
        .steps(steps!(async |context| {
            let token = context.revoked_token();
            let mut references = vec![context.reference("revoked")];
            if context.supports(StateNeed::Verdict) {
                let made = context.made(StateRequest::verdict(context.reference("session"))).await;
                references.extend(made);
            }
            for reference in references {
                for query in [None, Some("waitMs=300")] {
                    let request = context.verdict(&reference).bearer(&token);
                    let request = match query {
                        Some(query) => request.query(query),
                        None => request,
                    };
                    let reply = context.fetch_verdict(&request).await;
                    context.checks(judge::exact(&answer(context.row(ROW), ""), &reply));
                }
            }
        }))
        .requires(&[ServiceNeed::RevokedToken])
        .stimulus(Stimulus::ReadTokenRevoked);
}

/// A token that is revoked during the run. The last cases: a token that stays revoked would fail all others.
fn revoked_and_restored(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            ROW,
            "verdict.revoked.at-once",
            "a read token is refused when it is revoked, and accepted when it is restored",
        )
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let unknown = context.reference("unknown");
            let accepted = [fetch(context, &reference).await, fetch(context, &unknown).await];
            judge_accepted(context, [&reference, &unknown], &accepted);
            let token = Secret::new(context.read_token());
            if context.provide(StateRequest::Revoke { token: token.clone() }).await.is_none() {
                return;
            }
            let refused = [fetch(context, &reference).await, fetch(context, &unknown).await];
            // Before anything is judged: other cases need the token.
            let restored = context.provide(StateRequest::Restore { token }).await;
            for reply in &refused {
                context.checks(judge::exact(&answer(context.row(ROW), ""), reply));
            }
            if restored.is_some() {
                let accepted = [fetch(context, &reference).await, fetch(context, &unknown).await];
                judge_accepted(context, [&reference, &unknown], &accepted);
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::Revoke)])
        .exclusive()
        .phase(Phase::Last)
        .also(PENDING)
        .stimulus(Stimulus::ReadTokenRevoked);
}

fn judge_accepted(
    context: &mut ServiceCaseContext,
    [known, unknown]: [&str; 2],
    [verdict, pending]: &[AnswerResult; 2],
) {
    let checks = own_verdict(context, known, verdict);
    context.checks(checks);
    context.checks(judge::exact(&answer(context.row(PENDING), unknown), pending));
}

/// Requests a verdict with the read token.
async fn fetch(context: &mut ServiceCaseContext, reference: &str) -> AnswerResult {
    let request = context.with_token(reference);
    context.fetch_verdict(&request).await
}
