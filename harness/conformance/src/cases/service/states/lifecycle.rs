use std::time::Duration;

use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use edgeproof_http::{ReusedConnection, Sent};
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::Hop;
use futures_util::future::join_all;

use super::chosen::CHOSEN;
use super::named::own_verdict;
use crate::cases::service::expected::{AVAILABLE, PENDING, answer, status};
use crate::cases::service::secrecy::validators;
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult};
use crate::states::StateNeed;

/// Number of connections that ask at each time: replicas and caches may answer differently.
const CONNECTIONS: usize = 3;
/// Number of sessions that are made in a row.
const SESSIONS: usize = 150;
/// Number of verdicts of them that are read.
const READ: usize = 15;
/// Time that a case with verdicts of many ages may take.
const AGES_TAKE: Duration = Duration::from_secs(120);
/// Ages of verdicts (s).
const HOUR: u64 = 3600;
/// The highest one: a service need not keep it.
const DAY: u64 = 86_400;
/// Number of requests to the hook at the same time.
const AT_ONCE: usize = 8;

/// The life of a session: without a verdict, with one, with an old one, with another one, gone.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let limit = cases.spec.limit("limit.verdict-age").map(|limit| limit.as_secs());
    comes(cases);
    gone(cases);
    many(cases);
    asked_often(cases);
    revalidated(cases);
    if let Some(seconds) = limit {
        ages(cases, seconds);
        renewed(cases, seconds);
        later(cases, seconds);
    }
}

pub(super) fn needs(states: &[StateNeed]) -> Vec<ServiceNeed> {
    CHOSEN.into_iter().chain(states.iter().map(|state| ServiceNeed::State(*state))).collect()
}

fn comes(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            AVAILABLE,
            "verdict.life.comes",
            "a session that was pending has its verdict on every connection",
        )
        .steps(steps!(async |context| {
            let mut kept = ReusedConnection::default();
            let reference = context.reference("comes");
            pending(context, &mut kept, &reference).await;
            if context.chosen(StateRequest::pending(&reference)).await.is_none() {
                return;
            }
            pending(context, &mut kept, &reference).await;
            if context.chosen(StateRequest::verdict(&reference)).await.is_some() {
                available(context, &mut kept, &reference).await;
            }
        }))
        .requires(&needs(&[StateNeed::Pending]))
        .also(PENDING);
}

fn gone(cases: &mut CaseList<'_, Service>) {
    cases
        .case(PENDING, "verdict.life.gone", "a session that is gone is pending on every connection")
        .steps(steps!(async |context| {
            let mut kept = ReusedConnection::default();
            let reference = context.reference("gone");
            if context.chosen(StateRequest::verdict(&reference)).await.is_none() {
                return;
            }
            available(context, &mut kept, &reference).await;
            if context.provide(StateRequest::Gone { reference: reference.clone() }).await.is_none() {
                return;
            }
            pending(context, &mut kept, &reference).await;
            // The same reference can be used again.
            if context.chosen(StateRequest::verdict(&reference)).await.is_some() {
                available(context, &mut kept, &reference).await;
            }
        }))
        .requires(&needs(&[StateNeed::Gone]))
        .also(AVAILABLE);
}

/// A service keeps the verdicts of many sessions.
fn many(cases: &mut CaseList<'_, Service>) {
    cases
        .case(AVAILABLE, "verdict.life.many", "verdicts are available when many sessions came after them")
        .steps(steps!(async |context| {
            let asked: Vec<String> =
                (0..SESSIONS).map(|number| context.reference(&format!("many-{number}"))).collect();
            let mut references = Vec::new();
            for some in asked.chunks(AT_ONCE) {
                let requests = some.iter().map(StateRequest::verdict).collect::<Vec<_>>();
                let replies = join_all(requests.iter().map(|request| context.ask(request))).await;
                for (reference, reply) in some.iter().zip(replies) {
                    match reply {
                        Ok(reply) => references.push(reply.reference.unwrap_or_else(|| reference.clone())),
                        Err(why) => return context.found.not_run = Some(why.to_string()),
                    }
                }
            }
            for reference in references.iter().step_by(SESSIONS / READ) {
                let reply = context.fetch_verdict(&context.with_token(reference)).await;
                let checks = own_verdict(context, reference, &reply);
                context.checks(checks);
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::Verdict)])
        .takes(Duration::from_secs(30));
}

/// A service that remembers pending answers, or counts them, returns the verdict all the same.
fn asked_often(cases: &mut CaseList<'_, Service>) {
    const TIMES: usize = 40;
    cases
        .case(
            AVAILABLE,
            "verdict.life.asked-often",
            "a verdict is available at once after many requests for it were pending",
        )
        .steps(steps!(async |context| {
            let mut kept = ReusedConnection::default();
            let reference = context.reference("asked-often");
            let draft = context.with_token(&reference).draft();
            for _ in 0..TIMES {
                let sent = context.send_kept(&mut kept, &draft).await;
                let reply = sent.reply.clone();
                context.trace(Hop::ClientService, &draft, sent);
                if is_limited(context, &reply) {
                    return;
                }
                let checks = judge::exact(&answer(context.row(PENDING), &reference), &reply);
                let wrong = checks.iter().any(|check| !check.ok);
                context.checks(checks);
                if wrong {
                    return;
                }
            }
            if context.chosen(StateRequest::verdict(&reference)).await.is_some() {
                available(context, &mut kept, &reference).await;
            }
        }))
        .requires(&CHOSEN)
        .also(PENDING);
}

/// A client that revalidates a verdict learns of the next one (RFC 9110 §13.1.2).
fn revalidated(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            AVAILABLE,
            "verdict.life.revalidated",
            "the entity tag of a verdict is not that of the next one",
        )
        .steps(steps!(async |context| {
            let reference = context.reference("revalidated");
            let judged = |decision| {
                StateRequest::judged(&reference, Judgement { decision, confidence: Confidence::FULL })
            };
            if context.chosen(judged(Decision::Allow)).await.is_none() {
                return;
            }
            let first = context.fetch_verdict(&context.with_token(&reference)).await;
            let checks = own_verdict(context, &reference, &first);
            context.checks(checks);
            let tag = first.as_ref().ok().and_then(|answer| answer.headers.get("etag"));
            let tag = tag.and_then(|tag| tag.to_str().ok()).unwrap_or("\"edgeproof\"").to_owned();
            if context.chosen(judged(Decision::Deny)).await.is_none() {
                return;
            }
            let second = context.fetch_verdict(&context.with_token(&reference)).await;
            let conditional = context.with_token(&reference).header("If-None-Match", &tag);
            let reply = context.fetch_verdict(&conditional).await;
            let body = |reply: &AnswerResult| reply.as_ref().ok().map(|answer| answer.body.clone());
            if body(&first) != body(&second) {
                context.check(status(context.spec(), AVAILABLE, &reply));
            }
        }))
        .requires(&CHOSEN);
}

fn ages(cases: &mut CaseList<'_, Service>, limit: u64) {
    cases
        .case(
            "limit.verdict-age",
            "verdict.life.ages",
            "a verdict is available until its age limit, and not beyond",
        )
        .steps(steps!(async |context| {
            let mut kept = ReusedConnection::default();
            let half = Confidence::hundredths(50).unwrap_or(Confidence::FULL);
            for (decision, confidence) in [
                (Decision::Allow, Confidence::FULL),
                (Decision::Deny, Confidence::FULL),
                (Decision::Review, half),
                (Decision::Deny, Confidence::hundredths(0).unwrap_or(half)),
            ] {
                // At an hour and at a day, a service that compares a part of the time finds zero.
                let ages = [0, limit / 2, limit + 1, HOUR].map(|age| (age, age < limit));
                for (age, is_available) in ages {
                    let reference = context.reference(&format!("ages-{age}"));
                    let judged = StateRequest::judged(&reference, Judgement { decision, confidence });
                    if context.chosen(judged.of_age(age)).await.is_none() {
                        return;
                    }
                    if is_available {
                        available(context, &mut kept, &reference).await;
                    } else {
                        pending(context, &mut kept, &reference).await;
                    }
                }
            }
            until_the_limit(context, limit).await;
            let reference = context.reference("ages-a-day");
            // A store may have no verdict of that time.
            if limit < DAY && context.ask(&StateRequest::aged(&reference, DAY)).await.is_ok() {
                pending(context, &mut kept, &reference).await;
            }
        }))
        .requires(&needs(&[StateNeed::Aged]))
        .takes(AGES_TAKE)
        .also(PENDING)
        .also(AVAILABLE);
}

/// A verdict is available until its limit, wherever it is asked for: clocks of a service that differ shorten its life.
async fn until_the_limit(context: &mut ServiceCaseContext, limit: u64) {
    const BEFORE: u64 = 2;
    const TIMES: usize = 6;
    let reference = context.reference("until-the-limit");
    let asked = context.now();
    if context.chosen(StateRequest::aged(&reference, limit.saturating_sub(BEFORE))).await.is_none() {
        return;
    }
    for _ in 0..TIMES {
        let reply = context.fetch_verdict(&context.with_token(&reference)).await;
        // Now it may be too old.
        if context.now() > asked + Duration::from_secs(BEFORE - 1) {
            return;
        }
        let checks = own_verdict(context, &reference, &reply);
        context.checks(checks);
    }
}

/// The interface does not show whether a session can have a second verdict.
fn renewed(cases: &mut CaseList<'_, Service>, limit: u64) {
    cases
        .case(
            AVAILABLE,
            "verdict.life.renewed",
            "a new verdict after an old one is the same on every connection",
        )
        .steps(steps!(async |context| {
            let mut kept = ReusedConnection::default();
            let reference = context.reference("renewed");
            if context.chosen(StateRequest::aged(&reference, limit + 1)).await.is_none() {
                return;
            }
            pending(context, &mut kept, &reference).await;
            if context.chosen(StateRequest::verdict(&reference)).await.is_none() {
                return;
            }
            let reply = context.fetch_verdict(&context.with_token(&reference)).await;
            if context.has_status(AVAILABLE, &reply) {
                context.observe_case("available");
                available(context, &mut kept, &reference).await;
            } else {
                context.observe_case("pending");
                pending(context, &mut kept, &reference).await;
            }
        }))
        .observes_itself()
        .requires(&needs(&[StateNeed::Aged]))
        .also(PENDING);
}

fn later(cases: &mut CaseList<'_, Service>, limit: u64) {
    cases
        .case("limit.verdict-age", "verdict.life.later", "a verdict is no longer available after two minutes")
        .steps(steps!(async |context| {
            let mut kept = ReusedConnection::default();
            let Some(reference) = context.made(StateRequest::verdict(context.reference("later"))).await
            else {
                return;
            };
            available(context, &mut kept, &reference).await;
            let verdict = context.fetch_verdict(&context.with_token(&reference)).await;
            // A precondition counts only where the answer without it is a success (RFC 9110 §13.2.1).
            let conditions = validators(&verdict).into_iter().chain([("If-None-Match", "*".to_owned())]);
            if context.provide(StateRequest::Later { seconds: limit.saturating_sub(30) }).await.is_none() {
                return;
            }
            available(context, &mut kept, &reference).await;
            if context.provide(StateRequest::Later { seconds: 31 }).await.is_none() {
                return;
            }
            pending(context, &mut kept, &reference).await;
            for (name, value) in conditions {
                let request = context.with_token(&reference).header(name, &value);
                let reply = context.fetch_verdict(&request).await;
                let checks = judge::exact(&answer(context.row(PENDING), &reference), &reply).into_iter();
                context.checks(checks.map(|check| check.of(&format!("{name}: {value}"))).collect());
            }
            if !context.supports(StateNeed::Aged) {
                return;
            }
            // The age counts from the verdict, and not from its first request.
            let aged = StateRequest::aged(context.reference("read-late"), limit.saturating_sub(30));
            let Some(reference) = context.made(aged).await else { return };
            available(context, &mut kept, &reference).await;
            if context.provide(StateRequest::Later { seconds: 31 }).await.is_some() {
                pending(context, &mut kept, &reference).await;
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::Later)])
        .exclusive()
        .also(PENDING)
        .also(AVAILABLE);
}

/// Whether a limit for requests, which the interface does not show, refuses this one. The case then says so.
pub(super) fn is_limited(context: &mut ServiceCaseContext, reply: &AnswerResult) -> bool {
    let limited = reply.as_ref().is_ok_and(|answer| answer.status == 429);
    if limited && context.found.checks.iter().all(|check| check.ok) {
        context.found.not_applicable = Some("the service limits the rate of requests".into());
    }
    limited
}

/// Each connection gets a verdict.
pub(super) async fn available(
    context: &mut ServiceCaseContext,
    kept: &mut ReusedConnection,
    reference: &str,
) {
    for sent in everywhere(context, kept, reference).await {
        let checks = own_verdict(context, reference, &sent.reply);
        context.checks(checks);
    }
}

/// Each connection gets the pending answer.
pub(super) async fn pending(context: &mut ServiceCaseContext, kept: &mut ReusedConnection, reference: &str) {
    for sent in everywhere(context, kept, reference).await {
        let checks = judge::exact(&answer(context.row(PENDING), reference), &sent.reply);
        context.checks(checks);
    }
}

/// Answers over several connections at once, one of them to a long poll, and then over a connection of earlier requests.
async fn everywhere(
    context: &mut ServiceCaseContext,
    kept: &mut ReusedConnection,
    reference: &str,
) -> Vec<Sent> {
    let plain = context.with_token(reference).draft();
    let polling = context.with_token(reference).query("waitMs=150").draft();
    let mut drafts = vec![plain.clone(); CONNECTIONS];
    drafts.push(polling);
    let sending = drafts.iter().map(|draft| context.begin(draft, context.timeout));
    let mut all = join_all(sending).await;
    drafts.push(plain.clone());
    all.push(context.send_kept(kept, &plain).await);
    for (draft, sent) in drafts.iter().zip(&all) {
        context.record(draft, sent.clone());
    }
    all
}
