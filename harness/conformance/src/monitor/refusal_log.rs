use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::ArrivalAnswer;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant};
use memchr::memmem;
use serde_json::Value;

use super::breaches::Breaches;
use super::edge_record::EdgeRecord;
use crate::judge::{self, Check};

/// Shortest reason that is counted (bytes).
const SHORTEST: usize = 7;
/// Longest reason that is counted (bytes).
const LONGEST: usize = 64;

/// The log has one line for each refusal:
/// at least one for each that a page received, at most one for each that the service sent.
pub(super) fn judge(edge: &EdgeRecord) -> Vec<Check> {
    let Some(log) = edge.log.as_ref().filter(|_| edge.log_is_complete) else { return Vec::new() };
    let (mut missing, mut surplus) = (Breaches::default(), Breaches::default());
    let mut some_line = false;
    // Statuses of which a line with its reason is missing.
    let mut named = BTreeSet::new();
    let musts = received(edge, |level| level == CaseLevel::Must);
    for (refusal, times) in &received(edge, |level| level != CaseLevel::Open) {
        let (status, reason) = refusal;
        let lines = log.iter().filter(|line| judge::names_refusal(*status, reason, line)).count();
        some_line |= lines > 0;
        if lines < *times {
            named.insert(*status);
            let of_musts = musts.get(refusal).copied().unwrap_or_default();
            let level = if lines < of_musts { CaseLevel::Must } else { CaseLevel::Should };
            missing.push_at(
                level,
                Breach {
                    status: Some(*status),
                    value: Some(reason.into()),
                    times: Some(lines as u64),
                    of: Some(*times as u64),
                    ..Breach::default()
                },
            );
        }
    }
    let musts_by_status = count(refusals(edge, |level| level == CaseLevel::Must).map(|(status, _)| status));
    for (status, times) in musts_by_status {
        if named.contains(&status) {
            continue;
        }
        let lines = log.iter().filter(|line| judge::has_number(line, status)).count();
        if lines < times && some_line {
            let (lines, times) = (Some(lines as u64), Some(times as u64));
            missing.push_at(
                CaseLevel::Must,
                Breach { status: Some(status), times: lines, of: times, ..Breach::default() },
            );
        }
    }
    // Also those that the interface leaves open: a long run forgets its first requests at the service.
    let all = received(edge, |_| true);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for ((_, reason), times) in &all {
        *reasons.entry(reason).or_default() += times;
    }
    // Without the status: a line can contain other numbers.
    for (reason, times) in reasons {
        let lines = log.iter().filter(|line| judge::has_word(line, reason)).count();
        let most = refused(edge, reason).max(times);
        if lines > most {
            let (times, of) = (Some(lines as u64), Some(most as u64));
            surplus.push(Breach { value: Some(reason.into()), times, of, ..Breach::default() });
        }
    }
    let missing = missing.check(Invariant::RefusalsWithoutLine);
    // An edge without any line may log elsewhere.
    let level = if some_line { missing.level } else { CaseLevel::Should };
    vec![
        missing.at(level).advise(Advice::RefusalUnlogged),
        surplus.check(Invariant::RefusalsWithMoreLines).advise(Advice::RefusalLoggedTwice),
    ]
}

/// The refusals that pages received, in cases of these levels: status and reason.
fn refusals(edge: &EdgeRecord, of_level: impl Fn(CaseLevel) -> bool) -> impl Iterator<Item = (u16, String)> {
    let requests = edge.requests.iter().filter(move |request| of_level(request.sender.level));
    requests.filter_map(|request| {
        let answer = request.sent.as_ref()?.reply.as_ref().ok()?;
        let body = serde_json::from_slice::<Value>(&answer.body).ok()?;
        let reason = body["reason"].as_str().filter(|_| body["status"] == answer.status)?;
        Some((answer.status, reason.to_owned()))
    })
}

/// How often each refusal was received, in cases of these levels. Excludes refusals with an open reason.
fn received(edge: &EdgeRecord, of_level: impl Fn(CaseLevel) -> bool) -> BTreeMap<(u16, String), usize> {
    count(refusals(edge, of_level).filter(|(_, reason)| is_countable(reason)))
}

fn count<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    counts
}

/// Whether each line that names this reason is about a refusal. A line about another event can contain `unknown` or a short
/// word. An edge may cut a long reason, and escape other characters than those of a code.
fn is_countable(reason: &str) -> bool {
    let is_word = (SHORTEST..=LONGEST).contains(&reason.len());
    reason != "unknown" && is_word && reason.bytes().all(|byte| byte.is_ascii_graphic())
}

/// How often the service refused with this reason.
fn refused(edge: &EdgeRecord, reason: &str) -> usize {
    let sent = edge.arrivals.iter().filter_map(|arrival| arrival.answer.as_ref());
    sent.filter(|answer| match answer {
        ArrivalAnswer::Answer { body, .. } => memmem::find(body, reason.as_bytes()).is_some(),
        ArrivalAnswer::Partial(_) | ArrivalAnswer::Other(_) => false,
    })
    .count()
}
