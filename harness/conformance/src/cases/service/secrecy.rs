use std::collections::HashSet;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Row, Stimulus};

use super::damage::Damage;
use super::expected::{PENDING, UNAUTHORIZED, answer};
use crate::cases::{Catalog, Prerequisite, ServiceCaseContext, VerdictRequest, exposed};
use crate::judge::{self, AnswerResult, Check};

/// What an answer must not tell: a token, or to whoever has none, whether there is a verdict (5).
pub(super) fn add(cases: &mut Catalog<'_>) {
    not_echoed(cases);
    not_in_verdict(cases);
    no_oracle(cases);
    not_from_a_cache(cases);
    not_shared(cases);
}

/// Characters that are a piece of a token and no coincidence.
const PIECE: usize = 24;

/// Which credential a request credential.
#[derive(Clone, Copy)]
enum Credential {
    ReadToken,
    Damaged(Damage),
    Expired,
    License,
}

fn not_echoed(cases: &mut Catalog<'_>) {
    let pending_causes: [(&str, &str, Credential, &[Prerequisite]); 5] = [
        ("pending", "that is accepted", Credential::ReadToken, &[Prerequisite::ReadToken]),
        (
            "signature-altered",
            "with an altered signature",
            Credential::Damaged(Damage::Signature),
            &[Prerequisite::ReadToken],
        ),
        (
            "truncated",
            "cut in its middle",
            Credential::Damaged(Damage::Truncated),
            &[Prerequisite::ReadToken],
        ),
        ("expired", "that has expired", Credential::Expired, &[Prerequisite::ExpiredToken]),
        ("license", "that is a license", Credential::License, &[Prerequisite::License]),
    ];
    for (id, title, credential, needs) in pending_causes {
        cases
            .service_steps(
                "statement.read-token-not-echoed",
                &format!("verdict.not-echoed.{id}"),
                &format!("no answer to a token {title} shows it"),
                move |context| {
                    Box::pin(async move {
                        let Some(token) = token(context, credential) else {
                            context.found.not_applicable = Some("the read token has no such part".into());
                            return;
                        };
                        let reply = context
                            .fetch_verdict(&VerdictRequest::new(&context.reference("echo")).bearer(&token))
                            .await;
                        context.check(not_shown(&token, &reply));
                        // An answer to a method or a wait that it does not have may show the request.
                        let other = VerdictRequest::new(&context.reference("echo"))
                            .bearer(&token)
                            .query("waitMs=soon");
                        let reply = context.fetch_verdict(&other.method("POST")).await;
                        context.check(not_shown(&token, &reply));
                    })
                },
            )
            .requires(needs);
    }
}

fn not_in_verdict(cases: &mut Catalog<'_>) {
    cases
        .service_steps(
            "statement.read-token-not-echoed",
            "verdict.not-echoed.available",
            "no verdict shows the token that it was asked for with",
            |context| {
                Box::pin(async move {
                    let Some(reference) = context.session().await else { return };
                    let token = context.read_token();
                    let reply = context.fetch_verdict(&VerdictRequest::new(&reference).bearer(&token)).await;
                    context.check(not_shown(&token, &reply));
                })
            },
        )
        .requires(&[Prerequisite::ReadToken, Prerequisite::Session]);
}

fn token(context: &ServiceCaseContext, credential: Credential) -> Option<String> {
    let inputs = &context.target.inputs;
    match credential {
        Credential::ReadToken => Some(context.read_token()),
        Credential::Damaged(damage) => damage.apply(&context.read_token()),
        Credential::Expired => Some(exposed(inputs.expired_token.as_ref())),
        Credential::License => Some(exposed(inputs.license.as_ref())),
    }
}

/// Neither the token, in whatever way it is written, nor a piece of its longest part: that holds what is signed, and often
/// the signature, while a short one may be no more than the name of a key.
fn not_shown(token: &str, reply: &AnswerResult) -> Check {
    let mut redactor = Redactor::empty();
    redactor.add("read token", token);
    let longest = token.split('.').max_by_key(|part| part.len()).unwrap_or(token);
    let pieces: HashSet<&[u8]> = longest.as_bytes().windows(PIECE).skip(PIECE).collect();
    let finds =
        |bytes: &[u8]| redactor.finds(bytes) || bytes.windows(PIECE).any(|window| pieces.contains(window));
    judge::no_secrets("token and no piece of it", finds, reply)
        .hint("whoever reads logs or error pages could use it: name a token by its key id or a digest")
}

/// Whoever has no token that is accepted gets the same answer, whether there is a verdict or not.
fn no_oracle(cases: &mut Catalog<'_>) {
    let row = cases.row(UNAUTHORIZED).clone();
    cases
        .service_steps(
            "statement.no-oracle",
            "verdict.no-oracle.missing",
            "without a token nobody learns whether a session has a verdict",
            move |context| {
                let row = row.clone();
                Box::pin(async move { oracle(context, None, Some(&row)).await })
            },
        )
        .requires(&[Prerequisite::ReadToken, Prerequisite::Session]);
    cases
        .service_steps(
            "statement.no-oracle",
            "verdict.no-oracle.damaged",
            "with a damaged token nobody learns whether a session has a verdict",
            |context| {
                Box::pin(async move {
                    let token = Damage::Signature.apply(&context.read_token());
                    oracle(context, token.as_deref(), None).await;
                })
            },
        )
        .requires(&[Prerequisite::ReadToken, Prerequisite::Session]);
    cases
        .service_steps(
            "statement.no-oracle",
            "verdict.no-oracle.expired",
            "with an expired token nobody learns whether a session has a verdict",
            |context| {
                Box::pin(async move {
                    let token = exposed(context.target.inputs.expired_token.as_ref());
                    oracle(context, Some(&token), None).await;
                })
            },
        )
        .requires(&[Prerequisite::ReadToken, Prerequisite::ExpiredToken, Prerequisite::Session]);
}

async fn oracle(context: &mut ServiceCaseContext, token: Option<&str>, row: Option<&Row>) {
    let Some(reference) = context.session().await else { return };
    let with = |reference: &str| match token {
        Some(token) => VerdictRequest::new(reference).bearer(token),
        None => VerdictRequest::new(reference),
    };
    let there = context.fetch_verdict(&with(&reference)).await;
    let nowhere = context.fetch_verdict(&with(&context.reference("oracle"))).await;
    for reply in [&there, &nowhere] {
        match row {
            Some(row) => context.checks(judge::exact(&answer(row, ""), reply)),
            None => context.check(judge::status_in("401", |status| status == 401, reply)),
        }
    }
    context.check(
        judge::same_answer("a session that has a verdict", &there, &nowhere)
            .hint("check the token before the session is looked up"),
    );
}

/// A cache in front of the service must not give one context's answer to another request without a token.
fn not_from_a_cache(cases: &mut Catalog<'_>) {
    let (pending, unauthorized) = (cases.row(PENDING).clone(), cases.row(UNAUTHORIZED).clone());
    cases
        .service_steps(
            "statement.no-oracle",
            "verdict.no-oracle.after-pending",
            "after an answer to a read token, the same request without one is unauthorized",
            move |context| {
                let (pending, unauthorized) = (pending.clone(), unauthorized.clone());
                Box::pin(async move {
                    let reference = context.reference("cache");
                    let first = context.fetch_verdict(&context.with_token(&reference)).await;
                    context.checks(judge::exact(&answer(&pending, &reference), &first));
                    let second = context.fetch_verdict(&VerdictRequest::new(&reference)).await;
                    context.checks(judge::exact(&answer(&unauthorized, ""), &second));
                })
            },
        )
        .requires(&[Prerequisite::ReadToken])
        .also(UNAUTHORIZED)
        .stimulus(Stimulus::ReadTokenMissing);
    let unauthorized = cases.row(UNAUTHORIZED).clone();
    cases
        .service_steps(
            "statement.no-oracle",
            "verdict.no-oracle.after-verdict",
            "after a verdict was given to a read token, the same request without one is unauthorized",
            move |context| {
                let unauthorized = unauthorized.clone();
                Box::pin(async move {
                    let Some(reference) = context.session().await else { return };
                    let first = context.fetch_verdict(&context.with_token(&reference)).await;
                    context.check(judge::status_in("200", |status| status == 200, &first));
                    let second = context.fetch_verdict(&VerdictRequest::new(&reference)).await;
                    context.checks(judge::exact(&answer(&unauthorized, ""), &second));
                })
            },
        )
        .requires(&[Prerequisite::ReadToken, Prerequisite::Session]);
}

fn not_shared(cases: &mut Catalog<'_>) {
    cases
        .service_steps(
            "statement.verdict-not-shared",
            "verdict.cache.pending",
            "the pending marker is not for shared caches to keep",
            |context| {
                Box::pin(async move {
                    let request = context.with_token(&context.reference("shared"));
                    let reply = context.fetch_verdict(&request).await;
                    context.check(judge::not_shared(&reply));
                    context.observe("verdict.cache.pending", cache_control(&reply));
                })
            },
        )
        .requires(&[Prerequisite::ReadToken]);
    cases
        .service_steps(
            "statement.verdict-not-shared",
            "verdict.cache.verdict",
            "a verdict is not for shared caches to keep",
            |context| {
                Box::pin(async move {
                    let Some(reference) = context.session().await else { return };
                    let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                    context.check(judge::not_shared(&reply));
                    context.observe("verdict.cache.verdict", cache_control(&reply));
                })
            },
        )
        .requires(&[Prerequisite::ReadToken, Prerequisite::Session]);
}

fn cache_control(reply: &AnswerResult) -> String {
    match reply {
        Ok(answer) => match answer.headers.get("cache-control").map(|value| value.to_str()) {
            Some(Ok(value)) => format!("Cache-Control: {value}"),
            Some(Err(_)) => "Cache-Control in something other than ASCII".into(),
            None => "no Cache-Control".into(),
        },
        Err(why) => why.to_string(),
    }
}
