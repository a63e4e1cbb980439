use edgeproof_reports::difference::{Breach, DifferenceKind, Invariant};

use crate::judge::Check;

/// Breaches of one invariant, each with its text. A report shows the first ones and counts the others.
#[derive(Debug, Default)]
pub(super) struct Breaches(Vec<(Breach, String)>);

/// Number of shown breaches.
const SHOWN: usize = 3;

impl Breaches {
    /// Adds a breach.
    pub(super) fn push(&mut self, breach: Breach, text: String) {
        self.0.push((breach, text));
    }

    /// The check that there is none.
    pub(super) fn check(&self, invariant: Invariant, what: &str, expected: &str) -> Check {
        let first = self.0.iter().take(SHOWN);
        let shown = first.clone().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ");
        let actual = match self.0.len() {
            0 => expected.to_owned(),
            count if count > SHOWN => format!("{shown}; and {} more", count - SHOWN),
            _ => shown,
        };
        Check::new(what, expected, actual, self.0.is_empty()).drawn(DifferenceKind::Breaches {
            invariant,
            count: self.0.len() as u64,
            breaches: first.map(|(breach, _)| breach.clone()).collect(),
        })
    }
}

/// A breach by a request of this case.
pub(super) fn by_case(case: &str) -> Breach {
    Breach { case: Some(case.to_owned()), ..Breach::default() }
}
