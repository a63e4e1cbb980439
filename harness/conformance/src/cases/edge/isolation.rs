use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted};
use futures_util::future::join_all;

use crate::cases::{
    CaseList, Conversation, Edge, EdgeCaseContext, EdgeNeed, ExpectedRelay, MARKER, collection, summary,
};
use crate::judge::{self, AnswerResult, Check, ExpectedAnswer, RelayedRequests};
use edgeproof_http::{Body, ChunkExtras, Draft};
use edgeproof_mock::{Script, When};

/// Time that a slow edge takes for each request, if it serves one after the other.
const EACH: Duration = Duration::from_millis(60);
/// Concurrent requests in the concurrent case.
const CONCURRENT: usize = 130;
/// Length of a chunk (bytes).
const CHUNK: usize = 16;

/// Requests do not affect each other.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    concurrent(cases);
    in_turn(cases);
    early(cases);
    slow_beside_fast(cases);
}

fn concurrent(cases: &mut CaseList<'_, Edge>) {
    let mut plays: Vec<(String, Script, ExpectedAnswer)> = Vec::new();
    let statuses = cases.refusal_statuses();
    for number in 0..CONCURRENT {
        let marker = format!("isolated-{number:03}-");
        let reason = reason(number);
        // Every status of the tables and an acceptance take turns.
        let (script, answer) = match statuses.get(number % (statuses.len() + 1)) {
            None => (cases.accept(), cases.accepted()),
            Some(status) => (cases.refuse(*status, &reason), cases.refused(*status, &reason)),
        };
        plays.push((marker, script, answer));
    }
    cases
        .case(
            "statement.isolation",
            "isolation.concurrent",
            "130 concurrent collections each get their own answer",
        )
        .steps(steps!(with(plays), async |context| { all_at_once(context, &plays).await }))
        .takes(EACH * CONCURRENT as u32)
        .requires(&[EdgeNeed::Service, EdgeNeed::PlainReasons]);
}

async fn all_at_once(context: &mut EdgeCaseContext, plays: &[(String, Script, ExpectedAnswer)]) {
    let mut drafts = Vec::new();
    for (number, (marker, script, _)) in plays.iter().enumerate() {
        // Uneven sizes and delays change the order of the answers.
        let marker = format!("{marker}{}", context.marker);
        let mut script = script.clone();
        script.replies[0].delay = Duration::from_millis((number as u64 * 7) % 20);
        context.script_on(&marker, script);
        let body = format!(r#"{{"sealed":"{marker}","fill":"{}"}}"#, "f".repeat(number * 37));
        let mut draft = collection();
        draft.body = Body::Sized(body.into());
        drafts.push(context.fill(&draft));
    }
    let limit = context.timeout + EACH * CONCURRENT as u32;
    let sent = join_all(drafts.iter().map(|draft| context.exchange_until(draft, limit))).await;
    let (mut wrong, mut foreign) = (0, 0);
    for (number, ((sent, draft), (_, _, expected))) in sent.into_iter().zip(&drafts).zip(plays).enumerate() {
        let checks = judge::exact(expected, &sent.reply);
        if checks.iter().all(|check| check.ok) {
            continue;
        }
        wrong += 1;
        foreign += usize::from(is_of_another(number, &sent.reply));
        // Three examples are enough for a report.
        if wrong <= 3 {
            context.record(draft, sent);
            context.checks(checks);
        }
    }
    context.check(wrong_answers(wrong, foreign, plays.len()));
    let arrivals = context.relayed().await.complete.into_iter();
    let bodies: Vec<_> = arrivals.map(|arrival| arrival.request.body).collect();
    let changed = drafts
        .iter()
        .filter(|draft| bodies.iter().filter(|body| body.as_ref() == draft.body.bytes()).count() != 1)
        .count();
    let changed_bodies = Count::new(Counted::ChangedBodies, 0, changed).of(plays.len());
    context.check(Check::judged(changed_bodies, changed == 0));
}

/// The reason in the answer to the request with this number. No other answer has it.
fn reason(number: usize) -> String {
    format!("edgeproof_{number}")
}

/// Whether the answer to a request has the reason of another one.
fn is_of_another(number: usize, reply: &AnswerResult) -> bool {
    let Ok(answer) = reply else { return false };
    let body = String::from_utf8_lossy(&answer.body);
    (0..CONCURRENT).any(|other| other != number && judge::has_word(&body, &reason(other)))
}

/// The check that counts wrong answers, and those of them that belong to another request.
fn wrong_answers(wrong: usize, foreign: usize, all: usize) -> Check {
    let count = Count::new(Counted::WrongAnswers, 0, wrong).of(all).part(foreign);
    let check = Check::judged(count, wrong == 0);
    if foreign == 0 { check } else { check.advise(Advice::AnswersMixed) }
}

fn in_turn(cases: &mut CaseList<'_, Edge>) {
    let trailers = ChunkExtras { extension: true, trailer: true };
    // Browsers send no trailer fields, and some stacks read none.
    for (id, title, chunks, level) in [
        (
            "isolation.keep-alive",
            "two collections over one connection each get their own answer",
            None,
            CaseLevel::Must,
        ),
        (
            "isolation.trailers",
            "a collection in chunks with trailer fields leaves nothing to the next one on its connection",
            Some(trailers),
            CaseLevel::Should,
        ),
    ] {
        let (refuse, accept) = (cases.refuse(403, "edgeproof_first"), cases.accept());
        let expected = [cases.refused(403, "edgeproof_first"), cases.accepted()];
        cases
            .case("statement.isolation", id, title)
            .steps(steps!(with(refuse, accept, expected), async |context| {
                let mut drafts = [("first", refuse), ("second", accept)]
                    .map(|(name, script)| scripted(context, name, script));
                if let Some(chunks) = chunks {
                    let body = Bytes::copy_from_slice(drafts[0].body.bytes());
                    drafts[0].body = Body::Chunked(body, CHUNK);
                    drafts[0].form.chunks = chunks;
                }
                let sent = context.exchange_in_turn(&drafts).await;
                let arrivals = context.relayed().await.complete;
                for ((sent, draft), expected) in sent.into_iter().zip(&drafts).zip(&expected) {
                    context.record(draft, sent.clone());
                    context.checks(judge::exact(expected, &sent.reply));
                    let body = draft.body.bytes();
                    let of_it = arrivals.iter().filter(|arrival| arrival.request.body == body).cloned();
                    let relayed = RelayedRequests::new(of_it.collect());
                    context.checks(judge::relayed_once(body, &relayed, &sent.reply, level));
                }
            }))
            .level(level)
            .requires(&[EdgeNeed::Service, EdgeNeed::PlainReasons]);
    }
}

/// A collection with a marker of its own, to which the service replies by `script`.
pub(super) fn scripted(context: &mut EdgeCaseContext, name: &str, script: Script) -> Draft {
    let marker = format!("{name}-{}", context.marker);
    context.script_on(&marker, script);
    let mut draft = collection();
    draft.body = Body::Sized(format!(r#"{{"sealed":"{marker}"}}"#).into());
    context.fill(&draft)
}

/// The service can refuse a large body before it has read it. The page still gets the reason.
fn early(cases: &mut CaseList<'_, Edge>) {
    let (status, reason) = (413, "edgeproof_too_large");
    let mut script = cases.refuse(status, reason);
    script.replies[0].when = When::BeforeBodyEnds;
    let body = format!(r#"{{"sealed":"{}","fill":"{}"}}"#, MARKER, "f".repeat(512 * 1024));
    let conversation = Conversation::post(script, cases.refused(status, reason))
        .body(Body::Sized(Bytes::from(body)))
        .relay(ExpectedRelay::Any);
    cases
        .case(
            "statement.early-refusal",
            "isolation.early-413",
            "the edge passes on a 413 that the service sends before it has read the body",
        )
        .conversation(conversation)
        .level(CaseLevel::Should);
}

fn slow_beside_fast(cases: &mut CaseList<'_, Edge>) {
    let (accept, mut slow) = (cases.accept(), cases.accept());
    slow.replies[0].delay = Duration::from_millis(300);
    cases
        .case(
            "statement.slow-beside-fast",
            "isolation.slow-beside-fast",
            "the answers to a slow and a fast collection at the same time",
        )
        .steps(steps!(with(accept, slow), async |context| {
            let drafts =
                [("slow", slow), ("fast", accept)].map(|(name, script)| scripted(context, name, script));
            let exchanges: &EdgeCaseContext = context;
            let ends = drafts.iter().map(|draft| async move {
                let sent = exchanges.exchange(draft).await;
                (sent, exchanges.now())
            });
            let ends = join_all(ends).await;
            let [(slow, slow_end), (fast, fast_end)] = &ends[..] else { return };
            let order = if fast_end < slow_end {
                "the fast one is not held up"
            } else {
                "the fast one waits for the slow one"
            };
            let observed =
                format!("{order}; {} and {}", summary::status(&slow.reply), summary::status(&fast.reply));
            context.observe("isolation.slow-beside-fast", observed);
            for ((sent, _), draft) in ends.iter().zip(&drafts) {
                context.record(draft, sent.clone());
            }
        }))
        .observes(["isolation.slow-beside-fast"])
        .takes(Duration::from_millis(300));
}

#[cfg(test)]
mod tests {
    use edgeproof_http::Answer;
    use http::{HeaderMap, Version};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::own(1, r#"{"reason":"edgeproof_1"}"#, false)]
    #[case::merely_wrong(1, r#"{"reason":"unknown"}"#, false)]
    #[case::part_of_a_word(12, r#"{"reason":"edgeproof_12"}"#, false)]
    #[case::of_another(1, r#"{"reason":"edgeproof_12"}"#, true)]
    fn only_the_reason_of_another_request_shows_a_swap(
        #[case] number: usize,
        #[case] body: &'static str,
        #[case] swapped: bool,
    ) {
        let (headers, body) = (HeaderMap::new(), Bytes::from_static(body.as_bytes()));
        let answer = Answer { status: 403, version: Version::HTTP_11, headers, body, complete: true };
        assert_eq!(is_of_another(number, &Ok(answer)), swapped);
    }

    #[rstest]
    #[case::right(0, 0, "0 of 64")]
    #[case::merely_wrong(54, 0, "54 of 64")]
    #[case::one_swapped(54, 1, "54 of 64, 1 of them with the reason of another request")]
    #[case::swapped(54, 3, "54 of 64, 3 of them with the reason of another request")]
    fn wrong_answers_are_not_called_swapped(
        #[case] wrong: usize,
        #[case] foreign: usize,
        #[case] text: &str,
    ) {
        let check = wrong_answers(wrong, foreign, 64);
        assert_eq!((check.actual.as_str(), check.ok), (text, wrong == 0));
    }
}
