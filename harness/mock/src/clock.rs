use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;

/// Clock of a mock service: it decides on validity, windows and ages. It shows the machine's time until a test moves or
/// stops it. Clones share one clock.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use edgeproof_mock::Clock;
///
/// let clock = Clock::default();
/// clock.advance(Duration::from_secs(120));
/// assert!(clock.now() >= SystemTime::now() + Duration::from_secs(119));
/// ```
#[derive(Debug, Clone)]
pub struct Clock(Arc<SharedClock>);

#[derive(Debug)]
struct SharedClock {
    setting: Mutex<Setting>,
    moved: watch::Sender<()>,
}

#[derive(Debug, Clone, Copy)]
enum Setting {
    /// Offset from the machine's clock (ns); an `i64` covers 292 years.
    Running(i64),
    /// Time that the clock shows until a test moves it.
    Stopped(SystemTime),
}

impl Clock {
    /// Current time.
    pub fn now(&self) -> SystemTime {
        self.setting().now()
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.shift(nanos(by));
    }

    /// Moves the clock back.
    pub fn rewind(&self, by: Duration) {
        self.shift(-nanos(by));
    }

    /// Offset from the machine's clock (ms). Negative: behind.
    pub fn offset(&self) -> i64 {
        match self.setting() {
            Setting::Running(offset) => offset / MILLI,
            Setting::Stopped(time) => between(SystemTime::now(), time) / MILLI,
        }
    }

    /// Runs at this offset from the machine's clock (ms). Negative: behind. 0 undoes all changes.
    pub fn set_offset(&self, millis: i64) {
        self.change(|_| Setting::Running(millis.saturating_mul(MILLI)));
    }

    /// Sets the time. A stopped clock stays stopped.
    pub fn set(&self, time: SystemTime) {
        self.change(|setting| match setting {
            Setting::Running(_) => Setting::Running(between(SystemTime::now(), time)),
            Setting::Stopped(_) => Setting::Stopped(time),
        });
    }

    /// Stops the clock, for tests at the exact end of a limit. [`Self::advance`] and the like still move it.
    pub fn stop(&self) {
        self.change(|setting| Setting::Stopped(setting.now()));
    }

    /// Notification of each change.
    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.0.moved.subscribe()
    }

    /// Real time until the clock shows `time`, unless a test moves it. None for a stopped clock before `time`.
    pub(crate) fn until(&self, time: SystemTime) -> Option<Duration> {
        let setting = self.setting();
        match time.duration_since(setting.now()) {
            Ok(left) if !left.is_zero() => matches!(setting, Setting::Running(_)).then_some(left),
            Ok(_) | Err(_) => Some(Duration::ZERO),
        }
    }

    fn shift(&self, nanos: i64) {
        self.change(|setting| match setting {
            Setting::Running(offset) => Setting::Running(offset.saturating_add(nanos)),
            Setting::Stopped(time) => Setting::Stopped(moved(time, nanos)),
        });
    }

    fn change(&self, change: impl FnOnce(Setting) -> Setting) {
        let mut setting = self.0.setting.lock();
        *setting = change(*setting);
        drop(setting);
        self.0.moved.send_replace(());
    }

    fn setting(&self) -> Setting {
        *self.0.setting.lock()
    }
}

impl Default for Clock {
    /// A clock that shows the machine's time.
    fn default() -> Self {
        Self(Arc::new(SharedClock {
            setting: Mutex::new(Setting::Running(0)),
            moved: watch::Sender::new(()),
        }))
    }
}

impl Setting {
    fn now(self) -> SystemTime {
        match self {
            Self::Running(offset) => moved(SystemTime::now(), offset),
            Self::Stopped(time) => time,
        }
    }
}

/// Nanoseconds in a millisecond.
const MILLI: i64 = 1_000_000;

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

/// Nanoseconds from one time to another.
fn between(from: SystemTime, to: SystemTime) -> i64 {
    to.duration_since(from).map_or_else(|behind| -nanos(behind.duration()), nanos)
}

/// The moved time, or the same time where the system cannot express the moved one.
fn moved(time: SystemTime, nanos: i64) -> SystemTime {
    let span = Duration::from_nanos(nanos.unsigned_abs());
    let moved = if nanos < 0 { time.checked_sub(span) } else { time.checked_add(span) };
    moved.unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn near(left: SystemTime, right: SystemTime) -> bool {
        between(left, right).unsigned_abs() < Duration::from_secs(30).as_nanos() as u64
    }

    #[test]
    fn moves_add_up_and_offset_zero_undoes_them() {
        let clock = Clock::default();
        assert!(near(clock.now(), SystemTime::now()));
        clock.advance(HOUR);
        clock.clone().advance(HOUR);
        clock.rewind(HOUR);
        assert!(near(clock.now(), SystemTime::now() + HOUR));
        assert_eq!(clock.offset(), 3_600_000);
        clock.set_offset(-3_600_000);
        assert!(near(clock.now(), SystemTime::now() - HOUR));
        clock.set(SystemTime::UNIX_EPOCH);
        assert!(near(clock.now(), SystemTime::UNIX_EPOCH));
        clock.set_offset(0);
        assert!(near(clock.now(), SystemTime::now()));
    }

    #[test]
    fn stopped_clock_shows_the_same_time_until_moved() {
        let clock = Clock::default();
        clock.stop();
        let now = clock.now();
        assert_eq!((clock.until(now), clock.until(now + HOUR)), (Some(Duration::ZERO), None));
        clock.advance(HOUR);
        assert_eq!(clock.now(), now + HOUR);
        clock.set(now);
        assert_eq!(clock.now(), now);
        clock.set_offset(0);
        assert!(clock.until(SystemTime::now() + HOUR).is_some());
    }

    #[test]
    fn extreme_moves_saturate() {
        let clock = Clock::default();
        clock.advance(Duration::MAX);
        clock.advance(Duration::MAX);
        assert!(clock.now() > SystemTime::now());
        clock.rewind(Duration::MAX);
        clock.set_offset(i64::MIN);
        assert!(clock.now() < SystemTime::now());
    }
}
