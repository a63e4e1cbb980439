use std::time::Duration;

use edgeproof_http::{Body, NoAnswer, Sent};
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;
use futures_util::future::join_all;

use crate::cases::edge::isolation::scripted;
use crate::cases::{CaseList, Edge, EdgeCaseContext, EdgeNeed};
use crate::judge::{self, AnswerResult, Check, ExpectedAnswer, RelayedRequests};

/// Delay of replies in a default run.
const DELAYS: [Duration; 1] = [Duration::from_millis(200)];
/// Delays of replies in a thorough run: HTTP clients and servers give up after 5, 10 or 30 s, or later.
const THOROUGH_DELAYS: [Duration; 6] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(6),
    Duration::from_secs(11),
    Duration::from_secs(30),
];
/// Delay from which another wrong answer than an acceptance breaks a `should` only.
const UNUSUAL: Duration = Duration::from_secs(5);
/// Parts of a slow upload, and the pause before each.
const PARTS: (usize, Duration) = (32, Duration::from_millis(250));
const REASON: &str = "edgeproof_late";

/// A collection whose exchange takes time.
#[derive(Debug, Clone)]
struct SlowExchange {
    name: String,
    script: Script,
    expected: ExpectedAnswer,
    /// Time that the service takes to reply, or the page to upload.
    takes: Duration,
    uploads_slowly: bool,
}

/// A service that replies late, and pages that upload slowly.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    let mut exchanges = Vec::new();
    for delay in if cases.thorough { &THOROUGH_DELAYS[..] } else { &DELAYS } {
        for (outcome, mut script, expected) in [
            ("acceptance", cases.accept(), cases.accepted()),
            ("refusal", cases.refuse(403, REASON), cases.refused(403, REASON)),
        ] {
            script.replies[0].delay = *delay;
            let name = format!("the {outcome} after {}", humantime::format_duration(*delay));
            exchanges.push(SlowExchange { name, script, expected, takes: *delay, uploads_slowly: false });
        }
    }
    if cases.thorough {
        let takes = PARTS.1 * PARTS.0 as u32;
        exchanges.push(SlowExchange {
            name: format!("the upload of {}", humantime::format_duration(takes)),
            script: cases.accept(),
            expected: cases.accepted(),
            takes,
            uploads_slowly: true,
        });
    }
    let unreachable = cases.answer("edge.502.service-unreachable", None);
    let read_failed = cases.answer("edge.400.read-failed", None);
    // An edge may relay one collection after the other.
    let takes = exchanges.iter().map(|exchange| exchange.takes).sum();
    cases
        .case(
            "statement.late-reply-told-truth",
            "service.late",
            "a late reply of the service reaches the page as it is, or as service_unreachable",
        )
        .steps(steps!(with(exchanges, unreachable, read_failed), async |context| {
            all_at_once(context, &exchanges, [&unreachable, &read_failed], takes).await;
        }))
        .takes(takes)
        .also("statement.slow-service")
        .requires(&[EdgeNeed::Service, EdgeNeed::PlainReasons])
        .exclusive();
}

async fn all_at_once(
    context: &mut EdgeCaseContext,
    exchanges: &[SlowExchange],
    [unreachable, read_failed]: [&ExpectedAnswer; 2],
    takes: Duration,
) {
    let mut drafts = Vec::new();
    for (number, exchange) in exchanges.iter().enumerate() {
        let mut draft = scripted(context, &format!("late-{number}"), exchange.script.clone());
        if exchange.uploads_slowly
            && let Body::Sized(body) = draft.body
        {
            // White space may follow the JSON. Each part has a byte at least.
            let padding = PARTS.0 - body.len() % PARTS.0;
            let body = [&body[..], &vec![b' '; padding]].concat();
            draft.body = Body::Slow(body.into(), PARTS.0, PARTS.1);
        }
        drafts.push(draft);
    }
    let (began, limit) = (context.now(), context.timeout + takes);
    let sent = join_all(drafts.iter().map(|draft| context.exchange_until(draft, limit))).await;
    // The service records a request when it has replied, also if the edge has given up before.
    let longest = exchanges.iter().map(|exchange| exchange.takes).max().unwrap_or_default();
    context.sleep(longest.saturating_sub(began.elapsed())).await;
    let arrivals = context.relayed().await.complete;
    for ((exchange, draft), sent) in exchanges.iter().zip(&drafts).zip(sent) {
        let body = draft.body.bytes();
        let of_it = arrivals.iter().filter(|arrival| arrival.request.body == body).cloned();
        let relayed = RelayedRequests::new(of_it.collect());
        let mut checks = exchange.judge(&sent, unreachable);
        match &sent.reply {
            reply if exchange.uploads_slowly && has_stopped_reading(reply, read_failed) => {
                checks = vec![judge::not_relayed(&relayed)];
            }
            // Without an acceptance it is open whether the service has got the upload.
            reply if exchange.uploads_slowly && judge::not_accepted(reply).ok => {}
            reply => checks.extend(judge::relayed_once(body, &relayed, reply, CaseLevel::Must)),
        }
        context.record(draft, sent);
        context.checks(checks.into_iter().map(|check| check.of(&exchange.name)).collect());
    }
}

/// Many servers limit the time of an upload.
fn has_stopped_reading(reply: &AnswerResult, read_failed: &ExpectedAnswer) -> bool {
    match reply {
        Err(why) => matches!(why, NoAnswer::Closed | NoAnswer::Reset),
        Ok(answer) => answer.status == 408 || judge::exact(read_failed, reply).iter().all(|check| check.ok),
    }
}

impl SlowExchange {
    /// The page is told of the outcome, or that the service is unreachable. It is not told of an acceptance that there is not,
    /// or not yet.
    fn judge(&self, sent: &Sent, unreachable: &ExpectedAnswer) -> Vec<Check> {
        let gave_up = judge::exact(unreachable, &sent.reply);
        if gave_up.iter().all(|check| check.ok) {
            return gave_up;
        }
        let level = if self.takes < UNUSUAL { CaseLevel::Must } else { CaseLevel::Should };
        let mut checks: Vec<_> =
            judge::exact(&self.expected, &sent.reply).into_iter().map(|check| check.at(level)).collect();
        if sent.took < self.takes || self.expected.status >= 300 {
            checks.push(judge::not_accepted(&sent.reply));
        }
        checks
    }
}
