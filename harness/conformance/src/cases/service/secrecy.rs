use std::collections::HashSet;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Advice, Row, Stimulus};
use edgeproof_reports::difference::{AnswerSubject, Secrets};

use super::damage::{self, Damage};
use super::expected::{PENDING, UNAUTHORIZED, answer};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, exposed};
use crate::judge::{self, AnswerResult, Check};

/// Answers contain no token, and without a valid token they do not reveal whether a session has a verdict (5).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    not_echoed(cases);
    not_in_verdict(cases);
    no_oracle(cases);
    not_from_a_cache(cases);
    not_shared(cases);
}

/// Minimum length of a token's piece that cannot be a coincidence, in characters.
const PIECE: usize = 24;

/// The credential of a request.
#[derive(Clone, Copy)]
enum Credential {
    ReadToken,
    Damaged(Damage),
    Expired,
    License,
}

fn not_echoed(cases: &mut CaseList<'_, Service>) {
    let pending_causes: [(&str, &str, Credential, &[ServiceNeed]); 5] = [
        ("pending", "a valid read token", Credential::ReadToken, &[ServiceNeed::ReadToken]),
        (
            "signature-altered",
            "a read token with a changed signature",
            Credential::Damaged(Damage::Signature),
            &[ServiceNeed::ReadToken],
        ),
        (
            "truncated",
            "a read token without its second half",
            Credential::Damaged(Damage::Truncated),
            &[ServiceNeed::ReadToken],
        ),
        ("expired", "an expired read token", Credential::Expired, &[ServiceNeed::ExpiredToken]),
        ("license", "a license", Credential::License, &[ServiceNeed::License]),
    ];
    for (id, title, credential, needs) in pending_causes {
        cases
            .steps(
                "statement.read-token-not-echoed",
                &format!("verdict.not-echoed.{id}"),
                &format!("an answer to {title} does not contain it"),
                steps!(async |context| {
                    let Some(token) = token(context, credential) else {
                        context.found.not_applicable =
                            Some("the read token has no part to damage this way".into());
                        return;
                    };
                    let reply = context
                        .fetch_verdict(&context.verdict(&context.reference("echo")).bearer(&token))
                        .await;
                    context.check(not_shown(&token, &reply));
                    // An answer to an unsupported method or an invalid waitMs can quote the request.
                    let other =
                        context.verdict(&context.reference("echo")).bearer(&token).query("waitMs=soon");
                    let reply = context.fetch_verdict(&other.method("POST")).await;
                    context.check(not_shown(&token, &reply));
                }),
            )
            .requires(needs);
    }
}

fn not_in_verdict(cases: &mut CaseList<'_, Service>) {
    cases
        .steps(
            "statement.read-token-not-echoed",
            "verdict.not-echoed.available",
            "a verdict does not contain the token of its request",
            steps!(async |context| {
                let Some(reference) = context.session().await else { return };
                let token = context.read_token();
                let reply = context.fetch_verdict(&context.verdict(&reference).bearer(&token)).await;
                context.check(not_shown(&token, &reply));
            }),
        )
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
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

/// The answer contains neither the token, in any encoding, nor a piece of its signature. Header and claims are public: a
/// verdict token of the same issuer shares them.
fn not_shown(token: &str, reply: &AnswerResult) -> Check {
    judge::no_secrets(Secrets::Token, token_echo(token), reply).advise(Advice::TokenEchoed)
}

/// Finds a token in an answer: in any encoding, or a piece of its signature.
pub(crate) fn token_echo(token: &str) -> impl Fn(&[u8]) -> bool + use<> {
    let mut redactor = Redactor::empty();
    redactor.add("read token", token);
    let hex = token.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let signature = &token.as_bytes()[damage::signature(token)];
    let pieces: HashSet<Vec<u8>> =
        signature.windows(PIECE).chain(hex.as_bytes().windows(2 * PIECE)).map(<[u8]>::to_vec).collect();
    move |bytes: &[u8]| {
        redactor.finds(bytes)
            || bytes.windows(PIECE).any(|window| pieces.contains(window))
            || bytes.windows(2 * PIECE).any(|window| pieces.contains(window.to_ascii_lowercase().as_slice()))
    }
}

/// Without a valid token, the answer is the same for a session with and without a verdict.
fn no_oracle(cases: &mut CaseList<'_, Service>) {
    let row = cases.row(UNAUTHORIZED).clone();
    cases
        .steps(
            "statement.no-oracle",
            "verdict.no-oracle.missing",
            "an answer without a token does not reveal whether a session has a verdict",
            steps!(async |context| { oracle(context, None, Some(&row)).await }, with(row)),
        )
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
    cases
        .steps(
            "statement.no-oracle",
            "verdict.no-oracle.damaged",
            "an answer to a damaged token does not reveal whether a session has a verdict",
            steps!(async |context| {
                let token = Damage::Signature.apply(&context.read_token());
                oracle(context, token.as_deref(), None).await;
            }),
        )
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
    cases
        .steps(
            "statement.no-oracle",
            "verdict.no-oracle.expired",
            "an answer to an expired token does not reveal whether a session has a verdict",
            steps!(async |context| {
                let token = exposed(context.target.inputs.expired_token.as_ref());
                oracle(context, Some(&token), None).await;
            }),
        )
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::ExpiredToken, ServiceNeed::Session]);
}

async fn oracle(context: &mut ServiceCaseContext, token: Option<&str>, row: Option<&Row>) {
    let Some(reference) = context.session().await else { return };
    let with = |context: &ServiceCaseContext, reference: &str| match token {
        Some(token) => context.verdict(reference).bearer(token),
        None => context.verdict(reference),
    };
    let available = context.fetch_verdict(&with(context, &reference)).await;
    let unknown = context.fetch_verdict(&with(context, &context.reference("oracle"))).await;
    for reply in [&available, &unknown] {
        match row {
            Some(row) => context.checks(judge::exact(&answer(row, ""), reply)),
            None => context.check(judge::status_is(401, reply)),
        }
    }
    context.check(
        judge::same_answer(AnswerSubject::AsForAVerdict, &available, &unknown)
            .advise(Advice::TokenAfterSession),
    );
}

/// A cache in front of the service must not answer a request without a token with an earlier answer.
fn not_from_a_cache(cases: &mut CaseList<'_, Service>) {
    let (pending, unauthorized) = (cases.row(PENDING).clone(), cases.row(UNAUTHORIZED).clone());
    cases
        .steps(
            "statement.no-oracle",
            "verdict.no-oracle.after-pending",
            "a request without a token is unauthorized after the same request with one",
            steps!(
                async |context| {
                    let reference = context.reference("cache");
                    let first = context.fetch_verdict(&context.with_token(&reference)).await;
                    context.checks(judge::exact(&answer(&pending, &reference), &first));
                    let second = context.fetch_verdict(&context.verdict(&reference)).await;
                    context.checks(judge::exact(&answer(&unauthorized, ""), &second));
                },
                with(pending, unauthorized)
            ),
        )
        .requires(&[ServiceNeed::ReadToken])
        .also(UNAUTHORIZED)
        .stimulus(Stimulus::ReadTokenMissing);
    let unauthorized = cases.row(UNAUTHORIZED).clone();
    cases
        .steps(
            "statement.no-oracle",
            "verdict.no-oracle.after-verdict",
            "a request without a token is unauthorized after the same request got a verdict",
            steps!(
                async |context| {
                    let Some(reference) = context.session().await else { return };
                    let first = context.fetch_verdict(&context.with_token(&reference)).await;
                    context.check(judge::status_is(200, &first));
                    let second = context.fetch_verdict(&context.verdict(&reference)).await;
                    context.checks(judge::exact(&answer(&unauthorized, ""), &second));
                },
                with(unauthorized)
            ),
        )
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}

fn not_shared(cases: &mut CaseList<'_, Service>) {
    cases
        .steps(
            "statement.verdict-not-shared",
            "verdict.cache.pending",
            "a pending answer does not permit shared caches",
            steps!(async |context| {
                let request = context.with_token(&context.reference("shared"));
                let reply = context.fetch_verdict(&request).await;
                context.check(judge::not_shared(&reply));
                context.observe("verdict.cache.pending", cache_control(&reply));
            }),
        )
        .requires(&[ServiceNeed::ReadToken]);
    cases
        .steps(
            "statement.verdict-not-shared",
            "verdict.cache.verdict",
            "a verdict does not permit shared caches",
            steps!(async |context| {
                let Some(reference) = context.session().await else { return };
                let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                context.check(judge::not_shared(&reply));
                context.observe("verdict.cache.verdict", cache_control(&reply));
            }),
        )
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
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
