use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_reports::CaseLevel as Level;
use futures_util::future::join_all;

use super::conversation::{Conversation, collection};
use super::{CaseContext, Catalog, Need, summary};
use crate::judge::{self, Check, Expected};
use edgeproof_http::{Body, Draft};
use edgeproof_mock::{Script, When};

/// Requests at the same time in the concurrent case.
const CONCURRENT: usize = 64;

/// Conversations don't touch each other.
pub(super) fn add(cases: &mut Catalog<'_>) {
    concurrent(cases);
    in_turn(cases);
    early(cases);
    slow_beside_fast(cases);
}

fn concurrent(cases: &mut Catalog<'_>) {
    let mut plays: Vec<(String, Script, Expected)> = Vec::new();
    for number in 0..CONCURRENT {
        let marker = format!("isolated-{number:02}-");
        let reason = format!("edgeproof_{number}");
        let (script, answer) = match [None, Some(401), Some(403), Some(409)][number % 4] {
            None => (cases.accept(), cases.accepted()),
            Some(status) => (cases.refuse(status, &reason), cases.refused(status, &reason)),
        };
        plays.push((marker, script, answer));
    }
    cases
        .steps(
            "statement.isolation",
            "isolation.concurrent",
            "64 collections at the same time get each its own answer",
            move |context| {
                let plays = plays.clone();
                Box::pin(async move { all_at_once(context, &plays).await })
            },
        )
        .needs(&[Need::Service, Need::PlainReasons]);
}

async fn all_at_once(context: &mut CaseContext, plays: &[(String, Script, Expected)]) {
    let mut drafts = Vec::new();
    for (number, (marker, script, _)) in plays.iter().enumerate() {
        // Uneven sizes and delays, so that answers come back in another order than the requests went.
        let marker = format!("{marker}{}", context.marker);
        let mut script = script.clone();
        script.replies[0].delay = Duration::from_millis((number as u64 * 7) % 20);
        context.script_on(&marker, script);
        let body = format!(r#"{{"sealed":"{marker}","fill":"{}"}}"#, "f".repeat(number * 37));
        let mut draft = collection();
        draft.body = Body::Sized(body.into());
        drafts.push(context.fill(&draft));
    }
    let endpoint = context.edge.endpoint.clone();
    let sent =
        join_all(drafts.iter().map(|draft| edgeproof_http::send(&endpoint, draft, context.limit))).await;
    let mut wrong = 0;
    for ((sent, draft), (_, _, expected)) in sent.into_iter().zip(&drafts).zip(plays) {
        let checks = judge::exact(expected, &sent.reply);
        if checks.iter().all(|check| check.ok) {
            continue;
        }
        wrong += 1;
        // The first few tell what happens; 64 would hide it.
        if wrong <= 3 {
            context.record(draft, sent);
            context.checks(checks);
        }
    }
    let check = Check::new(
        "answers that are another request's",
        "0 of 64",
        format!("{wrong} of {}", plays.len()),
        wrong == 0,
    );
    context.check(check);
    let bodies: Vec<_> = context.arrivals().into_iter().map(|arrival| arrival.request.body).collect();
    let changed = drafts
        .iter()
        .filter(|draft| bodies.iter().filter(|body| body.as_ref() == draft.body.bytes()).count() != 1)
        .count();
    let check = Check::new(
        "bodies that did not arrive once as they were",
        "0 of 64",
        format!("{changed} of {}", plays.len()),
        changed == 0,
    );
    context.check(check);
}

fn in_turn(cases: &mut Catalog<'_>) {
    let (refuse, accept) = (cases.refuse(403, "edgeproof_first"), cases.accept());
    let expected = [cases.refused(403, "edgeproof_first"), cases.accepted()];
    cases
        .steps(
            "statement.isolation",
            "isolation.keep-alive",
            "two collections over one connection get each its own answer",
            move |context| {
                let (refuse, accept, expected) = (refuse.clone(), accept.clone(), expected.clone());
                Box::pin(async move {
                    let mut drafts = Vec::new();
                    for (name, script) in [("first", refuse), ("second", accept)] {
                        let marker = format!("{name}-{}", context.marker);
                        context.script_on(&marker, script);
                        let mut draft: Draft = collection();
                        draft.body = Body::Sized(format!(r#"{{"sealed":"{marker}"}}"#).into());
                        drafts.push(context.fill(&draft));
                    }
                    let endpoint = context.edge.endpoint.clone();
                    let sent = edgeproof_http::send_in_turn(&endpoint, &drafts, context.limit).await;
                    let arrivals = context.arrivals();
                    for ((sent, draft), expected) in sent.into_iter().zip(&drafts).zip(&expected) {
                        context.checks(judge::exact(expected, &sent.reply));
                        let body = draft.body.bytes();
                        let of_it = arrivals.iter().filter(|arrival| arrival.request.body == body).cloned();
                        context.checks(judge::relayed_once(body, &of_it.collect::<Vec<_>>()));
                        context.record(draft, sent);
                    }
                })
            },
        )
        .needs(&[Need::Service, Need::PlainReasons]);
}

/// The service may answer before it has read the body: a page that sends too much still learns why.
fn early(cases: &mut Catalog<'_>) {
    let (status, reason) = (413, "edgeproof_too_large");
    let mut script = cases.refuse(status, reason);
    script.replies[0].when = When::BeforeBodyEnds;
    let body = format!(r#"{{"sealed":"{}","fill":"{}"}}"#, super::MARKER, "f".repeat(512 * 1024));
    let conversation = Conversation::post(script, cases.refused(status, reason))
        .body(Body::Sized(Bytes::from(body)))
        .relayed(super::Relayed::Unjudged);
    cases
        .conversation(
            "statement.early-refusal",
            "isolation.early-413",
            "a 413 that the service gives before it has read the body comes through",
            conversation,
        )
        .level(Level::Should);
}

fn slow_beside_fast(cases: &mut Catalog<'_>) {
    let (accept, mut slow) = (cases.accept(), cases.accept());
    slow.replies[0].delay = Duration::from_millis(300);
    cases
        .steps(
            "statement.slow-beside-fast",
            "isolation.slow-beside-fast",
            "a collection that the service is slow with, beside one that it is fast with",
            move |context| {
                let (accept, slow) = (accept.clone(), slow.clone());
                Box::pin(async move {
                    let mut drafts = Vec::new();
                    for (name, script) in [("slow", slow), ("fast", accept)] {
                        let marker = format!("{name}-{}", context.marker);
                        context.script_on(&marker, script);
                        let mut draft: Draft = collection();
                        draft.body = Body::Sized(format!(r#"{{"sealed":"{marker}"}}"#).into());
                        drafts.push(context.fill(&draft));
                    }
                    let endpoint = context.edge.endpoint.clone();
                    let ends = drafts.iter().map(|draft| async {
                        let sent = edgeproof_http::send(&endpoint, draft, context.limit).await;
                        (sent, Instant::now())
                    });
                    let ends = join_all(ends).await;
                    let [(slow, slow_end), (fast, fast_end)] = &ends[..] else { return };
                    let order = if fast_end < slow_end {
                        "the fast one is not held up"
                    } else {
                        "the fast one waits for the slow one"
                    };
                    let saw = format!(
                        "{order}; {} and {}",
                        summary::status(&slow.reply),
                        summary::status(&fast.reply)
                    );
                    context.observe("isolation.slow-beside-fast", saw);
                    for ((sent, _), draft) in ends.iter().zip(&drafts) {
                        context.record(draft, sent.clone());
                    }
                })
            },
        )
        .takes(Duration::from_millis(300));
}
