use edgeproof_fixtures::key_set::KeySet;
use edgeproof_reports::CaseLevel as Level;
use serde_json::Value;

use super::super::backend::fetch_keys;
use super::super::{Catalog, Need};
use super::shape::{read, with_token};
use crate::judge::{self, Check, Signed};

/// The token of a verdict verifies with a key of the set (1.5).
pub(super) fn add(cases: &mut Catalog<'_>) {
    cases
        .asks(
            "keys.verifies-verdict",
            "keys.verifies-verdict",
            "the signed token of a verdict verifies with a key of the set",
            |backend| {
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let verdict = backend.ask(&with_token(backend, &reference)).await;
                    backend.check(judge::status_in("200", |status| status == 200, &verdict));
                    let body = verdict.map(|answer| answer.body).unwrap_or_default();
                    let tokens = tokens(&body);
                    let reply = backend.ask_keys(&fetch_keys()).await;
                    let Some(set) = read(backend, &reply) else { return };
                    if tokens.is_empty() {
                        backend.found.not_applicable =
                            Some("no signed token (a JWS of three parts) is in the verdict".into());
                        return;
                    }
                    match verifies(&tokens, &set) {
                        Ok(check) => backend.check(check),
                        Err(why) => backend.found.not_applicable = Some(why),
                    }
                })
            },
        )
        .needs(&[Need::Session, Need::ReadToken]);
}

/// One of the tokens has to verify. Where none does and one is signed in a way that is not verified here, nothing is
/// proven, and this says why.
fn verifies(tokens: &[String], set: &KeySet) -> Result<Check, String> {
    let seen: Vec<Signed> = tokens.iter().map(|token| judge::verify_jws(token, set)).collect();
    let ok = seen.contains(&Signed::Verified);
    if let Some(unsupported) = seen.iter().find(|seen| !ok && matches!(seen, Signed::Unsupported(_))) {
        return Err(format!("the verdict's token cannot be verified here: {unsupported}"));
    }
    let told: Vec<String> = seen.iter().map(ToString::to_string).collect();
    let check = Check::new("signature of the verdict's token", "verifies", told.join("; "), ok);
    let unnamed = !ok && seen.contains(&Signed::VerifiedUnnamed);
    let check = if unnamed { check.at(Level::Should) } else { check };
    Ok(check
        .hint("the key that signs has to be in the set, under the id that the token's header names, before it signs"))
}

/// Texts of the verdict that look like a JWS in compact form: the interface does not show where the token stands.
fn tokens(body: &[u8]) -> Vec<String> {
    let mut tokens = Vec::new();
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => collect(&value, &mut tokens),
        Err(_) => tokens.extend(std::str::from_utf8(body).ok().map(str::trim).map(str::to_owned)),
    }
    tokens.retain(|token| judge::is_jws(token));
    tokens
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}
