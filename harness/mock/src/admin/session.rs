use edgeproof_fixtures::credentials::Credentials;
use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use serde::Deserialize;
use serde_json::{Value, json};

use super::AdminError;
use super::error::{parse, span};
use crate::state::{NewSession, Ready};

/// Body of `POST /sessions`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionRequest {
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default)]
    ready: RequestedReadiness,
    #[serde(default)]
    other_license: bool,
    #[serde(default = "allow")]
    decision: Decision,
    #[serde(default = "full")]
    confidence: Confidence,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RequestedReadiness {
    #[default]
    Now,
    Always,
    Never,
    After(String),
    AfterFirstPoll(String),
    Since(String),
}

/// The session that a body describes, and the body of the answer.
pub(super) fn session(body: &[u8], credentials: &Credentials) -> Result<(NewSession, Value), AdminError> {
    let SessionRequest { reference, ready, other_license, decision, confidence } = parse(body)?;
    if reference.is_empty() {
        return Err(AdminError::bad("\"ref\" is empty; give the session reference"));
    }
    let ready = match ready {
        RequestedReadiness::Now => Ready::After(std::time::Duration::ZERO),
        RequestedReadiness::Always => Ready::Always,
        RequestedReadiness::Never => Ready::Never,
        RequestedReadiness::After(text) => Ready::After(span(&text)?),
        RequestedReadiness::AfterFirstPoll(text) => Ready::AfterFirstPoll(span(&text)?),
        RequestedReadiness::Since(text) => Ready::Since(span(&text)?),
    };
    let license = if other_license { credentials.other_license_id() } else { credentials.license_id() };
    let created = json!({ "ref": reference, "license_id": license });
    let session = NewSession::new(reference).license_id(license).ready(ready);
    Ok((session.judgement(Judgement { decision, confidence }), created))
}

fn allow() -> Decision {
    Decision::Allow
}

fn full() -> Confidence {
    Confidence::FULL
}
