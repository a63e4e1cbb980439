use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::{MachineTimes, process_tree};

/// How much of this machine's processor time other programs leave to this one and its child processes, reading by
/// reading.
///
/// The time that our own threads wait for a processor says nothing about that: a run keeps all processors busy by itself.
#[derive(Debug)]
pub struct ProcessorTime {
    readings: Mutex<Vec<Reading>>,
}

/// The state of the machine at one moment.
#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Instant,
    machine: MachineTimes,
    /// Time that this program and its child processes used so far.
    own: Duration,
    /// Share that was left since the reading before; all of it before the first.
    share: f64,
}

/// Least share. A machine that leaves less still makes progress.
const LEAST: f64 = 0.05;
/// Share of all processors that programs get which wait for one. Who uses less has nothing to do.
const WAITING: f64 = 0.02;
/// Time in which clock ticks say too little.
const SHORTEST: Duration = Duration::from_millis(200);

impl ProcessorTime {
    /// The time from now on.
    pub fn start() -> Self {
        Self { readings: Mutex::new(vec![Reading::now()]) }
    }

    /// Takes a reading, which costs some milliseconds. Call it about once a second.
    pub fn read(&self) {
        let mut readings = self.readings.lock();
        let Some(last) = readings.last().copied() else { return };
        if last.at.elapsed() < SHORTEST {
            return;
        }
        let now = Reading::now();
        let [busy, steal, throttled] = now.machine.since(&last.machine);
        let own = now.own.checked_sub(last.own);
        let share = own.map_or(1.0, |own| {
            let interval = Interval {
                busy,
                steal,
                throttled,
                own,
                capacity: now.machine.capacity_since(&last.machine),
                elapsed: now.at - last.at,
            };
            interval.share_left()
        });
        readings.push(Reading { share, ..now });
    }

    /// Share that was left since the last reading but one, from 0.05 to 1.
    pub fn latest_share(&self) -> f64 {
        self.readings.lock().last().map_or(1.0, |reading| reading.share)
    }

    /// Share that was left since a moment, up to the last reading, from 0.05 to 1.
    pub fn share_since(&self, moment: Instant) -> f64 {
        let readings = self.readings.lock();
        let shares =
            readings.iter().zip(readings.iter().skip(1)).map(|(from, to)| (from.at, to.at, to.share));
        mean_share(shares, moment)
    }
}

impl Reading {
    fn now() -> Self {
        let own = process_tree(std::process::id()).iter().map(|(_, used)| *used).sum();
        Self { at: Instant::now(), machine: MachineTimes::read(), own, share: 1.0 }
    }
}

/// Processor times between two readings.
#[derive(Debug, Clone, Copy)]
struct Interval {
    /// Time in which a processor worked, for any program.
    busy: Duration,
    /// Time that the hypervisor gave to other machines.
    steal: Duration,
    /// Time in which a limit of processor time stopped this program.
    throttled: Duration,
    /// Time for this program and its child processes.
    own: Duration,
    /// Time of all processors.
    capacity: Duration,
    elapsed: Duration,
}

impl Interval {
    /// Share of the capacity that others left. All of it where nothing is known, where a whole processor had nothing to do, or
    /// where this program had nothing to do: then it waited for no processor.
    fn share_left(&self) -> f64 {
        let idle = self.capacity.saturating_sub(self.busy + self.steal);
        let is_waiting = self.own >= self.capacity.mul_f64(WAITING) || !self.throttled.is_zero();
        if self.capacity.is_zero()
            || !is_waiting
            || (idle >= self.elapsed.mul_f64(0.9) && self.throttled.is_zero())
        {
            return 1.0;
        }
        let foreign = self.busy.saturating_sub(self.own) + self.steal + self.throttled;
        (1.0 - foreign.as_secs_f64() / self.capacity.as_secs_f64()).clamp(LEAST, 1.0)
    }
}

/// Mean of the shares of the intervals from a moment on, weighted by their time.
fn mean_share(intervals: impl Iterator<Item = (Instant, Instant, f64)>, moment: Instant) -> f64 {
    let (mut time, mut sum) = (0.0, 0.0);
    for (from, to, share) in intervals {
        let part = to.saturating_duration_since(from.max(moment)).as_secs_f64();
        (time, sum) = (time + part, sum + part * share);
    }
    if time > 0.0 { sum / time } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Times of two processors in one second: busy, of this program, stolen, throttled (ms).
    #[rstest]
    #[case::free(1_000, 1_000, 0, 0, 1.0)]
    #[case::own(2_000, 2_000, 0, 0, 1.0)]
    #[case::half(2_000, 1_000, 0, 0, 0.5)]
    #[case::idle_processor(950, 100, 0, 0, 1.0)]
    #[case::stolen(1_000, 1_000, 1_000, 0, 0.5)]
    #[case::throttled(500, 500, 0, 500, 0.75)]
    #[case::nearly_all(2_000, 60, 0, 0, LEAST)]
    #[case::rounded_ticks(2_100, 60, 0, 0, LEAST)]
    #[case::silent_target(2_000, 30, 0, 0, 1.0)]
    fn others_leave_the_rest(
        #[case] busy: u64,
        #[case] own: u64,
        #[case] steal: u64,
        #[case] throttled: u64,
        #[case] expected: f64,
    ) {
        let ms = Duration::from_millis;
        let [busy, own, steal, throttled] = [busy, own, steal, throttled].map(ms);
        let interval = Interval { busy, own, steal, throttled, capacity: ms(2_000), elapsed: ms(1_000) };
        assert!((interval.share_left() - expected).abs() < 1e-9);
        let unknown = Interval { capacity: Duration::ZERO, ..interval };
        assert!((unknown.share_left() - 1.0).abs() < 1e-9);
    }

    #[rstest]
    #[case::whole(0, 0.7)]
    #[case::from_the_middle_of_an_interval(5, 0.6)]
    #[case::last_interval(10, 0.4)]
    #[case::not_read_since(20, 1.0)]
    fn share_is_a_mean_over_time(#[case] since_s: u64, #[case] expected: f64) {
        let begin = Instant::now();
        let at = |s| begin + Duration::from_secs(s);
        let intervals = [(at(0), at(10), 1.0), (at(10), at(20), 0.4)];
        let share = mean_share(intervals.into_iter(), at(since_s));
        assert!((share - expected).abs() < 1e-9, "{share}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_work_is_read() {
        use rustix::time::{ClockId, clock_gettime};

        let used = || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
        let (before, end) = (Reading::now().own, used() + Duration::from_millis(60));
        while used() < end {
            std::hint::spin_loop();
        }
        assert!(Reading::now().own >= before + Duration::from_millis(40));
    }
}
