use std::pin::pin;
use std::time::Duration;

use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use edgeproof_http::ReusedConnection;
use edgeproof_mock::states::StateRequest;
use edgeproof_targets::HookError;
use futures_util::future::join_all;

use super::chosen::CHOSEN;
use super::named::own_verdict;
use super::woken::{Provided, TIMEOUT, does_not_wait, is_early, judge_woken, woken};
use crate::cases::service::expected::{AVAILABLE, PENDING, answer};
use crate::cases::service::waiting::TO_BEGIN;
use crate::cases::{CaseList, Service, ServiceNeed};
use crate::judge;
use crate::states::StateNeed;

/// Row of long polls that end with their verdict.
pub(super) const ROW: &str = "statement.wait-optional";
/// A wait that no case awaits to its end (ms).
pub(super) const LONG: u64 = 25_000;
/// Number of clients that leave before the verdict.
const LEAVING: usize = 4;
/// The state into which a session comes while requests wait for it.
type Meanwhile = fn(&str) -> StateRequest;
/// Number of requests that wait for one verdict.
const MANY: usize = 8;

/// Verdicts that come during a long poll (4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    many(cases);
    decisions(cases);
    named(cases);
    too_old(cases);
    renewed(cases);
    others(cases);
    left(cases);
    after_others(cases);
    next_on_connection(cases);
}

fn many(cases: &mut CaseList<'_, Service>) {
    let pending = |reference: &str| StateRequest::pending(reference);
    let gone = |reference: &str| StateRequest::Gone { reference: reference.to_owned() };
    let states: [(_, _, Option<(StateNeed, Meanwhile)>); 3] = [
        ("many", "a verdict ends all long polls for it", None),
        (
            "many-pending",
            "a verdict ends all long polls for its session, which was known before",
            Some((StateNeed::Pending, pending)),
        ),
        (
            "many-gone",
            "a verdict ends all long polls for its session, which was gone meanwhile",
            Some((StateNeed::Gone, gone)),
        ),
    ];
    for (id, title, known) in states {
        cases
            .case(ROW, &format!("verdict.poll.{id}"), title)
            .steps(steps!(async |context| {
                let reference = context.reference("many");
                let mut states: Vec<StateRequest> =
                    known.iter().map(|(_, state)| state(&reference)).collect();
                states.push(StateRequest::verdict(&reference));
                if known.is_some() && context.chosen(StateRequest::pending(&reference)).await.is_none() {
                    return;
                }
                let references = vec![reference.clone(); MANY];
                // The session may begin anew, or end, while requests wait for it.
                for sent in woken(context, &references, LONG, &states).await {
                    judge_woken(context, &reference, &sent);
                }
            }))
            .requires(&known.map_or_else(
                || CHOSEN.to_vec(),
                |(need, _)| [needs(need), needs(StateNeed::Pending)].concat(),
            ))
            .takes(TIMEOUT)
            .also(AVAILABLE);
    }
}

/// A verdict ends a long poll whatever it decides.
fn decisions(cases: &mut CaseList<'_, Service>) {
    for (id, title, decision) in [
        ("denied", "a verdict that denies ends a long poll", Decision::Deny),
        ("review", "a verdict that asks for a review ends a long poll", Decision::Review),
    ] {
        cases
            .case(ROW, &format!("verdict.poll.{id}"), title)
            .steps(steps!(async |context| {
                let reference = context.reference(id);
                let judgement = Judgement { decision, confidence: Confidence::FULL };
                let verdict = StateRequest::judged(&reference, judgement);
                for sent in woken(context, std::slice::from_ref(&reference), LONG, &[verdict]).await {
                    judge_woken(context, &reference, &sent);
                }
            }))
            .requires(&CHOSEN)
            .takes(TIMEOUT)
            .also(AVAILABLE);
    }
}

/// A verdict ends a long poll whatever its reference looks like.
fn named(cases: &mut CaseList<'_, Service>) {
    let long = "x".repeat(100);
    for (id, title, end) in [
        (
            "verdict.wait.ends-with-verdict",
            "a long poll is answered as soon as the verdict is available",
            "poll",
        ),
        (
            "verdict.poll.encoded",
            "a verdict ends a long poll for an encoded reference",
            "gr\u{f6}\u{df}e a+b",
        ),
        ("verdict.poll.long", "a verdict ends a long poll for a long reference", long.as_str()),
    ] {
        let end = end.to_owned();
        cases
            .case(ROW, id, title)
            .steps(steps!(with(end), async |context| {
                let reference = context.reference(&end);
                for sent in woken(
                    context,
                    std::slice::from_ref(&reference),
                    LONG,
                    &[StateRequest::verdict(&reference)],
                )
                .await
                {
                    judge_woken(context, &reference, &sent);
                }
            }))
            .requires(&CHOSEN)
            .takes(TIMEOUT)
            .also(AVAILABLE);
    }
}

/// A long poll does not return a verdict that is too old.
fn too_old(cases: &mut CaseList<'_, Service>) {
    let Some(limit) = cases.spec.limit("limit.verdict-age").map(|limit| limit.as_secs()) else { return };
    cases
        .case(
            "limit.verdict-age",
            "verdict.poll.too-old",
            "a verdict that is too old ends no long poll with itself",
        )
        .steps(steps!(async |context| {
            let reference = context.reference("too-old");
            let draft = context.with_token(&reference).query("waitMs=1000").draft();
            let sending = context.begin(&draft, TIMEOUT);
            let making = async {
                context.sleep(TO_BEGIN).await;
                context.ask(&StateRequest::aged(&reference, limit + 30)).await
            };
            let (sent, made) = tokio::join!(sending, making);
            context.record(&draft, sent.clone());
            if let Err(HookError::Failed(why)) = made {
                context.found.not_run = Some(why);
                return;
            }
            context.checks(judge::exact(&answer(context.row(PENDING), &reference), &sent.reply));
        }))
        .requires(&needs(StateNeed::Aged))
        .takes(TIMEOUT)
        .also(PENDING);
}

/// The interface does not show whether a session can have a second verdict. Where it can, that one ends a long poll too.
fn renewed(cases: &mut CaseList<'_, Service>) {
    let Some(limit) = cases.spec.limit("limit.verdict-age").map(|limit| limit.as_secs()) else { return };
    cases
        .case(ROW, "verdict.poll.renewed", "a new verdict after a verdict that is too old ends a long poll")
        .steps(steps!(async |context| {
            let reference = context.reference("renewed");
            if context.chosen(StateRequest::aged(&reference, limit + 30)).await.is_none() {
                return;
            }
            let draft = context.with_token(&reference).query("waitMs=3000").draft();
            let sending = context.begin(&draft, TIMEOUT);
            let making = async {
                context.sleep(TO_BEGIN).await;
                Provided::verdict(context, &reference).await
            };
            let (sent, provided) = tokio::join!(sending, making);
            let Some(Provided { possible, there }) = provided else { return };
            context.record(&draft, sent.clone());
            if is_early(context, &sent, possible) {
                return does_not_wait(context, &reference, &sent);
            }
            let reply = context.fetch_verdict(&context.with_token(&reference)).await;
            let expected = answer(context.row(PENDING), &reference);
            if judge::exact(&expected, &reply).iter().all(|check| check.ok) {
                context.checks(judge::exact(&expected, &sent.reply));
            } else {
                judge_woken(context, &reference, &(sent, there));
            }
        }))
        .requires(&needs(StateNeed::Aged))
        .takes(TIMEOUT)
        .also(PENDING);
}

/// A verdict does not end long polls for others with itself.
fn others(cases: &mut CaseList<'_, Service>) {
    cases
        .case(PENDING, "verdict.poll.others", "a verdict is no answer to long polls for other sessions")
        .steps(steps!(async |context| {
            // Cut at a usual limit for names, they are the same.
            let long = format!("others-{}", "x".repeat(90));
            let names =
                [long.clone(), format!("{long}-2"), long[..long.len() - 1].to_owned(), long.to_uppercase()];
            let references = names.map(|name| context.reference(&name)).to_vec();
            let sent = woken(context, &references, 1500, &[StateRequest::verdict(&references[0])]).await;
            for (number, (reference, woken)) in references.iter().zip(&sent).enumerate() {
                if number == 0 {
                    judge_woken(context, reference, woken);
                } else {
                    let expected = answer(context.row(PENDING), reference);
                    context.checks(judge::exact(&expected, &woken.0.reply));
                }
            }
        }))
        .requires(&CHOSEN)
        .takes(TIMEOUT)
        .also(AVAILABLE);
}

/// A client that left disturbs nobody.
fn left(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            AVAILABLE,
            "verdict.poll.after-abort",
            "a verdict is available after clients left their long polls",
        )
        .steps(steps!(async |context| {
            let reference = context.reference("left");
            let draft = context.with_token(&reference).query(&format!("waitMs={LONG}")).draft();
            let mut staying = pin!(context.begin(&draft, TIMEOUT));
            for _ in 0..LEAVING {
                let mut leaving = pin!(context.begin(&draft, TIMEOUT));
                let early = tokio::select! {
                    sent = &mut leaving => Some(sent),
                    sent = &mut staying => Some(sent),
                    () = context.sleep(TO_BEGIN) => None,
                };
                if let Some(sent) = early {
                    context.record(&draft, sent.clone());
                    return does_not_wait(context, &reference, &sent);
                }
            }
            // These clients are gone: their connections are closed.
            context.sleep(TO_BEGIN).await;
            let (sent, provided) = tokio::join!(staying, Provided::verdict(context, &reference));
            let Some(provided) = provided else { return };
            context.record(&draft, sent.clone());
            if is_early(context, &sent, provided.possible) {
                return does_not_wait(context, &reference, &sent);
            }
            judge_woken(context, &reference, &(sent, provided.there));
            let reply = context.fetch_verdict(&context.with_token(&reference)).await;
            let checks = own_verdict(context, &reference, &reply);
            context.checks(checks);
        }))
        .requires(&CHOSEN)
        .takes(TIMEOUT)
        .also(ROW);
}

/// A poll that ends without the verdict takes it from no other one.
fn after_others(cases: &mut CaseList<'_, Service>) {
    /// Waits that end before the verdict comes (ms).
    const SHORTER: [u64; 3] = [60, 150, 300];
    const VERDICT_AFTER: Duration = Duration::from_millis(450);
    cases
        .case(ROW, "verdict.poll.after-others", "a verdict ends a long poll after shorter ones for it ended")
        .steps(steps!(async |context| {
            let reference = context.reference("after-others");
            let waits = |wait: u64| context.with_token(&reference).query(&format!("waitMs={wait}")).draft();
            let (shorter, draft) = (SHORTER.map(waits), waits(4000));
            let ending = join_all(shorter.iter().map(|draft| context.begin(draft, TIMEOUT)));
            let waiting = context.begin(&draft, TIMEOUT);
            let making = async {
                context.sleep(VERDICT_AFTER).await;
                Provided::verdict(context, &reference).await
            };
            let (ended, sent, provided) = tokio::join!(ending, waiting, making);
            for (draft, sent) in shorter.iter().zip(ended) {
                context.record(draft, sent);
            }
            context.record(&draft, sent.clone());
            let Some(Provided { possible, there }) = provided else { return };
            if is_early(context, &sent, possible) {
                return does_not_wait(context, &reference, &sent);
            }
            judge_woken(context, &reference, &(sent, there));
        }))
        .requires(&CHOSEN)
        .takes(TIMEOUT)
        .also(AVAILABLE);
}

/// The end of a wait belongs to its request: what is left of an answered one does not end the next.
fn next_on_connection(cases: &mut CaseList<'_, Service>) {
    const FIRST: u64 = 1500;
    const NEXT: u64 = 2500;
    /// A server may close an idle connection at any time.
    const IDLE_CLOSE: Duration = Duration::from_millis(200);
    cases
        .case(
            ROW,
            "verdict.poll.next",
            "a long poll after an answered one on the same connection is answered",
        )
        .steps(steps!(async |context| {
            let (reference, unknown) = (context.reference("first"), context.reference("next"));
            let asked = |reference: &str, wait| {
                context.with_token(reference).query(&format!("waitMs={wait}")).draft()
            };
            let (first, next) = (asked(&reference, FIRST), asked(&unknown, NEXT));
            let mut kept = ReusedConnection::default();
            let sent = {
                let sending = kept.send(context.service(), &first, TIMEOUT);
                let making = async {
                    context.sleep(TO_BEGIN).await;
                    context.ask(&StateRequest::verdict(&reference)).await
                };
                tokio::join!(sending, making).0
            };
            context.record(&first, sent);
            let sent = kept.send(context.service(), &next, TIMEOUT).await;
            let closed = sent.reply.is_err() && sent.took < IDLE_CLOSE;
            context.record(&next, sent.clone());
            if !closed {
                context.checks(judge::exact(&answer(context.row(PENDING), &unknown), &sent.reply));
            }
        }))
        .requires(&CHOSEN)
        .takes(TIMEOUT)
        .also(PENDING);
}

fn needs(state: StateNeed) -> Vec<ServiceNeed> {
    CHOSEN.into_iter().chain([ServiceNeed::State(state)]).collect()
}
