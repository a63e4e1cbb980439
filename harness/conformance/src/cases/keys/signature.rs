use edgeproof_fixtures::key_set::KeySet;
use edgeproof_reports::Level;
use serde_json::Value;

use super::shape::{read, with_token};
use crate::cases::{Catalog, Prerequisite, key_set_request};
use crate::judge::{self, Check, SignatureResult};

/// The token of a verdict verifies with a key of the set (1.5).
pub(super) fn add(cases: &mut Catalog<'_>) {
    cases
        .service_steps(
            "keys.verifies-verdict",
            "keys.verifies-verdict",
            "the signed token of a verdict verifies with a key of the set",
            |context| {
                Box::pin(async move {
                    let Some(reference) = context.session().await else { return };
                    let verdict = context.fetch_verdict(&with_token(context, &reference)).await;
                    context.check(judge::status_in("200", |status| status == 200, &verdict));
                    let body = verdict.map(|answer| answer.body).unwrap_or_default();
                    let tokens = tokens(&body);
                    let reply = context.fetch_key_set(&key_set_request()).await;
                    let Some(set) = read(context, &reply) else { return };
                    if tokens.is_empty() {
                        context.found.not_applicable =
                            Some("no signed token (a JWS of three parts) is in the verdict".into());
                        return;
                    }
                    match verifies(&tokens, &set) {
                        Ok(check) => context.check(check),
                        Err(why) => context.found.not_applicable = Some(why),
                    }
                })
            },
        )
        .requires(&[Prerequisite::Session, Prerequisite::ReadToken]);
}

/// One of the tokens has to verify. Where none does and one is signed in a way that is not verified here, nothing is
/// proven, and this says why.
fn verifies(tokens: &[String], set: &KeySet) -> Result<Check, String> {
    let seen: Vec<SignatureResult> = tokens.iter().map(|token| judge::verify_jws(token, set)).collect();
    let ok = seen.contains(&SignatureResult::Verified);
    if let Some(unsupported) = seen.iter().find(|seen| !ok && matches!(seen, SignatureResult::Unsupported(_)))
    {
        return Err(format!("the verdict's token cannot be verified here: {unsupported}"));
    }
    let told: Vec<String> = seen.iter().map(ToString::to_string).collect();
    let check = Check::new("signature of the verdict's token", "verifies", told.join("; "), ok);
    let unnamed = !ok && seen.contains(&SignatureResult::VerifiedUnnamed);
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
