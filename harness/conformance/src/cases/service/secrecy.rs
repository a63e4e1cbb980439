use std::collections::HashSet;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Row, Stimulus};

use super::damage::Damage;
use super::expected::{PENDING, UNAUTHORIZED, answer};
use crate::cases::{Ask, Backend, Catalog, Need, Reply, exposed};
use crate::judge::{self, Check};

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

/// Which credential a request carries.
#[derive(Clone, Copy)]
enum Carries {
    ReadToken,
    Damaged(Damage),
    Expired,
    License,
}

fn not_echoed(cases: &mut Catalog<'_>) {
    let situations: [(&str, &str, Carries, &[Need]); 5] = [
        ("pending", "that is accepted", Carries::ReadToken, &[Need::ReadToken]),
        (
            "signature-altered",
            "with an altered signature",
            Carries::Damaged(Damage::Signature),
            &[Need::ReadToken],
        ),
        ("truncated", "cut in its middle", Carries::Damaged(Damage::Truncated), &[Need::ReadToken]),
        ("expired", "that has expired", Carries::Expired, &[Need::ExpiredToken]),
        ("license", "that is a license", Carries::License, &[Need::License]),
    ];
    for (id, title, carries, needs) in situations {
        cases
            .asks(
                "statement.read-token-not-echoed",
                &format!("verdict.not-echoed.{id}"),
                &format!("no answer to a token {title} shows it"),
                move |backend| {
                    Box::pin(async move {
                        let Some(token) = token(backend, carries) else {
                            backend.found.not_applicable = Some("the read token has no such part".into());
                            return;
                        };
                        let reply = backend.ask(&Ask::new(&backend.reference("echo")).bearer(&token)).await;
                        backend.check(not_shown(&token, &reply));
                        // An answer to a method or a wait that it does not have may show the request.
                        let other = Ask::new(&backend.reference("echo")).bearer(&token).query("waitMs=soon");
                        let reply = backend.ask(&other.method("POST")).await;
                        backend.check(not_shown(&token, &reply));
                    })
                },
            )
            .needs(needs);
    }
}

fn not_in_verdict(cases: &mut Catalog<'_>) {
    cases
        .asks(
            "statement.read-token-not-echoed",
            "verdict.not-echoed.available",
            "no verdict shows the token that it was asked for with",
            |backend| {
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let token = backend.read_token();
                    let reply = backend.ask(&Ask::new(&reference).bearer(&token)).await;
                    backend.check(not_shown(&token, &reply));
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session]);
}

fn token(backend: &Backend, carries: Carries) -> Option<String> {
    let inputs = &backend.target.inputs;
    match carries {
        Carries::ReadToken => Some(backend.read_token()),
        Carries::Damaged(damage) => damage.apply(&backend.read_token()),
        Carries::Expired => Some(exposed(inputs.expired_token.as_ref())),
        Carries::License => Some(exposed(inputs.license.as_ref())),
    }
}

/// Neither the token, in whatever way it is written, nor a piece of its longest part: that holds what is signed, and often
/// the signature, while a short one may be no more than the name of a key.
fn not_shown(token: &str, reply: &Reply) -> Check {
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
        .asks(
            "statement.no-oracle",
            "verdict.no-oracle.missing",
            "without a token nobody learns whether a session has a verdict",
            move |backend| {
                let row = row.clone();
                Box::pin(async move { oracle(backend, None, Some(&row)).await })
            },
        )
        .needs(&[Need::ReadToken, Need::Session]);
    cases
        .asks(
            "statement.no-oracle",
            "verdict.no-oracle.damaged",
            "with a damaged token nobody learns whether a session has a verdict",
            |backend| {
                Box::pin(async move {
                    let token = Damage::Signature.apply(&backend.read_token());
                    oracle(backend, token.as_deref(), None).await;
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session]);
    cases
        .asks(
            "statement.no-oracle",
            "verdict.no-oracle.expired",
            "with an expired token nobody learns whether a session has a verdict",
            |backend| {
                Box::pin(async move {
                    let token = exposed(backend.target.inputs.expired_token.as_ref());
                    oracle(backend, Some(&token), None).await;
                })
            },
        )
        .needs(&[Need::ReadToken, Need::ExpiredToken, Need::Session]);
}

async fn oracle(backend: &mut Backend, token: Option<&str>, row: Option<&Row>) {
    let Some(reference) = backend.session().await else { return };
    let with = |reference: &str| match token {
        Some(token) => Ask::new(reference).bearer(token),
        None => Ask::new(reference),
    };
    let there = backend.ask(&with(&reference)).await;
    let nowhere = backend.ask(&with(&backend.reference("oracle"))).await;
    for reply in [&there, &nowhere] {
        match row {
            Some(row) => backend.checks(judge::exact(&answer(row, ""), reply)),
            None => backend.check(judge::status_in("401", |status| status == 401, reply)),
        }
    }
    backend.check(
        judge::same_answer("a session that has a verdict", &there, &nowhere)
            .hint("check the token before the session is looked up"),
    );
}

/// A cache in front of the service must not give one backend's answer to another request without a token.
fn not_from_a_cache(cases: &mut Catalog<'_>) {
    let (pending, unauthorized) = (cases.row(PENDING).clone(), cases.row(UNAUTHORIZED).clone());
    cases
        .asks(
            "statement.no-oracle",
            "verdict.no-oracle.after-pending",
            "after an answer to a read token, the same request without one is unauthorized",
            move |backend| {
                let (pending, unauthorized) = (pending.clone(), unauthorized.clone());
                Box::pin(async move {
                    let reference = backend.reference("cache");
                    let first = backend.ask(&Ask::new(&reference).bearer(&backend.read_token())).await;
                    backend.checks(judge::exact(&answer(&pending, &reference), &first));
                    let second = backend.ask(&Ask::new(&reference)).await;
                    backend.checks(judge::exact(&answer(&unauthorized, ""), &second));
                })
            },
        )
        .needs(&[Need::ReadToken])
        .also(UNAUTHORIZED)
        .stimulus(Stimulus::ReadTokenMissing);
    let unauthorized = cases.row(UNAUTHORIZED).clone();
    cases
        .asks(
            "statement.no-oracle",
            "verdict.no-oracle.after-verdict",
            "after a verdict was given to a read token, the same request without one is unauthorized",
            move |backend| {
                let unauthorized = unauthorized.clone();
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let first = backend.ask(&Ask::new(&reference).bearer(&backend.read_token())).await;
                    backend.check(judge::status_in("200", |status| status == 200, &first));
                    let second = backend.ask(&Ask::new(&reference)).await;
                    backend.checks(judge::exact(&answer(&unauthorized, ""), &second));
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session]);
}

fn not_shared(cases: &mut Catalog<'_>) {
    cases
        .asks(
            "statement.verdict-not-shared",
            "verdict.cache.pending",
            "the pending marker is not for shared caches to keep",
            |backend| {
                Box::pin(async move {
                    let ask = Ask::new(&backend.reference("shared")).bearer(&backend.read_token());
                    let reply = backend.ask(&ask).await;
                    backend.check(judge::not_shared(&reply));
                    backend.observe("verdict.cache.pending", cache_control(&reply));
                })
            },
        )
        .needs(&[Need::ReadToken]);
    cases
        .asks(
            "statement.verdict-not-shared",
            "verdict.cache.verdict",
            "a verdict is not for shared caches to keep",
            |backend| {
                Box::pin(async move {
                    let Some(reference) = backend.session().await else { return };
                    let reply = backend.ask(&Ask::new(&reference).bearer(&backend.read_token())).await;
                    backend.check(judge::not_shared(&reply));
                    backend.observe("verdict.cache.verdict", cache_control(&reply));
                })
            },
        )
        .needs(&[Need::ReadToken, Need::Session]);
}

fn cache_control(reply: &Reply) -> String {
    match reply {
        Ok(answer) => match answer.headers.get("cache-control").map(|value| value.to_str()) {
            Some(Ok(value)) => format!("Cache-Control: {value}"),
            Some(Err(_)) => "Cache-Control in something other than ASCII".into(),
            None => "no Cache-Control".into(),
        },
        Err(why) => why.to_string(),
    }
}
