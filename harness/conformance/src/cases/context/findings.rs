use edgeproof_http::Sent;
use edgeproof_mock::Arrival;
use edgeproof_reports::{CaseLevel, Hop};

use crate::judge::Check;

/// Findings of a case.
#[derive(Debug, Default)]
pub struct CaseFindings {
    /// All checks, passed and failed.
    pub checks: Vec<Check>,
    /// Level of the heaviest failed check, and the position of its exchange in `sent`.
    pub(crate) failed: Option<(CaseLevel, usize)>,
    /// Open points with the observed behaviour.
    pub observations: Vec<(String, String)>,
    /// The exchanges of the case.
    pub sent: Vec<CaseExchange>,
    /// Number of exchanges in other forms that the interface treats alike.
    pub varied: usize,
    /// Requests that arrived at the service.
    pub arrivals: Vec<Arrival>,
    /// This version of the interface does not show an answer that the case expects.
    pub(crate) unstated: bool,
    /// Why the case does not apply to this target, if the case found that out.
    pub not_applicable: Option<String>,
    /// Why the case could not be completed.
    pub not_run: Option<String>,
}

/// A request that a case sent, with its answer.
#[derive(Debug, Clone)]
pub struct CaseExchange {
    /// Sender and receiver.
    pub hop: Hop,
    /// Request and answer.
    pub sent: Sent,
    /// A `curl` command that sends the same request, if curl can.
    pub curl: Option<String>,
}

impl CaseFindings {
    /// Adds a check. The case's level limits the level of the check.
    pub fn check(&mut self, mut check: Check, case: CaseLevel) {
        if check.unstated {
            self.unstated = true;
            return;
        }
        check.level = check.level.max(case);
        let exchange = self.sent.len().checked_sub(1).map(|last| last as u64);
        if let Some(difference) = &mut check.difference {
            difference.exchange = exchange;
            let compared = check.against.as_deref();
            let earlier =
                compared.and_then(|reply| self.sent.iter().position(|sent| sent.sent.reply == *reply));
            difference.against = earlier.map(|earlier| earlier as u64);
        }
        if !check.ok && self.failed.is_none_or(|(level, _)| check.level < level) {
            self.failed = Some((check.level, self.sent.len().saturating_sub(1)));
        }
        self.checks.push(check);
    }

    /// Fails the case at any level with this check, before all others.
    pub(crate) fn fail_with(&mut self, check: Check) {
        self.not_run = None;
        self.not_applicable = None;
        self.checks.insert(0, check);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use bytes::Bytes;
    use edgeproof_http::{Answer, ConnectionUse, Request};
    use edgeproof_reports::difference::AnswerSubject;
    use http::{HeaderMap, Version};

    use super::*;
    use crate::judge;

    fn exchange(status: u16) -> CaseExchange {
        let (version, headers, body, complete) = (Version::HTTP_11, HeaderMap::new(), Bytes::new(), true);
        let (method, target) = ("GET".into(), "/".into());
        let answer = Answer { status, version, headers: headers.clone(), body: body.clone(), complete };
        let request = Request { method, target, version, headers, body, complete };
        let sent = Sent {
            place: ConnectionUse::first(),
            request,
            reply: Ok(answer),
            violations: Vec::new(),
            at: Instant::now(),
            took: Duration::ZERO,
        };
        CaseExchange { hop: Hop::ClientService, sent, curl: None }
    }

    #[test]
    fn difference_of_two_answers_names_both_exchanges() {
        let sent = [500, 200, 404].map(exchange);
        let check =
            judge::same_answer(AnswerSubject::AsTheFirstTime, &sent[1].sent.reply, &sent[2].sent.reply);
        let mut found = CaseFindings { sent: sent.into(), ..CaseFindings::default() };
        found.check(check, CaseLevel::Must);
        let difference = found.checks[0].difference.as_ref().unwrap();
        assert_eq!((difference.against, difference.exchange), (Some(1), Some(2)));
    }
}
