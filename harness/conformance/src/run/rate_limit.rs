use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use edgeproof_http::Answer;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted, Subject};
use http::header::RETRY_AFTER;
use parking_lot::Mutex;

use crate::cases::{CaseFacts, CaseFindings};
use crate::judge::Check;

/// Latest cases that tell whether the target refuses most requests by itself.
const WINDOW: usize = 24;
/// Cases among them that end the run: each further one would tell the same.
pub(crate) const MOST_LIMITED: usize = 16;
/// Too many requests, RFC 6585.
const TOO_MANY: u16 = 429;
/// What a server that limits the rate or is overloaded answers as well.
const UNAVAILABLE: u16 = 503;

/// Watches all cases of a run for a target that limits the rate of requests.
#[derive(Debug, Default)]
pub(super) struct RateLimit {
    /// Whether each of the latest cases was limited.
    latest: Mutex<VecDeque<bool>>,
    /// The cases see what arrives at the service.
    sees_arrivals: AtomicBool,
    /// The first case that ends the run, with its refusals.
    reached: Mutex<Option<(Subject, Refusals)>>,
}

/// What a target refused by itself in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Refusals {
    status: u16,
    refused: usize,
    requests: usize,
    /// Time of the last `Retry-After` (s).
    retry_after: Option<u64>,
}

impl RateLimit {
    /// Adds a check to a failed case whose requests an edge refused by itself. The interface does not show whether a service
    /// limits the rate: such a case proves nothing.
    pub(super) fn watch(&self, target: Subject, case: &CaseFacts, found: &mut CaseFindings) {
        if found.sent.is_empty() || target == Subject::Collector {
            return;
        }
        if !found.arrivals.is_empty() {
            self.sees_arrivals.store(true, Ordering::Relaxed);
        }
        let unavailable = !case.exclusive && self.sees_arrivals.load(Ordering::Relaxed);
        let refusals = refusals(target, found, unavailable);
        let mut latest = self.latest.lock();
        latest.push_back(refusals.is_some());
        if latest.len() > WINDOW {
            latest.pop_front();
        }
        let Some(refusals) = refusals else { return };
        if target == Subject::Edge {
            found.checks.insert(0, refusals.check());
        } else {
            found.not_run = Some(format!("{} refuses the request with {refusals}", target.name()));
        }
        if latest.iter().filter(|limited| **limited).count() >= MOST_LIMITED {
            self.reached.lock().get_or_insert((target, refusals));
        }
    }

    /// Why no further case can run, if the target refuses most requests by itself.
    pub(super) fn because(&self) -> Option<String> {
        let (target, refusals) = (*self.reached.lock())?;
        Some(format!("{} refused most of the latest requests by itself, with {refusals}", target.name()))
    }

    /// What the report says about it, and whether it fails the run.
    pub(super) fn finding(&self) -> Option<(String, bool)> {
        let because = self.because()?;
        let fails = self.reached.lock().is_some_and(|(target, _)| target == Subject::Edge);
        let text = format!(
            "{because}: the run ended early. If it or a proxy in front of it limits the rate, raise the limit for the test \
             or switch it off: a run sends thousands of requests within seconds from one address"
        );
        Some((text, fails))
    }
}

/// Whether the target itself refused the last request of a failed case. `unavailable`: a 503 that names a time counts too,
/// because the request would have been seen at the service, which was there.
fn refusals(target: Subject, found: &CaseFindings, unavailable: bool) -> Option<Refusals> {
    if !found.checks.iter().any(|check| !check.ok && check.level == CaseLevel::Must) {
        return None;
    }
    let is_limited = |answer: &&Answer| {
        let names_time = answer.headers.contains_key(RETRY_AFTER);
        answer.status == TOO_MANY || answer.status == UNAVAILABLE && names_time && unavailable
    };
    // An edge is expected to relay these.
    let sent = found.sent.iter().map(|exchange| &exchange.sent);
    let work: Vec<_> = sent.filter(|sent| target != Subject::Edge || sent.request.method == "POST").collect();
    let answers = || work.iter().filter_map(|sent| sent.reply.as_ref().ok());
    // A case ends with its first refusal, or goes on.
    let last = answers().next_back().filter(is_limited)?;
    let (refused, requests) = (answers().filter(is_limited).count(), work.len());
    let retry_after = last.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let is_refusal_of_target = refused + found.arrivals.len() <= requests;
    is_refusal_of_target.then_some(Refusals { status: last.status, refused, requests, retry_after })
}

impl Refusals {
    fn check(self) -> Check {
        let Self { status, refused, requests, .. } = self;
        Check::judged(
            Count::new(Counted::LimitedRequests, 0, refused).of(requests).part(status.into()),
            false,
        )
    }
}

impl std::fmt::Display for Refusals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.status)?;
        self.retry_after.map_or(Ok(()), |seconds| write!(f, " and Retry-After: {seconds}"))
    }
}
