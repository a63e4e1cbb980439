use std::io;
use std::time::Duration;

/// A one-shot timer of the runtime that fires on time.
///
/// The runtime's own timer fires up to 1 ms late. A thread that sleeps is precise, but to wake a user from
/// another thread costs more CPU than to send its request.
#[derive(Debug)]
pub(in crate::engine) struct Alarm(system::Alarm);

impl Alarm {
    /// An alarm that is not set. Fails if the system has no more files.
    pub(in crate::engine) fn new() -> io::Result<Self> {
        system::Alarm::new().map(Self)
    }

    /// Sets the alarm, and replaces an earlier setting.
    pub(in crate::engine) fn set(&self, after: Duration) {
        self.0.set(after);
    }

    /// Waits until the alarm fires.
    pub(in crate::engine) async fn fired(&self) {
        self.0.fired().await;
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A timer of the kernel, which the runtime waits for as for a socket.
    #[derive(Debug)]
    pub(in crate::engine) struct Alarm(AsyncFd<OwnedFd>);

    impl Alarm {
        pub(in crate::engine) fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            #[expect(deprecated, reason = "its successor is unsafe; an `OwnedFd` never changes its file")]
            AsyncFd::with_interest(timer, Interest::READABLE).map(Self)
        }

        pub(in crate::engine) fn set(&self, after: Duration) {
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            // 0 would stop the timer.
            let after = after.max(Duration::from_nanos(1));
            let it_value = Timespec {
                tv_sec: after.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: after.subsec_nanos().into(),
            };
            let value = Itimerspec { it_interval: zero, it_value };
            // It fails only for an invalid file or value, and both are valid.
            let _ = timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &value);
        }

        pub(in crate::engine) async fn fired(&self) {
            // Not read: the next setting resets it.
            if let Ok(mut ready) = self.0.readable().await {
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::time::{Duration, Instant};

    use tokio::sync::watch;
    use tokio::time::sleep_until;

    /// The runtime's timer.
    #[derive(Debug)]
    pub(in crate::engine) struct Alarm(watch::Sender<Option<Instant>>);

    impl Alarm {
        #[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
        pub(in crate::engine) fn new() -> io::Result<Self> {
            Ok(Self(watch::Sender::new(None)))
        }

        pub(in crate::engine) fn set(&self, after: Duration) {
            self.0.send_replace(Instant::now().checked_add(after));
        }

        pub(in crate::engine) async fn fired(&self) {
            let mut changed = self.0.subscribe();
            loop {
                let at = *changed.borrow_and_update();
                let fires = async {
                    match at {
                        Some(at) => sleep_until(at.into()).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = fires => {
                        // It fires once, unless it was set anew.
                        self.0.send_if_modified(|set| {
                            set.take_if(|set| Some(*set) == at);
                            false
                        });
                        return;
                    }
                    _ = changed.changed() => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn alarm_fires_once_for_each_setting() {
        let alarm = Alarm::new().unwrap();
        for ms in [2, 1] {
            let begun = Instant::now();
            // The last setting counts.
            alarm.set(Duration::from_secs(3600));
            alarm.set(Duration::from_millis(ms));
            alarm.fired().await;
            assert!(begun.elapsed() >= Duration::from_millis(ms));
        }
        alarm.set(Duration::ZERO);
        alarm.fired().await;
    }
}
