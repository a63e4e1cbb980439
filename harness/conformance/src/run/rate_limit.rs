use std::collections::VecDeque;

use edgeproof_http::Sent;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted, Subject};
use http::header::RETRY_AFTER;
use parking_lot::Mutex;

use crate::cases::{CaseFacts, CaseFindings, Part, RateLimitRule};
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
pub(super) struct RateLimit(Mutex<Watch>);

#[derive(Debug, Default)]
struct Watch {
    /// Whether each of the latest cases was limited.
    latest: VecDeque<bool>,
    /// The cases see what arrives at the service.
    sees_arrivals: bool,
    /// What ended the run.
    reached: Option<Reached>,
}

#[derive(Debug, Clone, Copy)]
struct Reached {
    target: Subject,
    refusals: Refusals,
    fails: bool,
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
    /// Adds to a failed case that the target refused its last request by itself, or that it therefore proves nothing.
    pub(super) fn watch<P: Part>(&self, case: &CaseFacts, found: &mut CaseFindings) {
        if found.sent.is_empty() || P::RATE_LIMIT == RateLimitRule::NotOfTarget {
            return;
        }
        let mut watch = self.0.lock();
        watch.sees_arrivals |= !found.arrivals.is_empty();
        let fails = P::RATE_LIMIT == RateLimitRule::Fails;
        let refusals = refusals(P::RATE_LIMIT, found, !case.exclusive && watch.sees_arrivals)
            // Without a time, a service that should answer otherwise may have answered so.
            .filter(|refusals| fails || refusals.retry_after.is_some());
        watch.latest.push_back(refusals.is_some());
        if watch.latest.len() > WINDOW {
            watch.latest.pop_front();
        }
        let Some(refusals) = refusals else { return };
        let target = P::SUBJECT;
        if fails {
            found.checks.insert(0, refusals.check());
        } else {
            found.not_run = Some(format!(
                "{} refuses the request with {refusals}: if it limits the rate, raise the limit for the test",
                target.name()
            ));
        }
        if watch.latest.iter().filter(|limited| **limited).count() >= MOST_LIMITED {
            watch.reached.get_or_insert(Reached { target, refusals, fails });
        }
    }

    /// Why no further case can run, if the target refuses most requests by itself.
    pub(super) fn because(&self) -> Option<String> {
        let Reached { target, refusals, .. } = self.0.lock().reached?;
        Some(format!("{} refused most of the latest requests by itself, with {refusals}", target.name()))
    }

    /// What the report says about it, and whether it fails the run.
    pub(super) fn finding(&self) -> Option<(String, bool)> {
        let because = self.because()?;
        let fails = self.0.lock().reached?.fails;
        let text = format!(
            "{because}: the run ended early. If it or a proxy in front of it limits the rate, raise the limit for the test \
             or switch it off: a run sends thousands of requests within seconds from one address"
        );
        Some((text, fails))
    }
}

/// Whether the target itself refused the last request of a failed case, or any of them where a limit proves nothing.
/// `unavailable`: a 503 that names a time counts too, because the request would have been seen at the service, which was there.
fn refusals(rule: RateLimitRule, found: &CaseFindings, unavailable: bool) -> Option<Refusals> {
    if !found.checks.iter().any(|check| !check.ok && check.level == CaseLevel::Must) {
        return None;
    }
    let is_limited = |sent: &&Sent| {
        sent.reply.as_ref().is_ok_and(|answer| {
            let names_time = answer.headers.contains_key(RETRY_AFTER);
            answer.status == TOO_MANY || answer.status == UNAVAILABLE && names_time && unavailable
        })
    };
    let sent = || found.sent.iter().map(|exchange| &exchange.sent);
    // Concurrent requests of a case end in any order. An edge that refuses one now and then is judged by the case.
    let answered = || sent().rev().filter(|sent| sent.reply.is_ok());
    let last = match rule {
        RateLimitRule::Fails => answered().next().filter(is_limited),
        _ => answered().find(is_limited),
    };
    let last = last?.reply.as_ref().ok()?;
    let (refused, requests) = (sent().filter(is_limited).count(), sent().count());
    let retry_after = last.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    // Only a request with a body arrives at the service.
    let with_body = || sent().filter(|sent| !sent.request.body.is_empty());
    let is_refusal_of_target = found.arrivals.is_empty()
        || with_body().filter(is_limited).count() + found.arrivals.len() <= with_body().count();
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
