use std::time::Duration;

use edgeproof_reports::load::Percentiles;

/// Requests over time, in buckets of equal width. The number of buckets is bounded: a full timeline doubles
/// their width.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    width: Duration,
    buckets: Vec<TimelineBucket>,
}

/// The requests of one bucket.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelineBucket {
    /// Requests due in the bucket.
    pub due: u64,
    /// Requests that ended in the bucket.
    pub ended: u64,
    /// Requests due in the bucket with an unexpected outcome.
    pub errors: u64,
    /// Response times of the answered requests due in the bucket: counts in eight steps per octave.
    pub steps: Vec<u32>,
}

/// Smallest width of a bucket.
const NARROWEST: Duration = Duration::from_millis(250);
/// Largest number of buckets.
const MAX_BUCKETS: usize = 480;
/// Steps per octave: a resolution of 9 %.
const STEPS: f64 = 8.0;

impl Timeline {
    /// Width of a bucket.
    pub fn width(&self) -> Duration {
        self.width
    }

    /// The buckets since the start of the run.
    pub fn buckets(&self) -> &[TimelineBucket] {
        &self.buckets
    }

    /// Adds a request. `response` of a request without an answer is its age.
    pub fn record(&mut self, due: Duration, response: Duration, expected: bool, answered: bool) {
        let bucket = self.at(due);
        bucket.due += 1;
        bucket.errors += u64::from(!expected);
        if answered {
            let step = Self::step(response);
            if bucket.steps.len() <= step {
                bucket.steps.resize(step + 1, 0);
            }
            bucket.steps[step] += 1;
        }
        self.at(due + response).ended += 1;
    }

    /// Adds another timeline.
    pub fn add(&mut self, other: &Self) {
        while self.width < other.width {
            self.widen();
        }
        for (position, theirs) in other.buckets.iter().enumerate() {
            let own = self.at(other.width * position as u32);
            own.merge(theirs);
        }
    }

    /// Rebuilds a timeline from a report; `None` if its width or its length is invalid.
    pub fn restore(width: Duration, buckets: Vec<TimelineBucket>) -> Option<Self> {
        let widths = (0..24).map(|doubled| NARROWEST * (1 << doubled));
        let known = widths.into_iter().any(|known| known == width);
        (known && buckets.len() <= MAX_BUCKETS).then_some(Self { width, buckets })
    }

    /// Upper bound of a step.
    pub fn upper(step: usize) -> Duration {
        Duration::from_micros(((step as f64 + 1.0) / STEPS).exp2().round() as u64)
    }

    fn step(response: Duration) -> usize {
        let us = response.as_micros().max(1) as f64;
        ((us.log2() * STEPS) as usize).min(STEPS as usize * 34)
    }

    fn at(&mut self, time: Duration) -> &mut TimelineBucket {
        loop {
            let place = (time.as_micros() / self.width.as_micros()) as usize;
            if place < MAX_BUCKETS {
                if self.buckets.len() <= place {
                    self.buckets.resize_with(place + 1, TimelineBucket::default);
                }
                return &mut self.buckets[place];
            }
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.width *= 2;
        let narrow = std::mem::take(&mut self.buckets);
        self.buckets = narrow
            .chunks(2)
            .map(|pair| {
                let mut bucket = pair[0].clone();
                pair.iter().skip(1).for_each(|other| bucket.merge(other));
                bucket
            })
            .collect();
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self { width: NARROWEST, buckets: Vec::new() }
    }
}

impl TimelineBucket {
    /// The response time that this share does not exceed; `None` without requests, and if the rank falls on a
    /// request without an answer.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = Percentiles::rank(share, self.due);
        let mut seen = 0;
        let step = self.steps.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        step.map(Timeline::upper)
    }

    fn merge(&mut self, other: &Self) {
        self.due += other.due;
        self.ended += other.ended;
        self.errors += other.errors;
        self.steps.resize(self.steps.len().max(other.steps.len()), 0);
        self.steps.iter_mut().zip(&other.steps).for_each(|(own, theirs)| *own += theirs);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn request_counts_where_it_is_due_and_where_it_ends() {
        let mut timeline = Timeline::default();
        timeline.record(ms(100), ms(300), true, true);
        timeline.record(ms(260), ms(1), false, true);
        let seen: Vec<_> =
            timeline.buckets().iter().map(|bucket| (bucket.due, bucket.ended, bucket.errors)).collect();
        assert_eq!(seen, [(1, 0, 0), (1, 2, 1)]);
        let p50 = timeline.buckets()[0].quantile(0.5).unwrap();
        assert!(ms(300) <= p50 && p50 < ms(330), "{p50:?}");
        assert_eq!(TimelineBucket::default().quantile(0.5), None);
        timeline.record(ms(120), ms(2), false, false);
        let bucket = &timeline.buckets()[0];
        assert_eq!((bucket.quantile(0.5), bucket.quantile(0.99)), (Some(p50), None));
    }

    proptest! {
        #[test]
        fn size_is_bounded_and_no_request_is_lost(
            requests in prop::collection::vec((0u64..100_000_000, 0u64..100_000), 1..200),
        ) {
            let (mut one, mut two) = (Timeline::default(), Timeline::default());
            for (position, (due, response)) in requests.iter().enumerate() {
                let half = if position % 3 == 0 { &mut one } else { &mut two };
                half.record(ms(*due), ms(*response), true, true);
            }
            one.add(&two);
            prop_assert!(one.buckets().len() <= MAX_BUCKETS);
            let count = requests.len() as u64;
            prop_assert_eq!(one.buckets().iter().map(|bucket| bucket.due).sum::<u64>(), count);
            prop_assert_eq!(one.buckets().iter().map(|bucket| bucket.ended).sum::<u64>(), count);
            prop_assert_eq!(Timeline::restore(one.width(), one.buckets().to_vec()), Some(one));
        }
    }
}
