use edgeproof_fixtures::credentials::Credentials;
use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Refusal;
use super::error::{parse, span};
use crate::state::{NewSession, Ready};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default)]
    ready: When,
    #[serde(default)]
    other_license: bool,
    #[serde(default = "allow")]
    decision: Decision,
    #[serde(default = "full")]
    confidence: Confidence,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum When {
    #[default]
    Now,
    Always,
    Never,
    After(String),
    AfterFirstPoll(String),
    Since(String),
}

/// The session that a body describes, with what is told back.
pub(super) fn session(body: &[u8], credentials: &Credentials) -> Result<(NewSession, Value), Refusal> {
    let Wanted { reference, ready, other_license, decision, confidence } = parse(body)?;
    if reference.is_empty() {
        return Err(Refusal::bad("\"ref\" is empty: no page starts such a session"));
    }
    let ready = match ready {
        When::Now => Ready::After(std::time::Duration::ZERO),
        When::Always => Ready::Always,
        When::Never => Ready::Never,
        When::After(text) => Ready::After(span(&text)?),
        When::AfterFirstPoll(text) => Ready::AfterFirstPoll(span(&text)?),
        When::Since(text) => Ready::Since(span(&text)?),
    };
    let license = if other_license { credentials.other_license_id() } else { credentials.license_id() };
    let told = json!({ "ref": reference, "license_id": license });
    let session = NewSession::new(reference).license_id(license).ready(ready);
    Ok((session.judgement(Judgement { decision, confidence }), told))
}

fn allow() -> Decision {
    Decision::Allow
}

fn full() -> Confidence {
    Confidence::FULL
}
