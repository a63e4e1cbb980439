use edgeproof_reports::load::Timing;

use super::histogram::HistogramError;
use super::response_times::{ResponseTime, ResponseTimes};
use crate::plan::Quantile;

/// Response times as thresholds and comparisons use them: the slower of all requests and of those without an
/// unexpected answer. An unexpected answer that came fast must not help.
#[derive(Debug, Clone, Default)]
pub struct JudgedTimes {
    all: ResponseTimes,
    /// Expected answers, and requests without an answer.
    expected: ResponseTimes,
    /// Number of requests with the expected answer.
    successes: u64,
}

impl JudgedTimes {
    /// Times of all requests and of those with the expected answer.
    pub fn new(all: ResponseTimes, successes: ResponseTimes) -> Self {
        let count = successes.count();
        let expected = ResponseTimes { answered: successes.answered, unanswered: all.unanswered.clone() };
        Self { all, expected, successes: count }
    }

    /// The same from the figures of a report.
    pub fn restore(all: &Timing, successes: &Timing) -> Result<Self, HistogramError> {
        let read = |timing: &Timing| ResponseTimes::restore(&timing.histogram, &timing.unanswered_histogram);
        Ok(Self::new(read(all)?, read(successes)?))
    }

    /// Whether no request got its expected answer.
    pub fn is_without_success(&self) -> bool {
        self.successes == 0
    }

    /// A percentile. Without a success it is a lower bound: nobody knows how long an expected answer takes.
    pub fn at(&self, quantile: Quantile) -> ResponseTime {
        let found = self.slower(quantile).at(quantile);
        ResponseTime { at_least: found.at_least || self.is_without_success(), ..found }
    }

    /// The times that a percentile is taken from.
    pub fn slower(&self, quantile: Quantile) -> &ResponseTimes {
        let of = |times: &ResponseTimes| times.at(quantile).us;
        if of(&self.expected) > of(&self.all) { &self.expected } else { &self.all }
    }
}
