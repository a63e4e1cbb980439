use std::time::Duration;

use edgeproof_fixtures::spec::{Advice, Stimulus};
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::difference::AnswerSubject;

use super::damage::Damage;
use super::expected::{
    AVAILABLE, EXPIRED, Expected, PENDING, UNAUTHORIZED, answer, damage_codes, status, status_of,
};
use super::rule::not_shown;
use super::{CONDITIONS, TokenChoice, VerdictExchange, VerdictObservation, VerdictRule};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, VerdictRequest};
use crate::judge::{self, AnswerResult};
use crate::states::StateNeed;

/// Answers contain no token, and without a valid token they do not reveal whether a session has a verdict (5).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    not_echoed(cases);
    not_in_verdict(cases);
    no_oracle(cases);
    not_by_condition(cases);
    not_from_a_cache(cases);
    not_shared(cases);
    not_reused(cases);
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
                let value = match choice.authorization(context) {
                    Ok(value) => value.unwrap_or_default(),
                    Err(why) => {
                        context.found.not_applicable = Some(why.to_string());
                        return;
                    }
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
    for (id, title, token, need) in [
        (
            "missing",
            "an answer without a token does not reveal whether a session has a verdict",
            TokenChoice::Missing,
            None,
        ),
        (
            "damaged",
            "an answer to a damaged token does not reveal whether a session has a verdict",
            TokenChoice::Damaged(Damage::Signature),
            None,
        ),
        (
            "expired",
            "an answer to an expired token does not reveal whether a session has a verdict",
            TokenChoice::Expired,
            Some(ServiceNeed::ExpiredToken),
        ),
    ] {
        let mut needs = vec![ServiceNeed::ReadToken];
        needs.extend(need);
        needs.push(ServiceNeed::Session);
        cases
            .case("statement.no-oracle", &format!("verdict.no-oracle.{id}"), title)
            .steps(steps!(async |context| { oracle(context, token).await }))
            .requires(&needs);
    }
}

async fn oracle(context: &mut ServiceCaseContext, token: TokenChoice) {
    let Some(reference) = context.session().await else { return };
    let authorization = match token.authorization(context) {
        Ok(authorization) => authorization,
        Err(why) => {
            context.found.not_applicable = Some(why.to_string());
            return;
        }
    };
    let with = |request: VerdictRequest| match &authorization {
        Some(value) => request.authorization(value),
        None => request,
    };
    let available = context.fetch_verdict(&with(context.verdict(&reference))).await;
    let unknown = context.fetch_verdict(&with(context.verdict(&context.reference("oracle")))).await;
    for reply in [&available, &unknown] {
        match token {
            TokenChoice::Missing => {
                context.checks(judge::exact(&answer(context.row(UNAUTHORIZED), ""), reply));
            }
            TokenChoice::Expired => {
                let expected = Expected::Status { rows: &[EXPIRED], others: &[] };
                context.checks(expected.judge(context.spec(), reply));
            }
            _ => context.check(status_of(&damage_codes(context.spec()), reply)),
        }
    }
    context.check(
        judge::same_answer(AnswerSubject::AsForAVerdict, &available, &unknown)
            .advise(Advice::TokenAfterSession),
    );
}

/// A server evaluates conditions after it has checked the request (RFC 9110 §13.2.1).
fn not_by_condition(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.no-oracle",
            "verdict.no-oracle.conditional",
            "no condition and no range is a way around the read token",
        )
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let verdict = context.fetch_verdict(&context.with_token(&reference)).await;
            context.check(status(context.spec(), AVAILABLE, &verdict));
            let mut conditions: Vec<(&str, String)> =
                CONDITIONS.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
            let own = validators(&verdict);
            let tag = own.iter().find(|(name, _)| *name == "If-None-Match");
            conditions.extend(tag.map(|(_, tag)| ("If-Match", tag.clone())));
            conditions.extend(own);
            let has_other = context.target.inputs.other_token.is_some();
            let other = has_other.then(|| context.verdict(&reference).bearer(&context.other_token()));
            let asked = [
                (Some(context.verdict(&reference)), answer(context.row(UNAUTHORIZED), "")),
                (other, answer(context.row(PENDING), &reference)),
            ];
            for (request, expected) in asked {
                let Some(request) = request else { continue };
                for (name, value) in &conditions {
                    let reply = context.fetch_verdict(&request.clone().header(name, value)).await;
                    context.found.varied += 1;
                    let checks = judge::exact(&expected, &reply);
                    let wrong = checks.iter().any(|check| !check.ok);
                    let checks = checks.into_iter().map(|check| check.of(&format!("{name}: {value}")));
                    context.checks(checks.collect());
                    // One of them says enough.
                    if wrong {
                        return;
                    }
                }
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session])
        .also(UNAUTHORIZED)
        .also(PENDING);
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
            context.check(status(context.spec(), AVAILABLE, &first));
            let second = context.fetch_verdict(&context.verdict(&reference)).await;
            context.checks(judge::exact(&answer(context.row(UNAUTHORIZED), ""), &second));
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}

fn not_shared(cases: &mut CaseList<'_, Service>) {
    let row = "statement.verdict-not-shared";
    let rules = |exchange: VerdictExchange| {
        exchange.expect(VerdictRule::NotShared).observe(VerdictObservation::Caching)
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

/// A cache that reuses an answer keeps neither an old verdict nor a pending answer alive, not even a private cache.
fn not_reused(cases: &mut CaseList<'_, Service>) {
    /// Time after which the verdict is too old (s).
    const LEFT: u64 = 20;
    let Some(limit) = cases.spec.limit("limit.verdict-age") else { return };
    cases
        .case(
            "statement.verdict-not-reused",
            "verdict.cache.lifetime",
            "no cache may reuse a pending answer, or a verdict that is too old",
        )
        .steps(steps!(async |context| {
            let age = limit.as_secs().saturating_sub(LEFT);
            let (made, longest) = if context.supports(StateNeed::Aged) {
                let aged = StateRequest::aged(context.reference("aged"), age);
                (context.made(aged).await, Duration::from_secs(LEFT))
            } else {
                (context.session().await, limit)
            };
            let Some(reference) = made else { return };
            let unknown = context.reference("unknown");
            for (asked, longest, row) in
                [(&reference, longest, AVAILABLE), (&unknown, Duration::ZERO, PENDING)]
            {
                let reply = context.fetch_verdict(&context.with_token(asked)).await;
                let received = context.wall_clock();
                context.check(status(context.spec(), row, &reply));
                context.check(judge::fresh_for(longest, &reply, received).advise(Advice::VerdictStored));
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session]);
}

/// The conditions of a client that keeps this answer: by its entity tag and its date.
pub(super) fn validators(reply: &AnswerResult) -> Vec<(&'static str, String)> {
    let value = |name: &str| {
        let value = reply.as_ref().ok()?.headers.get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let own = [("If-None-Match", value("etag")), ("If-Modified-Since", value("last-modified"))];
    own.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
