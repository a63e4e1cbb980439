use std::time::{Duration, SystemTime};

use edgeproof_cli::Failure;
use edgeproof_reports::load::{ClockOffset, ReferenceClock, ShardFigures, micros, percent};

use super::changed;

/// When the shards of a run began, by their clocks and by one that all of them see.
pub(super) struct Starts(Vec<ShardStart>);

/// When a shard began.
#[derive(Debug, Clone, PartialEq)]
struct ShardStart {
    index: u32,
    /// By its own clock (µs since the Unix epoch).
    believed_us: i128,
    /// By the reference clock; `None` if its offset is unknown.
    corrected: Option<CorrectedStart>,
    /// How much faster its clock runs, and the uncertainty of that (parts per million).
    drift: Option<(f64, f64)>,
    step_us: i64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct CorrectedStart {
    reference: ReferenceClock,
    at_us: i128,
    uncertainty_us: u64,
}

/// Two shards that began too far apart.
struct Apart<'s> {
    early: &'s ShardStart,
    late: &'s ShardStart,
    us: u128,
    limit_us: u128,
    corrected: bool,
}

/// Largest difference between start times, as a share of the planned time.
const SKEW: f64 = 0.05;
/// Start times may always differ by this much: processes started together are not ready together.
const MIN_SKEW: Duration = Duration::from_secs(1);
/// Largest drift of a clock (parts per million): 1 %.
const DRIFT_PPM: f64 = 10_000.0;
/// Largest shift of a timeline. Shards further apart have nothing in common.
const MAX_SHIFT: Duration = Duration::from_secs(24 * 3600);

impl Starts {
    /// The starts of these shards. Fails if a time in a report is invalid.
    pub(super) fn of<'s>(shards: impl IntoIterator<Item = &'s ShardFigures>) -> Result<Self, Failure> {
        Ok(Self(shards.into_iter().map(ShardStart::of).collect::<Result<_, _>>()?))
    }

    /// How much later each shard began than the first one: by the reference clock if all offsets are known.
    pub(super) fn shifts(&self) -> Vec<Duration> {
        let all_known = self.0.windows(2).all(|pair| pair[0].compared(&pair[1]).is_some());
        let at = |start: &ShardStart| match start.corrected {
            Some(corrected) if all_known => corrected.at_us,
            _ => start.believed_us,
        };
        let first = self.0.iter().map(at).min().unwrap_or(0);
        let shift = |start| Duration::from_micros(u64::try_from(at(start) - first).unwrap_or(u64::MAX));
        self.0.iter().map(|start| shift(start).min(MAX_SHIFT)).collect()
    }

    /// Why the sum is invalid: the shards did not run at the same time, or a clock did not run evenly.
    pub(super) fn findings(&self, planned: Duration) -> Vec<String> {
        let allowed = planned.mul_f64(SKEW).max(MIN_SKEW);
        let apart = self.apart(allowed).map(|apart| apart.text());
        apart.into_iter().chain(self.0.iter().filter_map(ShardStart::uneven)).collect()
    }

    /// The two shards that exceed their limit the most.
    fn apart(&self, allowed: Duration) -> Option<Apart<'_>> {
        let pairs = self.0.iter().enumerate().flat_map(|(place, one)| {
            self.0[place + 1..].iter().map(move |other| one.apart(other, allowed.as_micros()))
        });
        pairs.filter(|pair| pair.us > pair.limit_us).max_by_key(|pair| pair.us - pair.limit_us)
    }
}

impl ShardStart {
    fn of(shard: &ShardFigures) -> Result<Self, Failure> {
        let ShardFigures { index, started, clock, .. } = shard;
        let at = humantime::parse_rfc3339(started)
            .map_err(|_| changed(&format!("shard {index} has the invalid start time {started:?}")))?;
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let believed_us = since.as_micros().cast_signed();
        let mut start = Self { index: *index, believed_us, corrected: None, drift: None, step_us: 0 };
        let Some(clock) = clock else { return Ok(start) };
        start.step_us = clock.step_us;
        if let ClockOffset::Known { reference, ahead_us, uncertainty_us, drift_ppm, drift_uncertainty_ppm } =
            clock.offset
        {
            let at_us = believed_us - i128::from(ahead_us);
            start.corrected = Some(CorrectedStart { reference, at_us, uncertainty_us });
            start.drift = drift_ppm.zip(drift_uncertainty_ppm);
        }
        Ok(start)
    }

    /// Both corrected starts, if they are of the same reference clock.
    fn compared(&self, other: &Self) -> Option<(CorrectedStart, CorrectedStart)> {
        self.corrected.zip(other.corrected).filter(|(own, other)| own.reference == other.reference)
    }

    /// How far two shards began apart. An unknown start is judged as the shard believed it.
    fn apart<'s>(&'s self, other: &'s Self, allowed_us: u128) -> Apart<'s> {
        let compared = self.compared(other);
        let (own_us, other_us, limit_us) = match compared {
            Some((own, other)) => {
                let uncertainty = u128::from(own.uncertainty_us) + u128::from(other.uncertainty_us);
                (own.at_us, other.at_us, allowed_us + uncertainty)
            }
            None => (self.believed_us, other.believed_us, allowed_us),
        };
        let (early, late) = if own_us <= other_us { (self, other) } else { (other, self) };
        Apart { early, late, us: own_us.abs_diff(other_us), limit_us, corrected: compared.is_some() }
    }

    /// Why its clock did not run evenly.
    fn uneven(&self) -> Option<String> {
        let advice = "keep the clocks of the shards and of the target in step (chrony, systemd-timesyncd), and repeat the run";
        let index = self.index;
        if self.step_us != 0 {
            let (side, step) = (if self.step_us > 0 { "ahead" } else { "back" }, self.step_us.unsigned_abs());
            let step = micros(step);
            return Some(format!(
                "a clock was set during the run: that of shard {index} went {step} {side} of the reference; {advice}"
            ));
        }
        let (drift, uncertainty) = self.drift?;
        (drift.abs() - uncertainty > DRIFT_PPM).then(|| {
            let side = if drift > 0.0 { "fast" } else { "slow" };
            let (drift, uncertainty) = (percent(drift.abs() / 1e6), percent(uncertainty / 1e6));
            format!("the clock of shard {index} is {drift} ± {uncertainty} {side}, and the limit is 1 %: its rate was wrong by as much; {advice}")
        })
    }
}

impl Apart<'_> {
    fn text(&self) -> String {
        let seconds = |us: u128| us as f64 / 1e6;
        let by = match self.early.corrected.filter(|_| self.corrected) {
            Some(corrected) => format!(" by {}", corrected.reference.name()),
            None => " by their own clocks".into(),
        };
        format!(
            "the shards did not run at the same time, so the target never had the whole rate: shard {} began {:.1} s after shard \
             {}{by}, and the limit is {:.1} s; set the clocks of the machines, give all shards the same --start-at, late enough for \
             each to be ready, or run them as an Indexed Job with parallel pods",
            self.late.index,
            seconds(self.us),
            self.early.index,
            seconds(self.limit_us),
        )
    }
}

#[cfg(test)]
mod tests;
