//! Whether the states of a state hook are true. If not, their cases prove nothing, or blame the service for the hook.

use std::time::SystemTime;

use edgeproof_mock::states::StateRequest;
use edgeproof_targets::HookError;
use serde_json::Value;

use crate::cases::{AVAILABLE, REVOKED, ServiceCaseContext, ServiceNeed};
use crate::judge::{AnswerResult, status_and_body};
use crate::run::runner::Limitation;
use crate::states::StateNeed;

/// The first state that the hook reports and the service does not show. The error says why a state could not be tried.
pub(super) async fn untrue_state(
    backend: &mut ServiceCaseContext,
) -> Result<Option<Limitation<ServiceNeed>>, HookError> {
    if !backend.supports(StateNeed::Verdict) {
        return Ok(None);
    }
    let reference = made(backend, "state").await?;
    let reply = fetch(backend, &reference).await;
    if !is_available(backend, &reply) {
        return Ok(Some(Limitation {
            finding: format!(
                "the state hook reports a verdict for {reference:?}, but the service answers {}. Either the hook is wrong, or \
                 the service loses verdicts",
                shown(&reply)
            ),
            concerned: vec![ServiceNeed::Session],
            because: "sessions of the state hook have no verdict",
        }));
    }
    still_clock(backend, &reference, &reply).await
}

/// Moves the clock by the life of a verdict: an old one is gone then, or at least a new one is issued later.
async fn still_clock(
    backend: &mut ServiceCaseContext,
    old: &str,
    issued: &AnswerResult,
) -> Result<Option<Limitation<ServiceNeed>>, HookError> {
    let Some(limit) =
        backend.spec().limit("limit.verdict-age").filter(|_| backend.supports(StateNeed::Later))
    else {
        return Ok(None);
    };
    backend.ask(&StateRequest::Later { seconds: limit.as_secs() + 1 }).await?;
    let aged = fetch(backend, old).await;
    if !is_available(backend, &aged) {
        return Ok(None);
    }
    let new = made(backend, "later").await?;
    let new = fetch(backend, &new).await;
    let (Some(before), Some(after)) = (issued_at(issued), issued_at(&new)) else { return Ok(None) };
    let moved = after.duration_since(before).unwrap_or_default();
    Ok((moved < limit / 2).then(|| Limitation {
        finding: format!(
            "the state hook reports that the clock moved by {} s, but the service issues a verdict {} s after one of before, and \
             still returns that. Move the clock of the service in the state later, or answer 501",
            limit.as_secs() + 1,
            moved.as_secs()
        ),
        concerned: vec![ServiceNeed::State(StateNeed::Later), ServiceNeed::WaitsOrLater],
        because: "the state later does not move the clock",
    }))
}

/// Whether the service refuses the read token that a case revoked and restored. Other cases need it.
pub(super) async fn is_still_revoked(backend: &mut ServiceCaseContext) -> bool {
    let reply = fetch(backend, &backend.reference("restored")).await;
    backend.has_status(REVOKED, &reply)
}

async fn made(backend: &mut ServiceCaseContext, name: &str) -> Result<String, HookError> {
    let asked = backend.reference(name);
    let reply = backend.ask(&StateRequest::verdict(&asked)).await?;
    Ok(reply.reference.unwrap_or(asked))
}

async fn fetch(backend: &mut ServiceCaseContext, reference: &str) -> AnswerResult {
    backend.fetch_verdict(&backend.with_token(reference)).await
}

fn is_available(backend: &ServiceCaseContext, reply: &AnswerResult) -> bool {
    let available = backend.row(AVAILABLE).status();
    reply.as_ref().is_ok_and(|answer| available.is_none_or(|status| status == answer.status))
}

fn issued_at(reply: &AnswerResult) -> Option<SystemTime> {
    let body: Value = serde_json::from_slice(&reply.as_ref().ok()?.body).ok()?;
    humantime::parse_rfc3339(body.get("issuedAt")?.as_str()?).ok()
}

fn shown(reply: &AnswerResult) -> String {
    reply.as_ref().map_or_else(ToString::to_string, status_and_body)
}
