use edgeproof_fixtures::spec::{Advice, Stimulus};
use edgeproof_reports::difference::AnswerSubject;

use super::damage::Damage;
use super::expected::{PENDING, UNAUTHORIZED, answer};
use super::rule::not_shown;
use super::{TokenChoice, VerdictExchange, VerdictRule};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, exposed};
use crate::judge;

/// Answers contain no token, and without a valid token they do not reveal whether a session has a verdict (5).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    not_echoed(cases);
    not_in_verdict(cases);
    no_oracle(cases);
    not_from_a_cache(cases);
    not_shared(cases);
}

fn not_echoed(cases: &mut CaseList<'_, Service>) {
    let pending_causes: [(&str, &str, TokenChoice, &[ServiceNeed]); 5] = [
        ("pending", "a valid read token", TokenChoice::Valid, &[ServiceNeed::ReadToken]),
        (
            "signature-altered",
            "a read token with a changed signature",
            TokenChoice::Damaged(Damage::Signature),
            &[ServiceNeed::ReadToken],
        ),
        (
            "truncated",
            "a read token without its second half",
            TokenChoice::Damaged(Damage::Truncated),
            &[ServiceNeed::ReadToken],
        ),
        ("expired", "an expired read token", TokenChoice::Expired, &[ServiceNeed::ExpiredToken]),
        ("license", "a license", TokenChoice::License, &[ServiceNeed::License]),
    ];
    for (id, title, choice, needs) in pending_causes {
        cases
            .case(
                "statement.read-token-not-echoed",
                &format!("verdict.not-echoed.{id}"),
                &format!("an answer to {title} does not contain it"),
            )
            .steps(steps!(async |context| {
                let Ok(Some(value)) = choice.authorization(context) else {
                    context.found.not_applicable =
                        Some("the read token has no part to damage this way".into());
                    return;
                };
                let token = value.strip_prefix("Bearer ").unwrap_or(&value);
                let request = context.verdict(&context.reference("echo")).authorization(&value);
                let reply = context.fetch_verdict(&request).await;
                context.check(not_shown(token, &reply));
                // An answer to an unsupported method or an invalid waitMs can quote the request.
                let other = request.query("waitMs=soon").method("POST");
                let reply = context.fetch_verdict(&other).await;
                context.check(not_shown(token, &reply));
            }))
            .requires(needs);
    }
}

fn not_in_verdict(cases: &mut CaseList<'_, Service>) {
    let title = "a verdict does not contain the token of its request";
    let exchange = VerdictExchange::with_verdict().expect(VerdictRule::NoToken);
    cases
        .case("statement.read-token-not-echoed", "verdict.not-echoed.available", title)
        .exchange(exchange)
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}

/// Without a valid token, the answer is the same for a session with and without a verdict.
fn no_oracle(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.no-oracle",
            "verdict.no-oracle.missing",
            "an answer without a token does not reveal whether a session has a verdict",
        )
        .steps(steps!(async |context| { oracle(context, None).await }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
    cases
        .case(
            "statement.no-oracle",
            "verdict.no-oracle.damaged",
            "an answer to a damaged token does not reveal whether a session has a verdict",
        )
        .steps(steps!(async |context| {
            let token = Damage::Signature.apply(&context.read_token());
            oracle(context, token.as_deref()).await;
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
    cases
        .case(
            "statement.no-oracle",
            "verdict.no-oracle.expired",
            "an answer to an expired token does not reveal whether a session has a verdict",
        )
        .steps(steps!(async |context| {
            let token = exposed(context.target.inputs.expired_token.as_ref());
            oracle(context, Some(&token)).await;
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::ExpiredToken, ServiceNeed::Session]);
}

async fn oracle(context: &mut ServiceCaseContext, token: Option<&str>) {
    let Some(reference) = context.session().await else { return };
    let with = |context: &ServiceCaseContext, reference: &str| match token {
        Some(token) => context.verdict(reference).bearer(token),
        None => context.verdict(reference),
    };
    let available = context.fetch_verdict(&with(context, &reference)).await;
    let unknown = context.fetch_verdict(&with(context, &context.reference("oracle"))).await;
    for reply in [&available, &unknown] {
        match token {
            None => context.checks(judge::exact(&answer(context.row(UNAUTHORIZED), ""), reply)),
            Some(_) => context.check(judge::status_is(401, reply)),
        }
    }
    context.check(
        judge::same_answer(AnswerSubject::AsForAVerdict, &available, &unknown)
            .advise(Advice::TokenAfterSession),
    );
}

/// A cache in front of the service must not answer a request without a token with an earlier answer.
fn not_from_a_cache(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.no-oracle",
            "verdict.no-oracle.after-pending",
            "a request without a token is unauthorized after the same request with one",
        )
        .steps(steps!(async |context| {
            let reference = context.reference("cache");
            let first = context.fetch_verdict(&context.with_token(&reference)).await;
            context.checks(judge::exact(&answer(context.row(PENDING), &reference), &first));
            let second = context.fetch_verdict(&context.verdict(&reference)).await;
            context.checks(judge::exact(&answer(context.row(UNAUTHORIZED), ""), &second));
        }))
        .requires(&[ServiceNeed::ReadToken])
        .also(UNAUTHORIZED)
        .stimulus(Stimulus::ReadTokenMissing);
    cases
        .case(
            "statement.no-oracle",
            "verdict.no-oracle.after-verdict",
            "a request without a token is unauthorized after the same request got a verdict",
        )
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let first = context.fetch_verdict(&context.with_token(&reference)).await;
            context.check(judge::status_is(200, &first));
            let second = context.fetch_verdict(&context.verdict(&reference)).await;
            context.checks(judge::exact(&answer(context.row(UNAUTHORIZED), ""), &second));
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}

fn not_shared(cases: &mut CaseList<'_, Service>) {
    let row = "statement.verdict-not-shared";
    let rules = |exchange: VerdictExchange| {
        exchange.expect(VerdictRule::NotShared).expect(VerdictRule::ObserveCaching)
    };
    let title = "a pending answer does not permit shared caches";
    cases
        .case(row, "verdict.cache.pending", title)
        .exchange(rules(VerdictExchange::unknown("shared")))
        .requires(&[ServiceNeed::ReadToken]);
    let title = "a verdict does not permit shared caches";
    cases
        .case(row, "verdict.cache.verdict", title)
        .exchange(rules(VerdictExchange::with_verdict()))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}
