use serde::{Deserialize, Serialize};

use super::outcome::Outcome;

/// Number of cases for each outcome; they add up to `planned`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "each field is the count of the outcome of that name")]
pub struct Summary {
    pub planned: usize,
    pub pass: usize,
    pub fail: usize,
    pub warn: usize,
    pub known: usize,
    pub observed: usize,
    pub not_applicable: usize,
    pub not_run: usize,
}

impl Summary {
    /// Counts outcomes.
    pub fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut summary = Self::default();
        for outcome in outcomes {
            summary.count(outcome);
        }
        summary
    }

    /// Adds one planned case with its outcome.
    pub fn count(&mut self, outcome: Outcome) {
        self.planned += 1;
        *self.of_outcome(outcome) += 1;
    }

    /// Number of cases with an outcome.
    pub fn get(&self, outcome: Outcome) -> usize {
        let mut copy = *self;
        *copy.of_outcome(outcome)
    }

    fn of_outcome(&mut self, outcome: Outcome) -> &mut usize {
        match outcome {
            Outcome::Pass => &mut self.pass,
            Outcome::Fail => &mut self.fail,
            Outcome::Warn => &mut self.warn,
            Outcome::Known => &mut self.known,
            Outcome::Observed => &mut self.observed,
            Outcome::NotApplicable => &mut self.not_applicable,
            Outcome::NotRun => &mut self.not_run,
        }
    }

    /// The outcomes to show, with their counts: passes always, others if there are any.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (Outcome, usize)> {
        let counts = Outcome::ALL.iter().map(|outcome| (*outcome, self.get(*outcome)));
        counts.filter(|(outcome, count)| *outcome == Outcome::Pass || *count > 0)
    }

    /// Counts in one line: `212 planned · 205 pass · 2 fail`. Omits zeros, except for passes.
    pub fn line(&self) -> String {
        let mut line = format!("{} planned", self.planned);
        for (outcome, count) in self.shown() {
            put!(line, " · {count} {}", outcome.label());
        }
        line
    }
}

/// Latency that the edge adds: its round trip less the mock service's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddedLatency {
    /// Number of measured exchanges.
    pub samples: usize,
    /// Median (µs).
    pub p50_us: u64,
    /// 99th percentile (µs).
    pub p99_us: u64,
}
