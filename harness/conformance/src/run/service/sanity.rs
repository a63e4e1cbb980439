use std::time::Duration;

use edgeproof_fixtures::spec::Endpoint;
use edgeproof_http::{Answer, NoAnswer, ServerAddress};
use edgeproof_launch::probe;
use edgeproof_reports::difference::{DeathEvidence, LastExchange, ProcessDeath};
use serde_json::Value;

use super::truth::untrue_state;
use crate::cases::{
    PENDING, REVOKED, ServiceCaseContext, ServiceNeed, UNAUTHORIZED, is_pending, refusal_statuses,
};
use crate::judge::{silence, status_and_body};
use crate::run::runner::SanityResult;
use crate::states::StateNeed;

/// Timeout of the probe that tells a dead target from one that only closes connections.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// Finds out whether a verdict endpoint answers, and accepts the read token if one was given.
pub(super) async fn check_service(backend: &mut ServiceCaseContext) -> SanityResult<ServiceNeed> {
    let ask = backend.verdict(&backend.reference("sanity"));
    let row = backend.row(PENDING).clone();
    if backend.target.inputs.read_token.is_some() {
        let token = backend.read_token();
        match &backend.fetch_verdict(&ask.clone().bearer(&token)).await {
            Err(why) => return no_answer(backend, why).await,
            Ok(answer)
                if row.status() == Some(answer.status)
                    && json(answer).is_some_and(|body| is_pending(&row, &body)) =>
            {
                return check_states(backend).await;
            }
            Ok(answer)
                if refusal_statuses(backend.spec()).contains(&answer.status) && json(answer).is_some() =>
            {
                let revoked = backend.target.inputs.revoked_token.is_some()
                    && backend.supports(StateNeed::Revoke)
                    && backend.row(REVOKED).status() == Some(answer.status);
                let hint = if revoked {
                    ". If it is valid, look into the state revoke, which was just tried with READ_TOKEN_REVOKED: it revokes \
                     other tokens too"
                } else {
                    ""
                };
                return SanityResult::Unusable(format!(
                    "the service does not accept the read token: {}. Give a valid token of this service and \
                     environment in READ_TOKEN or with --read-token{hint}",
                    status_and_body(answer)
                ));
            }
            Ok(_) => {}
        }
    }
    match backend.fetch_verdict(&ask).await {
        Err(why) => no_answer(backend, &why).await,
        Ok(answer) if is_refusal(backend, answer.status) && json(&answer).is_some() => SanityResult::Usable,
        Ok(answer) => SanityResult::Unusable(format!(
            "there is no verdict endpoint of this interface at {}: it answers a request without a token with {}. Give the base \
             URL above {} with --base-url",
            backend.service().url(),
            status_and_body(&answer),
            backend.target.spec.verdict_path().prefix()
        )),
    }
}

/// Finds out whether the states of a foreign service are true: otherwise their cases prove nothing.
async fn check_states(backend: &mut ServiceCaseContext) -> SanityResult<ServiceNeed> {
    if backend.target.builtin.is_some() {
        return SanityResult::Usable;
    }
    match untrue_state(backend).await {
        Ok(None) => SanityResult::Usable,
        Ok(Some(limitation)) => SanityResult::Limited(limitation),
        Err(why) => SanityResult::Unusable(why.to_string()),
    }
}

/// Whether a service answers a request without a token by this status. A version may not state it.
fn is_refusal(backend: &ServiceCaseContext, status: u16) -> bool {
    backend.row(UNAUTHORIZED).status().is_none_or(|stated| stated == status)
}

/// Finds out whether a key set is published.
pub(super) async fn check_keys(backend: &mut ServiceCaseContext) -> SanityResult<ServiceNeed> {
    let reply = backend.fetch_key_set(&backend.key_set()).await;
    let url = backend.target.keys.as_ref().map(|keys| keys.url().to_string()).unwrap_or_default();
    match reply {
        Err(why) => match &backend.target.keys {
            Some(keys) if died(backend, keys, &why).await => death(backend, &why),
            _ => SanityResult::Unusable(format!(
                "cannot fetch the key set below {url}: {why}\n{}",
                advice(&why)
            )),
        },
        Ok(answer) if matches!(answer.status, 401 | 403) => SanityResult::Unusable(format!(
            "the key set below {url} requires a credential (status {}), but the interface defines none for it. Publish the \
             key set without authentication",
            answer.status
        )),
        Ok(answer) if answer.status == 404 || (300..400).contains(&answer.status) => {
            SanityResult::Unusable(format!(
                "there is no key set below {url}: it answers {}. Give the base URL above {} with --keys-url",
                status_and_body(&answer),
                backend.target.spec.path(Endpoint::KeySet)
            ))
        }
        Ok(_) if backend.target.inputs.read_token.is_some() && backend.target.service.is_some() => {
            check_states(backend).await
        }
        Ok(_) => SanityResult::Usable,
    }
}

async fn no_answer(backend: &mut ServiceCaseContext, why: &NoAnswer) -> SanityResult<ServiceNeed> {
    if died(backend, backend.service(), why).await {
        return death(backend, why);
    }
    SanityResult::Unusable(format!(
        "the service does not answer at {}: {why}\n{}",
        backend.service().url(),
        advice(why)
    ))
}

/// Whether a target accepted a connection, broke it off, and accepts none any more.
async fn died(backend: &ServiceCaseContext, target: &ServerAddress, why: &NoAnswer) -> bool {
    let path = backend.target.spec.path(Endpoint::Health);
    matches!(why, NoAnswer::Closed | NoAnswer::Reset)
        && matches!(probe(target, path, PROBE_TIMEOUT).await, Err(NoAnswer::NotConnected(_)))
}

fn death(backend: &mut ServiceCaseContext, why: &NoAnswer) -> SanityResult<ServiceNeed> {
    let death = ProcessDeath {
        evidence: DeathEvidence::Refused(silence(why)),
        after: LastExchange::FirstRequest,
        others: Vec::new(),
        is_replaced: false,
        log: Vec::new(),
    };
    SanityResult::Died { death: Box::new(death), found: Box::new(std::mem::take(&mut backend.found)) }
}

fn advice(why: &NoAnswer) -> String {
    match why {
        NoAnswer::NoTls(why) => why.advice("--service-ca", "use http://"),
        NoAnswer::NotHttp(_) | NoAnswer::Closed | NoAnswer::Reset => {
            "check that it speaks HTTP; if it speaks TLS, use https://".into()
        }
        _ => "check the URL, and that this machine can reach it".into(),
    }
}

fn json(answer: &Answer) -> Option<Value> {
    serde_json::from_slice(&answer.body).ok()
}
