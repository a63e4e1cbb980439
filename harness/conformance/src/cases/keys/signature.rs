use std::time::Duration;

use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, SignatureForm, Wire};
use serde_json::Value;

use super::shape::parse_key_set;
use crate::cases::{CaseList, Keys, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, Check};
use crate::states::StateNeed;

/// A key of the set verifies the token of a verdict (1.5).
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            "keys.verifies-verdict",
            "keys.verifies-verdict",
            "a key of the set verifies the signed token of a verdict",
        )
        .steps(steps!(async |context| {
            let Some(verdicts) = verdicts(context).await else { return };
            let reply = context.fetch_key_set(&context.key_set()).await;
            let Some(set) = parse_key_set(context, &reply) else { return };
            for (number, tokens) in (1..).zip(verdicts) {
                judge_tokens(context, &format!("verdict {number} of {VERDICTS}"), &tokens, &set);
            }
        }))
        .requires(&[ServiceNeed::Session, ServiceNeed::ReadToken])
        .takes(Duration::from_secs(5));
    let title = "the times in a verdict's token are seconds, and the token has not expired";
    cases
        .case("keys.token-times", "keys.token-times", title)
        .steps(steps!(async |context| {
            let Some(verdicts) = verdicts(context).await else { return };
            let now = context.wall_clock();
            let checks: Vec<Check> =
                verdicts.iter().flatten().flat_map(|token| judge::token_times(token, now)).collect();
            if checks.is_empty() {
                context.found.not_applicable = Some("the verdict's token has no times".into());
            }
            context.checks(checks);
        }))
        .requires(&[ServiceNeed::Session, ServiceNeed::ReadToken])
        .takes(Duration::from_secs(5));
}

/// Number of verdicts whose tokens are judged: one of several instances may sign with a key of its own.
const VERDICTS: usize = 16;
/// Ends of references. A token of a long reference, or of one beyond ASCII, is a token.
const ENDS: [&str; 4] =
    ["plain", "gr\u{f6}\u{df}e 7/8", "long-reference-of-a-session-with-many-characters-in-a-row", "x"];

/// The signed tokens of several verdicts. None: there is no verdict or no token; the case says why.
async fn verdicts(context: &mut ServiceCaseContext) -> Option<Vec<Vec<String>>> {
    let mut verdicts = Vec::new();
    for number in 0..VERDICTS {
        let reference = if context.supports(StateNeed::Verdict) {
            let end = ENDS[number % ENDS.len()];
            let reference = context.reference(&format!("token-{number}-{end}"));
            context.made(StateRequest::verdict(reference)).await?
        } else {
            context.session().await?
        };
        verdicts.push(signed(context, &reference).await?);
    }
    Some(verdicts)
}

/// The signed tokens of a session's verdict. None: there is none, and the case says so.
pub(super) async fn signed(context: &mut ServiceCaseContext, reference: &str) -> Option<Vec<String>> {
    let verdict = context.fetch_verdict(&context.with_token(reference)).await;
    context.check(judge::status_is(200, &verdict));
    let tokens = tokens(&verdict.map(|answer| answer.body).unwrap_or_default());
    if tokens.is_empty() {
        context.found.not_applicable =
            Some("the verdict contains no signed token (a JWS of three parts)".into());
        return None;
    }
    Some(tokens)
}

/// Checks the tokens of a verdict with a key set. An algorithm that edgeproof does not verify proves nothing.
pub(super) fn judge_tokens(context: &mut ServiceCaseContext, name: &str, tokens: &[String], set: &KeySet) {
    match verifies(tokens, set) {
        Ok(check) => context.check(check.of(name)),
        Err(why) if context.found.checks.iter().all(|check| check.ok) => {
            context.found.not_applicable = Some(why);
        }
        Err(_) => {}
    }
}

/// One of the tokens must verify. Error: none does, and one has an algorithm that edgeproof does not verify, so the case
/// proves nothing.
fn verifies(tokens: &[String], set: &KeySet) -> Result<Check, String> {
    let (forms, named): (Vec<SignatureForm>, Vec<Option<String>>) =
        tokens.iter().map(|token| judge::verify_jws(token, set)).unzip();
    let ok = forms.contains(&SignatureForm::Verified);
    let unsupported = forms.iter().position(|form| !ok && *form == SignatureForm::Unsupported);
    if let Some(algorithm) = unsupported.and_then(|at| named[at].as_ref()) {
        return Err(format!(
            "edgeproof cannot verify the verdict's token: edgeproof does not support the algorithm {algorithm:?}"
        ));
    }
    let check = Check::judged(
        DifferenceKind::Token {
            named: named.iter().map(|named| named.as_deref().map(Wire::from)).collect(),
            actual: forms.clone(),
        },
        ok,
    );
    let unnamed = !ok && forms.contains(&SignatureForm::VerifiedUnnamed);
    let check = if unnamed { check.at(CaseLevel::Should) } else { check };
    Ok(check.advise(Advice::KeyIdUnknown))
}

/// All texts of the verdict that look like a compact JWS: the interface does not show which member holds the token.
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
