use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::{Arrival, ArrivalAnswer};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::breaches::Breaches;
use super::edge_record::EdgeRecord;
use super::texts::Texts;
use crate::cases::TracedRequest;
use crate::judge::{self, Check};

/// Shortest reason that is counted (bytes).
const SHORTEST: usize = 7;
/// Shortest line of a reply that is looked for (bytes).
const SHORTEST_LINE: usize = 16;
/// Longest reason that is counted (bytes).
const LONGEST: usize = 64;

/// The log has one line for each refusal:
/// at least one for each that a page received, at most one for each that the service sent.
pub(super) fn judge(edge: &EdgeRecord) -> Vec<Check> {
    let Some(log) = edge.log.as_ref().filter(|_| edge.log_is_complete) else { return Vec::new() };
    let lines = Texts::new(log.iter().map(String::as_bytes));
    let lines_that = |word: &str, test: &dyn Fn(&str) -> bool| {
        lines.with(word).into_iter().filter(|number| test(&log[*number])).count()
    };
    let (mut missing, mut surplus) = (Breaches::default(), Breaches::default());
    let mut some_line = false;
    // Statuses of which a line with its reason is missing.
    let mut named = BTreeSet::new();
    let refusals: Vec<Refusal> = edge.requests.iter().filter_map(Refusal::of).collect();
    let musts = received(&refusals, |level| level == CaseLevel::Must);
    for (refusal, times) in &received(&refusals, |level| level != CaseLevel::Open) {
        let (status, reason) = refusal;
        let lines = lines_that(reason, &|line| judge::names_refusal(*status, reason, line));
        some_line |= lines > 0;
        if lines < *times {
            named.insert(*status);
            let of_musts = musts.get(refusal).copied().unwrap_or_default();
            let level = if lines < of_musts { CaseLevel::Must } else { CaseLevel::Should };
            missing.push_at(
                level,
                Breach {
                    status: Some(*status),
                    value: Some((*reason).into()),
                    times: Some(lines as u64),
                    of: Some(*times as u64),
                    ..Breach::default()
                },
            );
        }
    }
    let of_musts = refusals.iter().filter(|refusal| refusal.level == CaseLevel::Must);
    let musts_by_status = count(of_musts.map(|refusal| refusal.status));
    for (status, times) in musts_by_status {
        if named.contains(&status) {
            continue;
        }
        let lines = lines_that(&status.to_string(), &|line| judge::has_number(line, status));
        if lines < times && some_line {
            let (lines, times) = (Some(lines as u64), Some(times as u64));
            missing.push_at(
                CaseLevel::Must,
                Breach { status: Some(status), times: lines, of: times, ..Breach::default() },
            );
        }
    }
    // Also those that the interface leaves open: a long run forgets its first requests at the service.
    let all = received(&refusals, |_| true);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for ((_, reason), times) in &all {
        *reasons.entry(reason).or_default() += times;
    }
    let refused = Texts::new(edge.arrivals.iter().filter_map(answer_body));
    let codes: BTreeSet<String> = edge.requests.iter().filter_map(answered_code).collect();
    // Without the status: a line can contain other numbers.
    for (reason, times) in reasons {
        let lines = lines_that(reason, &|line| judge::has_word(line, reason));
        let most = refused.with(reason).len().max(times);
        let is_wording = || {
            codes.contains(reason)
                || lines_that(reason, &|line| is_of_another_refusal(line, reason, &all)) > 0
        };
        if lines > most && !is_wording() {
            let (times, of) = (Some(lines as u64), Some(most as u64));
            surplus.push(Breach { value: Some(reason.into()), times, of, ..Breach::default() });
        }
    }
    let of_replies = lines_of_replies(edge);
    for line in log.iter().map(|line| line.trim()).filter(|line| of_replies.contains(line)) {
        surplus.push(Breach { value: Some(line.into()), times: Some(1), of: Some(0), ..Breach::default() });
    }
    let missing = missing.check(Invariant::RefusalsWithoutLine);
    // An edge without any line may log elsewhere.
    let level = if some_line { missing.level } else { CaseLevel::Should };
    vec![
        missing.at(level).advise(Advice::RefusalUnlogged),
        surplus.check(Invariant::RefusalsWithMoreLines).advise(Advice::RefusalLoggedTwice),
    ]
}

/// A refusal that a page received, in a case of this level.
struct Refusal {
    level: CaseLevel,
    status: u16,
    reason: String,
}

impl Refusal {
    fn of(request: &TracedRequest) -> Option<Self> {
        let answer = request.sent.as_ref()?.reply.as_ref().ok()?;
        let body = serde_json::from_slice::<Value>(&answer.body).ok()?;
        let reason = body["reason"].as_str().filter(|_| body["status"] == answer.status)?;
        Some(Self { level: request.sender.level, status: answer.status, reason: reason.to_owned() })
    }
}

/// How often each refusal was received, in cases of these levels. Excludes refusals with an open reason.
fn received(refusals: &[Refusal], of_level: impl Fn(CaseLevel) -> bool) -> BTreeMap<(u16, &str), usize> {
    let wanted = refusals.iter().filter(|refusal| of_level(refusal.level) && is_countable(&refusal.reason));
    count(wanted.map(|refusal| (refusal.status, &*refusal.reason)))
}

fn count<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    counts
}

/// The error code of an answer. An edge may write it in each line, and a service may give it as its reason.
fn answered_code(request: &TracedRequest) -> Option<String> {
    let answer = request.sent.as_ref()?.reply.as_ref().ok()?;
    let body = serde_json::from_slice::<Value>(&answer.body).ok()?;
    body["error"].as_str().map(str::to_owned)
}

/// Whether a line with the word of this reason is about another refusal: the word may stand in each line.
fn is_of_another_refusal(line: &str, reason: &str, all: &BTreeMap<(u16, &str), usize>) -> bool {
    let mut others = all.keys().filter(|(_, other)| *other != reason);
    judge::has_word(line, reason) && others.any(|(status, other)| judge::names_refusal(*status, other, line))
}

/// Whether each line that names this reason is about a refusal. A line about another event can contain `unknown` or a short
/// word. An edge may cut a long reason, and escape other characters than those of a code.
fn is_countable(reason: &str) -> bool {
    let is_word = (SHORTEST..=LONGEST).contains(&reason.len());
    reason != "unknown" && is_word && reason.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The body that the service answered.
/// Lines of replies that are text. As a line of the log, one of them would tell of something that did not happen: the edge
/// wrote a reply with its line ends.
fn lines_of_replies(edge: &EdgeRecord) -> BTreeSet<&str> {
    let bodies = edge.arrivals.iter().filter_map(answer_body);
    // Lines of indented JSON can be those of another object.
    let texts = bodies.filter(|body| serde_json::from_slice::<IgnoredAny>(body).is_err());
    let later = texts.filter_map(|body| std::str::from_utf8(body).ok()).flat_map(|text| text.lines().skip(1));
    later.map(str::trim).filter(|line| line.len() >= SHORTEST_LINE).collect()
}

fn answer_body(arrival: &Arrival) -> Option<&[u8]> {
    match arrival.answer.as_ref()? {
        ArrivalAnswer::Answer { body, .. } => Some(body),
        ArrivalAnswer::Partial(_) | ArrivalAnswer::Other(_) => None,
    }
}
