use std::time::Duration;

use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Draft, Sent};
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, SignatureForm, Wire};
use futures_util::future::join_all;

use super::shape::parse_key_set;
use crate::cases::service::status;
use crate::cases::{AVAILABLE, CaseList, Keys, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult, Check};
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
    many(cases);
}

/// A signature of ECDSA is two numbers. One that begins with a zero byte keeps it (RFC 7518 §3.4): 1 of 128 signatures has one.
fn many(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            "keys.verifies-verdict",
            "keys.verifies-every",
            "a key of the set verifies each signature: many of them, if the algorithm is ECDSA",
        )
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let Some(tokens) = signed(context, &reference).await else { return };
            let reply = context.fetch_key_set(&context.key_set()).await;
            let Some(set) = parse_key_set(context, &reply) else { return };
            let Some(again) = signed(context, &reference).await else { return };
            for (name, tokens) in [("the first answer", &tokens), ("the second answer", &again)] {
                judge_tokens(context, name, tokens, &set);
            }
            let renews = again != tokens;
            // Other algorithms have no numbers whose length differs.
            if !tokens.iter().any(|token| judge::is_ecdsa(token))
                || !renews && !context.supports(StateNeed::Verdict)
            {
                return;
            }
            let began = context.now();
            for round in 0..SIGNATURES / AT_ONCE {
                if context.now() > began + LONGEST {
                    return;
                }
                let asked = (0..AT_ONCE).map(|number| {
                    if renews {
                        reference.clone()
                    } else {
                        context.reference(&format!("signature-{round}-{number}"))
                    }
                });
                let asked: Vec<String> = asked.collect();
                let fetching = asked.iter().map(|reference| fetch(context, reference, !renews));
                for (draft, sent) in join_all(fetching).await.into_iter().flatten() {
                    // The interface does not show a limit for requests.
                    if sent.reply.as_ref().is_ok_and(|answer| answer.status == 429) {
                        return;
                    }
                    let Some(tokens) = tokens_of(context, &sent) else { continue };
                    context.found.varied += 1;
                    if verifies(&tokens, &set).is_ok_and(|check| check.ok) {
                        continue;
                    }
                    context.record(&draft, sent);
                    // The keys may have changed by themselves.
                    let reply = context.fetch_key_set(&context.key_set()).await;
                    let Some(set) = parse_key_set(context, &reply) else { return };
                    return judge_tokens(context, "one of many verdicts", &tokens, &set);
                }
            }
        }))
        .requires(&[ServiceNeed::Session, ServiceNeed::ReadToken])
        .takes(Duration::from_secs(5));
}

/// Number of signatures: with a probability of 98 %, one of them begins with a zero byte.
const SIGNATURES: usize = 512;
/// Number of concurrent requests.
const AT_ONCE: usize = 16;
/// Time after which a slow service signs no more.
const LONGEST: Duration = Duration::from_secs(2);

/// The answer with a verdict, which is made before if asked for. None: it is not there.
async fn fetch(context: &ServiceCaseContext, reference: &str, makes: bool) -> Option<(Draft, Sent)> {
    let request = StateRequest::verdict(reference);
    let made = if makes { context.ask(&request).await.ok()?.reference } else { None };
    let draft = context.with_token(made.as_deref().unwrap_or(reference)).draft();
    let sent = context.begin(&draft, context.timeout).await;
    Some((draft, sent))
}

/// The signed tokens of an answer. None: it is no verdict with one.
fn tokens_of(context: &ServiceCaseContext, sent: &Sent) -> Option<Vec<String>> {
    let answer = sent.reply.as_ref().ok().filter(|_| context.has_status(AVAILABLE, &sent.reply))?;
    Some(judge::tokens(&answer.body)).filter(|tokens| !tokens.is_empty())
}

/// Number of verdicts whose tokens are judged: one of several instances may sign with a key of its own.
const VERDICTS: usize = 16;
/// Length of the longest reference (bytes): the interface does not limit it, and stores usually hold this.
const LONG: usize = 512;
/// Ends of references. A token of a long reference, or of one beyond ASCII, is a token.
const ENDS: [&str; 4] =
    ["plain", "gr\u{f6}\u{df}e 7/8", "long-reference-of-a-session-with-many-characters-in-a-row", "x"];

/// The signed tokens of several verdicts. None: there is no verdict or no token; the case says why.
pub(super) async fn verdicts(context: &mut ServiceCaseContext) -> Option<Vec<Vec<String>>> {
    let mut verdicts = Vec::new();
    for number in 0..VERDICTS {
        let reference = if context.supports(StateNeed::Verdict) {
            let end = ENDS[number % ENDS.len()];
            let reference = context.reference(&format!("token-{number}-{end}"));
            match long_session(context, number, &reference).await {
                Some(long) => long,
                None => context.made(StateRequest::verdict(reference)).await?,
            }
        } else {
            context.session().await?
        };
        let tokens = signed(context, &reference).await;
        // A token that is cut, or too long for its column, is none.
        if tokens.is_none() && !verdicts.is_empty() && context.found.not_applicable.take().is_some() {
            let kind = DifferenceKind::Token { actual: vec![SignatureForm::Malformed], named: Vec::new() };
            let name = format!("the verdict of a reference of {} bytes", reference.len());
            context.check(Check::judged(kind, false).of(&name));
        }
        verdicts.push(tokens?);
    }
    Some(verdicts)
}

/// The last session has a long reference, if the service stores it: its token is long too.
async fn long_session(context: &ServiceCaseContext, number: usize, reference: &str) -> Option<String> {
    if number + 1 < VERDICTS {
        return None;
    }
    let long = format!("{reference}{}", "x".repeat(LONG.saturating_sub(reference.len())));
    let reply = context.ask(&StateRequest::verdict(&long)).await.ok()?;
    Some(reply.reference.unwrap_or(long))
}

/// The signed tokens of a session's verdict. None: there is none, and the case says so.
pub(super) async fn signed(context: &mut ServiceCaseContext, reference: &str) -> Option<Vec<String>> {
    let verdict = context.fetch_verdict(&context.with_token(reference)).await;
    signed_in(context, &verdict)
}

/// The signed tokens of an answer, which has to be a verdict. None: there is none, and the case says so.
pub(super) fn signed_in(context: &mut ServiceCaseContext, verdict: &AnswerResult) -> Option<Vec<String>> {
    let status = status(context.spec(), AVAILABLE, verdict);
    let is_verdict = status.ok;
    context.check(status);
    if !is_verdict {
        return None;
    }
    // A body that broke off has no token either.
    let (whole, json) = (judge::has_verdict(verdict), judge::is_json(verdict));
    let is_cut = !whole.ok || (judge::json_content_type(verdict).ok && !json.ok);
    if is_cut {
        context.checks(vec![whole, json]);
        return None;
    }
    let tokens = verdict.as_ref().map(|answer| judge::tokens(&answer.body)).unwrap_or_default();
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
pub(super) fn verifies(tokens: &[String], set: &KeySet) -> Result<Check, String> {
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
