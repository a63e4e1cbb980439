use std::time::Duration;

use super::timeline::{Bucket, Series};

/// Operations that were answered as expected, over time: when they were due and when they ended. They show
/// whether the target kept up.
pub type Completions = Series<(u64, u64), 2, MAX_BUCKETS>;

/// Largest number of buckets.
const MAX_BUCKETS: usize = 4096;
/// Parts of equal size in which the operations are compared.
const PARTS: usize = 20;
/// Parts with the largest growth of the backlog that are ignored: in them, the latency may have changed at
/// once.
const JUMPS: usize = 2;
/// Growth of the backlog that is never a sign of saturation.
const ALLOWED: Duration = Duration::from_millis(200);
/// Growth of the backlog, as a share of the measured time, that is never a sign of saturation.
const ALLOWED_SHARE: f64 = 0.01;

impl Completions {
    /// Adds an operation: when it was due and when it ended, since the start of the run.
    pub fn record(&mut self, due: Duration, ended: Duration) {
        self.at(ended.max(due)).1 += 1;
        self.at(due).0 += 1;
    }

    /// Number of operations.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(due, _)| due).sum()
    }

    /// Time over which the target completed the operations: the measured time, or longer if it did not keep up.
    ///
    /// The n-th end follows the n-th intended start by the backlog. A target that keeps up has a backlog that
    /// stays, however long its answers take. A latency that changes at once shifts it at once. A saturated
    /// target lets it grow throughout, whatever the order of its answers.
    pub fn time(&self, measured: Duration) -> Duration {
        let count = self.count();
        if count < PARTS as u64 {
            return measured;
        }
        // From the middle of the first part to the middle of the last one: single outliers do not count.
        let times: Vec<(f64, f64)> = (0..PARTS)
            .map(|part| {
                let rank = (part as f64 + 0.5) / PARTS as f64 * count as f64;
                (self.time_of(rank, |bucket| bucket.0), self.time_of(rank, |bucket| bucket.1))
            })
            .collect();
        let lag = |(due, ended): (f64, f64)| ended - due;
        let mut steps: Vec<f64> = times.windows(2).map(|pair| lag(pair[1]) - lag(pair[0])).collect();
        steps.sort_by(f64::total_cmp);
        let growth: f64 = steps[..steps.len() - JUMPS].iter().sum();
        let allowed = ALLOWED.as_secs_f64().max(measured.as_secs_f64() * ALLOWED_SHARE);
        if growth <= allowed {
            return measured;
        }
        // The middles are half a part away from either end.
        let between = times[PARTS - 1].1 - times[0].1;
        measured.max(Duration::from_secs_f64(between * PARTS as f64 / (PARTS - 1) as f64))
    }

    /// The time (s) at which this many operations were due, or had ended.
    fn time_of(&self, rank: f64, of: impl Fn(&(u64, u64)) -> u64) -> f64 {
        let width = self.width.as_secs_f64();
        let mut before = 0.0;
        for (position, bucket) in self.buckets.iter().enumerate() {
            let own = of(bucket) as f64;
            if before + own >= rank {
                return (position as f64 + (rank - before) / own.max(1.0)) * width;
            }
            before += own;
        }
        self.buckets.len() as f64 * width
    }
}

/// Operations due and operations ended.
impl Bucket for (u64, u64) {
    fn merge(&mut self, other: &Self) {
        self.0 += other.0;
        self.1 += other.1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Operations at a rate, each with the end that `end` computes from its number and its intended start (s).
    fn played(rate: u32, seconds: u32, end: impl Fn(u32, f64) -> f64) -> Completions {
        let mut completions = Completions::default();
        for number in 0..rate * seconds {
            let due = f64::from(number) / f64::from(rate);
            let ended = end(number, due);
            completions.record(Duration::from_secs_f64(due), Duration::from_secs_f64(ended));
        }
        completions
    }

    fn time(completions: &Completions, seconds: u32) -> f64 {
        completions.time(Duration::from_secs(u64::from(seconds))).as_secs_f64()
    }

    #[rstest]
    #[case::at_once(6, |_, due| due)]
    #[case::constant(6, |_, due| due + 0.6)]
    #[case::very_slow(6, |_, due| due + 30.0)]
    #[case::jump(6, |_, due| due + if due < 3.0 { 0.002 } else { 0.2 })]
    #[case::large_jump(10, |_, due| due + if due < 7.3 { 0.002 } else { 2.0 })]
    #[case::drift(10, |_, due| due + 0.015 * due)]
    #[case::heavy_tail(10, |number, due| due + if number % 50 == 0 { 5.0 } else { 0.002 })]
    #[case::stall_in_the_middle(10, |_, due| if (4.0..6.0).contains(&due) { 6.0 } else { due })]
    #[case::periodic_stalls(8, |_, due| if due % 2.0 < 1.6 { due - due % 2.0 + 1.6 } else { due })]
    fn target_that_keeps_up_takes_the_measured_time(#[case] seconds: u32, #[case] end: fn(u32, f64) -> f64) {
        let measured = Duration::from_secs(u64::from(seconds));
        assert_eq!(played(200, seconds, end).time(measured), measured);
    }

    #[rstest]
    #[case::fifo(500, 400, 6)]
    #[case::short(500, 400, 2)]
    #[case::slightly(500, 470, 10)]
    #[case::fully(3000, 736, 10)]
    #[case::slow_and_long(20, 18, 60)]
    fn saturated_target_takes_longer(#[case] rate: u32, #[case] capacity: u32, #[case] seconds: u32) {
        let completions =
            played(rate, seconds, |number, due| due.max(f64::from(number) / f64::from(capacity)));
        let expected = f64::from(rate * seconds) / f64::from(capacity);
        let found = time(&completions, seconds);
        assert!((found / expected - 1.0).abs() < 0.01, "{found} s instead of {expected} s");
    }

    /// 400/s of 1,500/s, ended 2 s after the load: the rest never started.
    #[test]
    fn rate_of_a_saturated_target_is_right_if_operations_are_dropped() {
        let mut completions = Completions::default();
        for number in 0..3200u32 {
            let at = |rate: f64| Duration::from_secs_f64(f64::from(number) / rate);
            completions.record(at(1500.0), at(400.0));
        }
        let found = 3200.0 / time(&completions, 6);
        assert!((found / 400.0 - 1.0).abs() < 0.01, "{found}/s");
    }

    #[test]
    fn order_of_answers_does_not_matter() {
        // 400/s of 500/s, the newest operation first: 2,400 end on time, and 600 in the drain, oldest last.
        let mut completions = Completions::default();
        let at = |s: f64| Duration::from_secs_f64(s);
        let mut waiting = Vec::new();
        for number in 0..3000u32 {
            let due = f64::from(number) / 500.0;
            if number % 5 == 4 { waiting.push(due) } else { completions.record(at(due), at(due + 0.01)) }
        }
        for (position, due) in waiting.iter().rev().enumerate() {
            completions.record(at(*due), at(6.0 + position as f64 / 400.0));
        }
        let found = time(&completions, 6);
        assert!((found / 7.5 - 1.0).abs() < 0.01, "{found} s");
    }

    #[test]
    fn capacity_that_drops_is_found() {
        let half = |number: u32, due: f64| {
            if due < 5.0 { due } else { 5.0 + f64::from(number - 2500) / 400.0 }
        };
        let found = time(&played(500, 10, half), 10);
        assert!((found / 11.25 - 1.0).abs() < 0.01, "{found} s");
    }

    proptest! {
        #[test]
        fn size_is_bounded_and_sums_equal_one_series(
            operations in prop::collection::vec((0u64..10_000_000, 0u64..100_000), 1..100),
        ) {
            let (mut one, mut two, mut all) = (Completions::default(), Completions::default(), Completions::default());
            for (position, (due, took)) in operations.iter().enumerate() {
                let (due, ended) = (Duration::from_millis(*due), Duration::from_millis(due + took));
                if position % 3 == 0 { &mut one } else { &mut two }.record(due, ended);
                all.record(due, ended);
            }
            one.add(&two);
            prop_assert!(one.buckets.len() <= MAX_BUCKETS);
            prop_assert_eq!(one.count(), operations.len() as u64);
            prop_assert_eq!(one, all);
        }
    }
}
