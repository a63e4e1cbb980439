use edgeproof_reports::difference::{Breach, DifferenceKind, Invariant};

use crate::cases::ServiceExchange;
use crate::judge::Check;

/// Breaches of one invariant. A report shows the first ones and counts the others.
#[derive(Debug, Default)]
pub(super) struct Breaches(Vec<Breach>);

/// Number of shown breaches.
const SHOWN: usize = 3;

impl Breaches {
    /// Adds a breach.
    pub(super) fn push(&mut self, breach: Breach) {
        self.0.push(breach);
    }

    /// The check that there is none.
    pub(super) fn check(&self, invariant: Invariant) -> Check {
        let count = self.0.len();
        let breaches = self.0.iter().take(SHOWN).cloned().collect();
        let kind = DifferenceKind::Breaches { invariant, count: count as u64, breaches };
        Check::judged(kind, count == 0)
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
