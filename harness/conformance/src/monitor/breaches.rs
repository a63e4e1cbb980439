use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, DifferenceKind, Invariant};

use crate::cases::ServiceExchange;
use crate::judge::Check;

/// Breaches of one invariant, each with its level. A report shows the first ones of the strictest level and counts all of them.
#[derive(Debug, Default)]
pub(super) struct Breaches(Vec<(CaseLevel, Breach)>);

/// Number of shown breaches.
const SHOWN: usize = 3;

impl Breaches {
    /// Adds a breach of a `must`.
    pub(super) fn push(&mut self, breach: Breach) {
        self.push_at(CaseLevel::Must, breach);
    }

    /// Adds a breach by an exchange of this level: no monitor is stricter than the row of its exchange.
    pub(super) fn push_at(&mut self, level: CaseLevel, breach: Breach) {
        if level != CaseLevel::Open {
            self.0.push((level, breach));
        }
    }

    /// The check that there is none.
    pub(super) fn check(&self, invariant: Invariant) -> Check {
        let level = self.0.iter().map(|(level, _)| *level).min().unwrap_or(CaseLevel::Must);
        let count = self.0.len();
        let strictest = self.0.iter().filter(|(own, _)| *own == level);
        let breaches = strictest.take(SHOWN).map(|(_, breach)| breach.clone()).collect();
        let kind = DifferenceKind::Breaches { invariant, count: count as u64, breaches };
        Check::judged(kind, count == 0).at(level)
    }
}

/// A breach by a request of this case.
pub(super) fn by_case(case: &str) -> Breach {
    Breach { case: Some(case.to_owned()), ..Breach::default() }
}

/// A breach by an answer of a service.
pub(super) fn by_exchange(exchange: &ServiceExchange) -> Breach {
    let status = exchange.sent.reply.as_ref().ok().map(|answer| answer.status);
    Breach { status, method: Some((&exchange.draft.method).into()), ..by_case(&exchange.case) }
}
