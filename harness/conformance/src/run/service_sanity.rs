//! What a service and a key set say before anything is proven of them.

use serde_json::Value;

use super::edge_sanity::SanityResult;
use crate::cases::{ServiceCaseContext, VerdictRequest};
use crate::judge::excerpt;
use edgeproof_http::{Answer, NoAnswer};

/// Firm: it answers as a verdict endpoint does, to a read token where one was given.
pub(super) async fn of_service(backend: &mut ServiceCaseContext) -> SanityResult {
    let reference = backend.reference("sounding");
    let ask = VerdictRequest::new(&reference);
    let given = backend.target.inputs.read_token.is_some();
    if given {
        let reply = backend.fetch_verdict(&ask.clone().bearer(&backend.read_token())).await;
        match &reply {
            Err(why) => return no_answer(backend, why),
            Ok(answer) if is_pending(answer) => return SanityResult::Sound,
            Ok(answer) if answer.status == 401 && json(answer).is_some() => {
                return SanityResult::Unusable(format!(
                    "the service does not accept the read token: {}. Give one that is valid, for this service and its \
                     environment, in READ_TOKEN or with --read-token",
                    told(answer)
                ));
            }
            Ok(_) => {}
        }
    }
    match backend.fetch_verdict(&ask).await {
        Err(why) => no_answer(backend, &why),
        Ok(answer) if answer.status == 401 && json(&answer).is_some() => SanityResult::Sound,
        Ok(answer) => SanityResult::Unusable(format!(
            "what answers at {} is no verdict endpoint of this interface: to a request without a token it answers {}. Give the \
             address that /v1/verdict/ is below with --base-url",
            backend.service().url(),
            told(&answer)
        )),
    }
}

/// Firm: something is published there.
pub(super) async fn of_keys(backend: &mut ServiceCaseContext) -> SanityResult {
    let reply = backend.fetch_key_set(&crate::cases::key_set_request()).await;
    let url = backend.target.keys.as_ref().map(|keys| keys.url().to_string()).unwrap_or_default();
    match reply {
        Err(why) => SanityResult::Unusable(format!(
            "no key set is at {url}: {why}. Check the address, and that it is reachable from here"
        )),
        Ok(answer) if matches!(answer.status, 401 | 403) => SanityResult::Unusable(format!(
            "the key set at {url} asks for a credential ({}): edgeproof has none to give it, for the interface shows none",
            answer.status
        )),
        Ok(answer) if answer.status == 404 || (300..400).contains(&answer.status) => {
            SanityResult::Unusable(format!(
                "no key set is at {url}: it answers {}. Give the address that /.well-known/ is below with --keys-url",
                told(&answer)
            ))
        }
        Ok(_) => SanityResult::Sound,
    }
}

fn no_answer(backend: &ServiceCaseContext, why: &NoAnswer) -> SanityResult {
    let advice = match why {
        NoAnswer::NoTls(_) => {
            "check that it speaks TLS with a certificate for this host, and name its authority with --service-ca FILE"
        }
        _ => "check the address, and that it is reachable from here",
    };
    SanityResult::Unusable(format!(
        "the service does not answer at {}: {why}; {advice}",
        backend.service().url()
    ))
}

fn is_pending(answer: &Answer) -> bool {
    answer.status == 404
        && json(answer).is_some_and(|body| body.get("status").is_some_and(|status| status == "pending"))
}

fn json(answer: &Answer) -> Option<Value> {
    serde_json::from_slice(&answer.body).ok()
}

fn told(answer: &Answer) -> String {
    let to = answer
        .headers
        .get("location")
        .map_or(String::new(), |to| format!(", to {}", String::from_utf8_lossy(to.as_bytes())));
    format!("{} {}{to}", answer.status, excerpt(&answer.body))
}
