use crate::judge::Check;

/// Breaches of one invariant. A report shows the first ones and counts the others.
#[derive(Debug, Default)]
pub(super) struct Breaches(Vec<String>);

/// Number of shown breaches.
const SHOWN: usize = 3;

impl Breaches {
    /// Adds a breach.
    pub(super) fn push(&mut self, breach: String) {
        self.0.push(breach);
    }

    /// The check that there is none.
    pub(super) fn check(&self, what: &str, expected: &str) -> Check {
        let shown = self.0.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
        let actual = match self.0.len() {
            0 => expected.to_owned(),
            count if count > SHOWN => format!("{shown}; and {} more", count - SHOWN),
            _ => shown,
        };
        Check::new(what, expected, actual, self.0.is_empty())
    }
}
