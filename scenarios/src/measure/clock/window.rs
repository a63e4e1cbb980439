use std::time::Duration;

use crate::measure::Bucket;

/// An answer that names the time of another clock. Times of our own count from a common start, by the steady clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSample {
    /// When the request was sent.
    pub sent: Duration,
    /// When the answer arrived.
    pub received: Duration,
    /// Earliest time of the other clock when it answered (µs since the Unix epoch).
    pub theirs_us: i64,
    /// How much later that time may be: a second and more for a `Date`.
    pub resolution: Duration,
}

/// A limit of the other clock's time at our start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockBound {
    /// When it was measured, since our start (µs).
    pub at_us: i64,
    /// The other clock's time at our start, if both clocks run equally fast (µs since the Unix epoch).
    pub start_us: i64,
}

/// What the answers of a part of the run say about the other clock: the tightest limits only, so its size is constant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockWindow {
    /// The other clock's time was not before this.
    pub not_before: Option<ClockBound>,
    /// The other clock's time was not after this.
    pub not_after: Option<ClockBound>,
}

impl ClockSample {
    /// The other clock answered before its answer arrived.
    pub fn not_before(&self) -> ClockBound {
        let at_us = micros(self.received);
        ClockBound { at_us, start_us: self.theirs_us.saturating_sub(at_us) }
    }

    /// The other clock answered after the request was sent.
    pub fn not_after(&self) -> ClockBound {
        let at_us = micros(self.sent);
        let latest = self.theirs_us.saturating_add(micros(self.resolution));
        ClockBound { at_us, start_us: latest.saturating_sub(at_us) }
    }

    /// Both limits.
    pub fn window(&self) -> ClockWindow {
        ClockWindow { not_before: Some(self.not_before()), not_after: Some(self.not_after()) }
    }

    /// The window of the fastest of these samples, whose limits are the closest. `None` without samples.
    pub fn fastest(samples: &[Self]) -> Option<ClockWindow> {
        let trip = |sample: &&Self| sample.received.saturating_sub(sample.sent);
        samples.iter().min_by_key(trip).map(Self::window)
    }
}

impl ClockWindow {
    /// Whether it has no limit.
    pub fn is_empty(&self) -> bool {
        self.not_before.is_none() && self.not_after.is_none()
    }

    /// Adds a lower limit.
    pub(super) fn add_not_before(&mut self, bound: ClockBound) {
        if self.not_before.is_none_or(|own| bound.start_us > own.start_us) {
            self.not_before = Some(bound);
        }
    }

    /// Adds an upper limit.
    pub(super) fn add_not_after(&mut self, bound: ClockBound) {
        if self.not_after.is_none_or(|own| bound.start_us < own.start_us) {
            self.not_after = Some(bound);
        }
    }
}

impl Bucket for ClockWindow {
    fn merge(&mut self, other: &Self) {
        other.not_before.into_iter().for_each(|bound| self.add_not_before(bound));
        other.not_after.into_iter().for_each(|bound| self.add_not_after(bound));
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
