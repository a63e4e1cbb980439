use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, MemberChange, Wire};

use super::signature::{signed, signed_in, verdicts};
use crate::cases::{CaseList, Keys, PENDING, ServiceNeed};
use crate::judge::{self, AnswerResult, Check};
use crate::states::StateNeed;

const TIMES: &str = "keys.token-times";
const CLAIMS: &str = "keys.token-claims";
const NEEDS: [ServiceNeed; 2] = [ServiceNeed::Session, ServiceNeed::ReadToken];
/// Time that a case with several verdicts may take.
const TAKES: Duration = Duration::from_secs(5);
/// Time that a nearly old verdict has left (s).
const YOUNGER: u64 = 15;
/// Number of sessions whose reference a place has to hold, before it is taken for the reference of the session.
const ENOUGH: usize = 3;

/// Header and claims of the signed token (RFC 7515 §4, RFC 7519 §4).
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    times(cases);
    renewed(cases);
    let title = "the header of a verdict's token has each member once and no unknown extension";
    for (row, title, judge) in [
        ("keys.token-header", title, judge::token_header as fn(&str) -> Vec<Check>),
        (
            CLAIMS,
            "the claims of a verdict's token have their types and each member once",
            judge::token_claims,
        ),
    ] {
        cases
            .case(row, row, title)
            .steps(steps!(async |context| {
                let Some(verdicts) = verdicts(context).await else { return };
                context.checks(verdicts.iter().flatten().flat_map(|token| judge(token)).collect());
            }))
            .requires(&NEEDS)
            .takes(TAKES);
    }
    ids(cases);
    numbers(cases);
}

fn times(cases: &mut CaseList<'_, Keys>) {
    let title = "the times in a verdict's token are seconds, and the token has not expired";
    let limit = cases.spec.limit("limit.verdict-age").map(|limit| limit.as_secs());
    let age = limit.map(|limit| limit.saturating_sub(YOUNGER));
    cases
        .case(TIMES, "keys.token-times", title)
        .steps(steps!(async |context| {
            let Some(verdicts) = verdicts(context).await else { return };
            let now = context.wall_clock();
            let mut checks: Vec<Check> =
                verdicts.iter().flatten().flat_map(|token| judge::token_times(token, now)).collect();
            let is_right = checks.iter().all(|check| check.ok);
            if let Some(age) = age.filter(|_| is_right && context.supports(StateNeed::Aged)) {
                let aged = StateRequest::aged(context.reference("nearly-old"), age);
                let Some(reference) = context.made(aged).await else { return };
                let Some(tokens) = signed(context, &reference).await else { return };
                // A token of now shows the service's clock.
                let pairs = tokens.iter().zip(verdicts.iter().flatten());
                let aged = pairs.filter_map(|(token, of_now)| judge::outlives(token, of_now));
                checks.extend(aged.map(|check| check.of("a verdict near its age limit")));
            }
            if checks.is_empty() {
                context.found.not_applicable = Some("the verdict's token has no times".into());
            }
            context.checks(checks);
        }))
        .requires(&NEEDS)
        .takes(TAKES);
    let title = "a verdict's token has begun when the service sends it";
    cases
        .case(TIMES, "keys.token-begun", title)
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let verdict = context.fetch_verdict(&context.with_token(&reference)).await;
            let Some(tokens) = signed_in(context, &verdict) else { return };
            // Some services move the clock of their tokens, and others that of their verdicts only.
            let sent = date(&verdict).map(|date| date + context.moved());
            let checks: Vec<Check> = sent
                .iter()
                .flat_map(|sent| tokens.iter().filter_map(|token| judge::token_begun(token, *sent)))
                .collect();
            if checks.is_empty() {
                context.found.not_applicable =
                    Some("requires the claims iat and nbf in the token, and the header Date".into());
            }
            context.checks(checks);
        }))
        .requires(&NEEDS);
}

/// The time of an answer by the service's clock.
fn date(reply: &AnswerResult) -> Option<SystemTime> {
    httpdate::parse_http_date(reply.as_ref().ok()?.headers.get("date")?.to_str().ok()?).ok()
}

/// A later verdict for a session has a token of its own: that of the earlier one has expired.
fn renewed(cases: &mut CaseList<'_, Keys>) {
    let Some(limit) = cases.spec.limit("limit.verdict-age") else { return };
    cases
        .case(TIMES, "keys.token-renewed", "the token of a second verdict for a session has not expired")
        .steps(steps!(async |context| {
            let asked = context.reference("renewed");
            let Some(reference) = context.made(StateRequest::verdict(asked)).await else { return };
            let Some(first) = signed(context, &reference).await else { return };
            if context.provide(StateRequest::Later { seconds: limit.as_secs() + 5 }).await.is_none()
                || context.made(StateRequest::verdict(&reference)).await.is_none()
            {
                return;
            }
            let second = context.fetch_verdict(&context.with_token(&reference)).await;
            // The interface does not show whether a session can have a second verdict.
            if context.has_status(PENDING, &second) {
                context.found.not_applicable = Some("a session has one verdict".into());
                return;
            }
            let Some(second) = signed_in(context, &second) else { return };
            // Another session shows what time a new token has.
            let other = context.reference("other");
            let Some(other) = context.made(StateRequest::verdict(other)).await else { return };
            let Some(other) = signed(context, &other).await else { return };
            let checks = second.iter().zip(&other);
            context.checks(checks.filter_map(|(token, other)| judge::outlives(token, other)).collect());
            let ids = first.iter().zip(&second);
            let ids = ids.filter_map(|(first, second)| judge::distinct_tokens(first, second));
            context.checks(ids.map(|check| check.at(CaseLevel::Should)).collect());
        }))
        .requires(&[
            NEEDS[0],
            NEEDS[1],
            ServiceNeed::State(StateNeed::Verdict),
            ServiceNeed::State(StateNeed::Later),
        ])
        .exclusive();
}

fn ids(cases: &mut CaseList<'_, Keys>) {
    cases
        .case("keys.token-id", "keys.token-id", "the tokens of different sessions have different ids")
        .steps(steps!(async |context| {
            let Some(verdicts) = verdicts(context).await else { return };
            let mut checks = Vec::new();
            for (number, tokens) in verdicts.iter().enumerate() {
                let earlier = verdicts[..number].iter();
                let pairs = earlier.flat_map(|earlier| earlier.iter().zip(tokens));
                checks.extend(pairs.filter_map(|(first, second)| judge::distinct_tokens(first, second)));
            }
            if checks.is_empty() {
                context.found.not_applicable = Some("the verdicts have no tokens with different ids".into());
            }
            context.checks(checks);
        }))
        .requires(&[NEEDS[0], NEEDS[1], ServiceNeed::State(StateNeed::Verdict)])
        .takes(TAKES);
}

/// A reference that looks like a number is a text, in the token as well.
fn numbers(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            CLAIMS,
            "keys.token-claims.numbers",
            "the token of a session named like a number has texts for texts",
        )
        .steps(steps!(async |context| {
            let unique = context.reference("").into_bytes();
            let digits: String =
                unique.iter().rev().take(20).map(|byte| char::from(b'0' + byte % 10)).collect();
            let plain = ["a", "b", "c"].map(|name| context.reference(name));
            let numbers = [
                format!("00{digits}"),
                format!("1{digits}e3"),
                format!("-1{digits}.50"),
                format!("0x1{digits}"),
            ];
            let mut verdicts = Vec::new();
            for asked in plain.iter().chain(&numbers) {
                let Some(made) = context.made(StateRequest::verdict(asked)).await else { return };
                let verdict = context.fetch_verdict(&context.with_token(&made)).await;
                let Some(tokens) = signed_in(context, &verdict) else { return };
                context.checks(tokens.iter().flat_map(|token| judge::token_claims(token)).collect());
                let body = verdict.map(|answer| answer.body).unwrap_or_default();
                verdicts.push((made, judge::texts(&body)));
            }
            context.checks(named(&verdicts));
        }))
        .requires(&[
            NEEDS[0],
            NEEDS[1],
            ServiceNeed::State(StateNeed::Verdict),
            ServiceNeed::State(StateNeed::ChosenReference),
        ])
        .takes(TAKES);
}

/// A place that names the session in several verdicts names it in each. The interface shows no such place.
fn named(verdicts: &[(String, Vec<(String, String)>)]) -> Vec<Check> {
    let mut sessions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (reference, texts) in verdicts {
        for (place, _) in texts.iter().filter(|(_, text)| text == reference) {
            sessions.entry(place).or_default().insert(reference);
        }
    }
    let places: Vec<&str> =
        sessions.into_iter().filter(|(_, all)| all.len() >= ENOUGH).map(|(place, _)| place).collect();
    let check = |reference: &str, texts: &[(String, String)], place: &str| {
        let ok = texts.iter().any(|(other, text)| other == place && text == reference);
        let (path, expected) = (place.to_owned(), Some(Wire::from(reference)));
        let kind = DifferenceKind::Member {
            token: None,
            path,
            change: MemberChange::AnotherType,
            expected,
            actual: None,
        };
        Check::judged(kind, ok).at(CaseLevel::Should)
    };
    let each = verdicts.iter();
    each.flat_map(|(reference, texts)| places.iter().map(move |place| check(reference, texts, place)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(reference: &str, body: &str) -> (String, Vec<(String, String)>) {
        (reference.to_owned(), judge::texts(body.as_bytes()))
    }

    #[test]
    fn place_of_the_reference_holds_each_reference_as_a_text() {
        let plain = ["a", "b", "c"].map(|name| verdict(name, &format!(r#"{{"ref":"{name}","id":"x"}}"#)));
        let is_named = |body: &str| {
            let verdicts: Vec<_> = plain.iter().cloned().chain([verdict("007", body)]).collect();
            named(&verdicts).iter().all(|check| check.ok)
        };
        assert!(is_named(r#"{"ref":"007"}"#));
        assert!(!is_named(r#"{"ref":7}"#));
        assert!(!is_named(r#"{"ref":"7"}"#));
    }
}
