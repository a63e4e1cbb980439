use std::time::Duration;

use edgeproof_reports::load::{Percentiles, Quantile, Timing};

use super::histogram::{Histogram, HistogramError};

/// Times of requests or sessions, of which some have no answer. An answer that never came is later than all
/// others: samples without an answer rank above all answered ones, whatever their age.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseTimes {
    /// Times of the answered samples.
    pub answered: Histogram,
    /// Samples without an answer, at the age that they had.
    pub unanswered: Histogram,
}

/// A percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseTime {
    /// Value (µs).
    pub us: u64,
    /// Whether the value is only a lower bound: its rank falls on a sample without an answer.
    pub at_least: bool,
}

impl ResponseTimes {
    /// Adds a sample.
    pub fn record(&mut self, time: Duration, answered: bool) {
        self.part(answered).record(time);
    }

    /// The samples with or without an answer.
    pub fn part(&mut self, answered: bool) -> &mut Histogram {
        if answered { &mut self.answered } else { &mut self.unanswered }
    }

    /// Adds other samples.
    pub fn add(&mut self, other: &Self) {
        self.answered.add(&other.answered);
        self.unanswered.add(&other.unanswered);
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.answered.count() + self.unanswered.count()
    }

    /// All samples; those without an answer at their age.
    pub fn all(&self) -> Histogram {
        let mut all = self.answered.clone();
        all.add(&self.unanswered);
        all
    }

    /// A percentile.
    pub fn at(&self, quantile: Quantile) -> ResponseTime {
        self.value_at(quantile.share())
    }

    /// The time that this share of the samples does not exceed.
    pub fn value_at(&self, share: f64) -> ResponseTime {
        let (answered, count) = (self.answered.count(), self.count());
        let rank = Percentiles::rank(share, count);
        let Some(beyond) = rank.checked_sub(answered).filter(|beyond| *beyond > 0) else {
            // One of the answered samples, by its rank among them.
            let us = if rank == answered { self.answered.max() } else { self.answered.value_at_rank(rank) };
            return ResponseTime { us, at_least: false };
        };
        let age = self.unanswered.value_at_rank(beyond);
        ResponseTime { us: age.max(self.answered.max()), at_least: count > 0 }
    }

    /// The times in a report.
    pub fn of(timing: &Timing) -> Result<Self, HistogramError> {
        Self::restore(&timing.histogram, &timing.unanswered_histogram)
    }

    /// Restores times from histograms of all samples and of those without an answer, as
    /// [`ResponseTimes::all`] and a report have them.
    pub fn restore(all: &str, unanswered: &str) -> Result<Self, HistogramError> {
        // A report of an older version lacks some figures.
        let decode = |text: &str| {
            if text.is_empty() { Ok(Histogram::default()) } else { Histogram::decode(text) }
        };
        let (mut answered, unanswered) = (decode(all)?, decode(unanswered)?);
        answered.subtract(&unanswered)?;
        Ok(Self { answered, unanswered })
    }
}

impl From<Histogram> for ResponseTimes {
    /// Times that all have an answer.
    fn from(answered: Histogram) -> Self {
        Self { answered, unanswered: Histogram::default() }
    }
}

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
        Ok(Self::new(ResponseTimes::of(all)?, ResponseTimes::of(successes)?))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn times(answered: &[(u64, u64)], unanswered: &[(u64, u64)]) -> ResponseTimes {
        let mut times = ResponseTimes::default();
        for (samples, is_answered) in [(answered, true), (unanswered, false)] {
            for (count, ms) in samples {
                (0..*count).for_each(|_| times.record(Duration::from_millis(*ms), is_answered));
            }
        }
        times
    }

    #[rstest]
    #[case::all_answered(&[(990, 2), (10, 500)], &[], Quantile::P99, 2, false)]
    #[case::last_answered_rank(&[(990, 2)], &[(10, 2000)], Quantile::P99, 2, false)]
    #[case::timed_out(&[(980, 2)], &[(20, 2000)], Quantile::P99, 2000, true)]
    #[case::maximum(&[(999, 2)], &[(1, 2000)], Quantile::Max, 2000, true)]
    #[case::fast_refusals_do_not_improve(&[(500, 40)], &[(500, 0)], Quantile::P90, 40, true)]
    #[case::fast_refusals_leave_the_rest(&[(900, 40)], &[(100, 0)], Quantile::P50, 40, false)]
    #[case::ages_rank_by_length(&[(50, 2)], &[(40, 100), (10, 3000)], Quantile::P90, 100, true)]
    #[case::nothing_answered(&[], &[(10, 3000)], Quantile::P50, 3000, true)]
    #[case::nothing(&[], &[], Quantile::P50, 0, false)]
    fn samples_without_an_answer_rank_last(
        #[case] answered: &[(u64, u64)],
        #[case] unanswered: &[(u64, u64)],
        #[case] quantile: Quantile,
        #[case] ms: u64,
        #[case] at_least: bool,
    ) {
        let found = times(answered, unanswered).at(quantile);
        assert_eq!(found.at_least, at_least);
        let exact = (ms * 1000) as f64;
        assert!((found.us as f64 - exact).abs() <= exact / 1000.0 + 1.0, "{} µs", found.us);
    }

    #[test]
    fn edited_histograms_are_rejected() {
        let (few, many) = (times(&[(1, 2)], &[]).all().encode(), times(&[(9, 2)], &[]).all().encode());
        assert!(ResponseTimes::restore(&many, &few).is_ok());
        assert!(ResponseTimes::restore(&few, &many).is_err());
    }

    proptest! {
        #[test]
        fn failures_never_improve_a_percentile(
            answered in prop::collection::vec(1u64..1_000_000, 1..200),
            failed in prop::collection::vec(0u64..1_000_000, 0..200),
        ) {
            let mut without = ResponseTimes::default();
            for us in &answered {
                without.record(Duration::from_micros(*us), true);
            }
            let mut with = without.clone();
            for us in &failed {
                with.record(Duration::from_micros(*us), false);
            }
            for quantile in Quantile::ALL {
                prop_assert!(with.at(quantile).us >= without.at(quantile).us, "{}", quantile.name());
            }
            let restored = ResponseTimes::restore(&with.all().encode(), &with.unanswered.encode()).unwrap();
            for quantile in Quantile::ALL {
                prop_assert_eq!(restored.at(quantile), with.at(quantile));
            }
        }
    }
}
