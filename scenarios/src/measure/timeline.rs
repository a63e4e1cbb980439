use std::time::Duration;

use edgeproof_reports::load::{Percentiles, TimelineFigures, TimelineMoment};

/// Requests over time.
pub type Timeline = Series<TimelineMoment, NARROWEST_MS, MAX_BUCKETS>;

/// Smallest width of a bucket.
const NARROWEST_MS: u64 = 250;
/// Largest number of buckets.
const MAX_BUCKETS: usize = 480;
/// Steps per octave: a resolution of 9 %.
const STEPS: f64 = 8.0;

impl Timeline {
    /// Adds a request. `response` of a request without an answer is its age.
    pub fn record(&mut self, due: Duration, response: Duration, expected: bool, answered: bool) {
        let bucket = self.at(due);
        bucket.due += 1;
        bucket.errors += u64::from(!expected);
        if answered {
            let us = response.as_micros().max(1) as f64;
            let step = ((us.log2() * STEPS) as usize).min(STEPS as usize * 34);
            if bucket.steps.len() <= step {
                bucket.steps.resize(step + 1, 0);
            }
            bucket.steps[step] += 1;
        }
        self.at(due + response).ended += 1;
    }

    /// Notes the planned operations. `asked` returns how many are due between two times.
    pub fn plan(&mut self, asked: impl Fn(Duration, Duration) -> f64) {
        let width = self.width;
        for (place, bucket) in (0..).zip(&mut self.buckets) {
            bucket.asked = asked(width * place, width * (place + 1));
        }
    }

    /// The timeline in a report.
    pub fn figures(&self) -> TimelineFigures {
        let document = |bucket: &TimelineMoment| TimelineMoment {
            p50_us: quantile(bucket, 0.5),
            p99_us: quantile(bucket, 0.99),
            ..bucket.clone()
        };
        let moments = self.buckets.iter().map(document).collect();
        TimelineFigures { width_ms: self.width.as_millis() as u64, moments }
    }

    /// Rebuilds a timeline from a report; `None` if its width or its length is invalid.
    pub fn restore(figures: &TimelineFigures) -> Option<Self> {
        let width = Duration::from_millis(figures.width_ms);
        let is_known = (0..24).any(|doubled| NARROWEST_MS << doubled == figures.width_ms);
        let buckets = figures.moments.clone();
        (is_known && buckets.len() <= MAX_BUCKETS).then_some(Self { width, buckets })
    }
}

impl Bucket for TimelineMoment {
    fn merge(&mut self, other: &Self) {
        self.asked += other.asked;
        self.due += other.due;
        self.ended += other.ended;
        self.errors += other.errors;
        self.steps.resize(self.steps.len().max(other.steps.len()), 0);
        self.steps.iter_mut().zip(&other.steps).for_each(|(own, theirs)| *own += theirs);
    }
}

/// The response time (µs) that this share does not exceed; `None` without requests, and if the rank falls on a
/// request without an answer.
fn quantile(bucket: &TimelineMoment, share: f64) -> Option<u64> {
    let rank = Percentiles::rank(share, bucket.due);
    let mut seen = 0;
    let step = bucket.steps.iter().position(|count| {
        seen += u64::from(*count);
        seen >= rank
    });
    step.map(|step| ((step as f64 + 1.0) / STEPS).exp2().round() as u64)
}

/// Buckets of equal width since the start of the run, at first of `NARROWEST` ms. Their number is bounded by `MOST`: a full
/// series doubles their width.
#[derive(Debug, Clone, PartialEq)]
pub struct Series<B, const NARROWEST: u64, const MOST: usize> {
    pub(super) width: Duration,
    /// The buckets since the start of the run.
    pub buckets: Vec<B>,
}

/// What happened in a part of the run.
pub trait Bucket: Clone + Default {
    /// Adds what happened in another part.
    fn merge(&mut self, other: &Self);
}

impl<B, const NARROWEST: u64, const MOST: usize> Default for Series<B, NARROWEST, MOST> {
    fn default() -> Self {
        Self { width: Duration::from_millis(NARROWEST), buckets: Vec::new() }
    }
}

impl<B: Bucket, const NARROWEST: u64, const MOST: usize> Series<B, NARROWEST, MOST> {
    /// The bucket of a time.
    pub fn at(&mut self, time: Duration) -> &mut B {
        loop {
            let place = (time.as_micros() / self.width.as_micros()) as usize;
            if place < MOST {
                if self.buckets.len() <= place {
                    self.buckets.resize_with(place + 1, B::default);
                }
                return &mut self.buckets[place];
            }
            self.widen();
        }
    }

    /// Adds another series.
    pub fn add(&mut self, other: &Self) {
        while self.width < other.width {
            self.widen();
        }
        for (position, theirs) in other.buckets.iter().enumerate() {
            self.at(other.width * position as u32).merge(theirs);
        }
    }

    /// Moves everything to a later time, by whole buckets of the present width: by less than a half of one, not at all.
    pub fn shift(&mut self, by: Duration) {
        let width = self.width;
        let shifted = (by.as_micros() + width.as_micros() / 2) / width.as_micros();
        let by = width * u32::try_from(shifted).unwrap_or(u32::MAX);
        if by.is_zero() {
            return;
        }
        for (position, bucket) in (0..).zip(std::mem::take(&mut self.buckets)) {
            self.at(width * position + by).merge(&bucket);
        }
    }

    fn widen(&mut self) {
        self.width *= 2;
        let narrow = std::mem::take(&mut self.buckets);
        let pair = |pair: &[B]| {
            let mut bucket = pair[0].clone();
            pair.iter().skip(1).for_each(|other| bucket.merge(other));
            bucket
        };
        self.buckets = narrow.chunks(2).map(pair).collect();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

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
            timeline.buckets.iter().map(|bucket| (bucket.due, bucket.ended, bucket.errors)).collect();
        assert_eq!(seen, [(1, 0, 0), (1, 2, 1)]);
        let p50 = quantile(&timeline.buckets[0], 0.5).unwrap();
        assert!((300_000..330_000).contains(&p50), "{p50:?}");
        assert_eq!(quantile(&TimelineMoment::default(), 0.5), None);
        timeline.record(ms(120), ms(2), false, false);
        let bucket = &timeline.buckets[0];
        assert_eq!((quantile(bucket, 0.5), quantile(bucket, 0.99)), (Some(p50), None));
    }

    #[rstest]
    #[case::less_than_half(124, 0)]
    #[case::half(125, 1)]
    #[case::whole(500, 2)]
    #[case::more_than_there_is_room_for(200_000, 400)]
    fn timeline_shifts_by_whole_buckets(#[case] by_ms: u64, #[case] first: usize) {
        let mut timeline = Timeline::default();
        let dues: Vec<Duration> = (0..100).map(|number| ms(number * 250)).collect();
        for due in dues {
            timeline.record(due, ms(1), true, true);
        }
        timeline.shift(ms(by_ms));
        let (count, width) = (timeline.buckets.iter().map(|bucket| bucket.due).sum::<u64>(), timeline.width);
        assert_eq!(count, 100);
        let first_due = timeline.buckets.iter().position(|bucket| bucket.due > 0).unwrap();
        assert_eq!(
            width * first_due as u32,
            ms(250) * if width > ms(250) { first as u32 * 2 } else { first as u32 }
        );
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
            prop_assert!(one.buckets.len() <= MAX_BUCKETS);
            let count = requests.len() as u64;
            prop_assert_eq!(one.buckets.iter().map(|bucket| bucket.due).sum::<u64>(), count);
            prop_assert_eq!(one.buckets.iter().map(|bucket| bucket.ended).sum::<u64>(), count);
            prop_assert_eq!(Timeline::restore(&one.figures()).map(|restored| restored.figures()), Some(one.figures()));
        }
    }
}
