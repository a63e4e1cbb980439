use std::time::{Duration, Instant, SystemTime};

use edgeproof_reports::load::{ClockFigures, ClockOffset, ReferenceClock, UnknownClock};

use super::window::{ClockBound, ClockWindow};

/// A clock of another machine, compared with ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockEstimate {
    /// Its time at our start.
    pub start: TimeRange,
    /// How much faster it runs: lowest and highest rate (1e-6: 1 µs in a second). `None` if the windows do not limit it.
    pub drift: Option<(f64, f64)>,
    /// A step of it during the run (µs); positive if it went ahead.
    pub step_us: i64,
}

/// A time between two limits (µs since the Unix epoch).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// Lower limit.
    pub from_us: i64,
    /// Upper limit.
    pub to_us: i64,
}

/// Fewest windows that show a drift or, on either side of it, half as many, a step: fewer can come from two servers.
const FEWEST: usize = 6;
/// Smallest step of a clock that counts. Clocks are read one after the other, and a busy machine pauses between them.
const SMALLEST_STEP: Duration = Duration::from_millis(50);
/// Longest time between two renewals of the text of a `Date`, with what a busy server adds.
const RENEWED: Duration = Duration::from_millis(1200);

/// Estimates a clock from windows in order of time. `maybe_several`: whether several servers with clocks of their own may have
/// answered, as behind a load balancer.
///
/// A constant difference that fits all windows is the estimate. Otherwise the clocks drift, or one of them made a step.
pub fn estimate(windows: &[ClockWindow], maybe_several: bool) -> Result<ClockEstimate, UnknownClock> {
    if windows.iter().all(ClockWindow::is_empty) {
        return Err(UnknownClock::NoDate);
    }
    let drift = drift(windows);
    if let Some(start) = common(windows) {
        return Ok(ClockEstimate { start, drift, step_us: 0 });
    }
    let may_drift = !maybe_several || windows.len() >= FEWEST;
    let drifting = drift.filter(|_| may_drift).and_then(|drift| {
        let start = start_of(windows, drift)?;
        Some(ClockEstimate { start, drift: Some(drift), step_us: 0 })
    });
    drifting.or_else(|| step(windows)).ok_or(UnknownClock::SeveralClocks)
}

/// Estimates a clock by the `Date`s of its answers. A server may renew their text once a second, at any moment: a drift or a
/// step that is not larger than that can be one of the text, and counts as none.
pub fn estimate_by_dates(windows: &[ClockWindow]) -> Result<ClockEstimate, UnknownClock> {
    let found = estimate(windows, true)?;
    let times = || lower(windows).chain(upper(windows)).map(|bound| bound.at_us);
    let span_us = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    let least = found.drift.map_or(0.0, |(slowest, fastest)| slowest.max(0.0).max(-fastest));
    let changed_us = found.step_us.abs().max((least * span_us as f64) as i64);
    if changed_us == 0 || u128::from(changed_us.unsigned_abs()) > RENEWED.as_micros() {
        return Ok(found);
    }
    let TimeRange { from_us, to_us } = found.start;
    let start = TimeRange { from_us: from_us - changed_us, to_us: to_us + changed_us };
    Ok(ClockEstimate { start, drift: None, step_us: 0 })
}

/// The figures of our clock, which showed `started` at the start and was set by `own_step_us` during the run.
pub fn clock_figures(
    estimated: Result<ClockEstimate, UnknownClock>,
    reference: ReferenceClock,
    started: SystemTime,
    own_step_us: i64,
) -> ClockFigures {
    let estimate = match estimated {
        Ok(estimate) => estimate,
        Err(reason) => {
            return ClockFigures { offset: ClockOffset::Unknown { reason }, step_us: own_step_us };
        }
    };
    let started_us = started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros() as i64;
    // Of our clock against the other one: a fast reference is a slow clock of ours.
    let drift = estimate.drift.map(|(slowest, fastest)| {
        let tenth = |ppm: f64| (ppm * 10.0).round() / 10.0;
        (tenth(-(slowest + fastest) / 2.0 * 1e6), tenth((fastest - slowest) / 2.0 * 1e6))
    });
    ClockFigures {
        offset: ClockOffset::Known {
            reference,
            ahead_us: started_us.saturating_sub(estimate.start.middle()),
            uncertainty_us: estimate.start.uncertainty(),
            drift_ppm: drift.map(|(drift, _)| drift),
            drift_uncertainty_ppm: drift.map(|(_, uncertainty)| uncertainty),
        },
        step_us: if own_step_us == 0 { -estimate.step_us } else { own_step_us },
    }
}

/// How far the wall clock was set between two readings of both clocks (µs). 0 for less than 50 ms.
pub fn wall_step(before: (Instant, SystemTime), after: (Instant, SystemTime)) -> i64 {
    let micros = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    };
    let steady = after.0.saturating_duration_since(before.0).as_micros() as i64;
    let step = micros(after.1).saturating_sub(micros(before.1)).saturating_sub(steady);
    if u128::from(step.unsigned_abs()) < SMALLEST_STEP.as_micros() { 0 } else { step }
}

impl TimeRange {
    /// The middle.
    pub fn middle(self) -> i64 {
        self.from_us + (self.to_us - self.from_us) / 2
    }

    /// Largest distance from the middle (µs).
    pub fn uncertainty(self) -> u64 {
        (self.to_us - self.middle()).unsigned_abs()
    }
}

/// The start that fits all windows if the clocks run equally fast.
fn common(windows: &[ClockWindow]) -> Option<TimeRange> {
    let from_us = lower(windows).map(|bound| bound.start_us).max()?;
    let to_us = upper(windows).map(|bound| bound.start_us).min()?;
    (from_us <= to_us).then_some(TimeRange { from_us, to_us })
}

/// The rates that fit all windows: slopes of the lines above all lower limits and below all upper ones.
fn drift(windows: &[ClockWindow]) -> Option<(f64, f64)> {
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for low in lower(windows) {
        for high in upper(windows) {
            let rise = (low.start_us - high.start_us) as f64;
            match low.at_us - high.at_us {
                0 if rise > 0.0 => return None,
                0 => {}
                time @ 1.. => least = least.max(rise / time as f64),
                time => most = most.min(rise / time as f64),
            }
        }
    }
    (least.is_finite() && most.is_finite() && least <= most).then_some((least, most))
}

/// The starts that fit all windows with rates in this range. No window is before our start.
fn start_of(windows: &[ClockWindow], (slowest, fastest): (f64, f64)) -> Option<TimeRange> {
    let back =
        |bound: &ClockBound, rate: f64| bound.start_us.saturating_sub((bound.at_us as f64 * rate) as i64);
    let from_us = lower(windows).map(|bound| back(bound, fastest)).max()?;
    let to_us = upper(windows).map(|bound| back(bound, slowest)).min()?;
    Some(TimeRange { from_us: from_us.min(to_us), to_us: to_us.max(from_us) })
}

/// A step between two groups of windows, each of which has a start in common. The step may be inside one window.
fn step(windows: &[ClockWindow]) -> Option<ClockEstimate> {
    let half = FEWEST / 2;
    (half..windows.len()).find_map(|end| {
        let before = common(&windows[..end])?;
        let after = [end, end + 1].into_iter().find_map(|begin| {
            let after = windows.get(begin..).filter(|after| after.len() >= half)?;
            common(after)
        })?;
        Some(ClockEstimate { start: before, drift: None, step_us: after.middle() - before.middle() })
    })
}

fn lower(windows: &[ClockWindow]) -> impl Iterator<Item = &ClockBound> {
    windows.iter().filter_map(|window| window.not_before.as_ref())
}

fn upper(windows: &[ClockWindow]) -> impl Iterator<Item = &ClockBound> {
    windows.iter().filter_map(|window| window.not_after.as_ref())
}

#[cfg(test)]
mod tests;
