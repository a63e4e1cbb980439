use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::workload::Workload;

/// Releases operations and wakes sleeping users when they are due.
#[derive(Debug)]
pub(super) struct Pacer {
    alarm: Alarm,
    sleepers: Mutex<Sleepers>,
}

#[derive(Debug, Default)]
struct Sleepers {
    /// By the end of their sleep, and in the order of their registration.
    by_time: BTreeMap<(Instant, u64), Waker>,
    registered: u64,
    /// When the alarm fires next.
    set: Option<Instant>,
}

/// Wait while nothing is due. An alarm needs some time.
const NOTHING_DUE: Duration = Duration::from_secs(3600);

impl Pacer {
    /// A pacer that does not run yet. Fails if the system has no more files.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { alarm: Alarm::new()?, sleepers: Mutex::default() })
    }

    /// Waits until a time. It needs a pacer that runs.
    pub(super) async fn sleep_until(&self, until: Instant) {
        let mut registered = false;
        poll_fn(|cx| {
            if Instant::now() >= until {
                return Poll::Ready(());
            }
            if !registered {
                registered = true;
                self.register(until, cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Runs until it is dropped: releases the operations of a workload and wakes sleepers. `make`: see [`Workload::release`].
    pub(super) async fn run(&self, workload: &Workload, started: Instant, make: impl Fn(usize) -> bool) {
        loop {
            // What comes due meanwhile is released at once, not after another alarm.
            let next = workload.release(started.elapsed(), &make);
            self.wake(next.map(|at| started + at));
            self.alarm.fired().await;
        }
    }

    /// Wakes all sleepers that are due. Sets the alarm to the next one, or to `other` if that is earlier.
    fn wake(&self, other: Option<Instant>) {
        let due: Vec<Waker> = {
            let sleepers = &mut *self.sleepers.lock();
            let now = Instant::now();
            let mut due = Vec::new();
            while let Some(first) = sleepers.by_time.first_entry()
                && first.key().0 <= now
            {
                due.push(first.remove());
            }
            let next = sleepers.by_time.keys().next().map(|(until, _)| *until);
            let next = next.into_iter().chain(other).min().unwrap_or(now + NOTHING_DUE);
            sleepers.set = Some(next);
            self.alarm.set(next.saturating_duration_since(now));
            due
        };
        due.into_iter().for_each(Waker::wake);
    }

    fn register(&self, until: Instant, waker: Waker) {
        let sleepers = &mut *self.sleepers.lock();
        sleepers.registered += 1;
        sleepers.by_time.insert((until, sleepers.registered), waker);
        if sleepers.set.is_some_and(|set| until < set) {
            sleepers.set = Some(until);
            self.alarm.set(until.saturating_duration_since(Instant::now()));
        }
    }
}

#[cfg(target_os = "linux")]
use kernel::Alarm;
#[cfg(not(target_os = "linux"))]
use runtime::Alarm;

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A one-shot timer of the kernel, which the runtime waits for as for a socket.
    ///
    /// The runtime's own timer fires up to 1 ms late. A thread that sleeps is precise, but to wake a user from
    /// another thread costs more CPU than to send its request.
    #[derive(Debug)]
    pub(in crate::engine) struct Alarm(AsyncFd<OwnedFd>);

    impl Alarm {
        /// An alarm that is not set. Fails if the system has no more files.
        pub(in crate::engine) fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            #[expect(deprecated, reason = "its successor is unsafe; an `OwnedFd` never changes its file")]
            AsyncFd::with_interest(timer, Interest::READABLE).map(Self)
        }

        /// Sets the alarm, and replaces an earlier setting.
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

        /// Waits until the alarm fires.
        pub(in crate::engine) async fn fired(&self) {
            // Not read: the next setting resets it.
            if let Ok(mut ready) = self.0.readable().await {
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod runtime {
    use std::io;
    use std::time::{Duration, Instant};

    use tokio::sync::watch;
    use tokio::time::timeout_at;

    /// The runtime's timer.
    #[derive(Debug)]
    pub(in crate::engine) struct Alarm(watch::Sender<Instant>);

    impl Alarm {
        #[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
        pub(in crate::engine) fn new() -> io::Result<Self> {
            Ok(Self(watch::Sender::new(Instant::now())))
        }

        pub(in crate::engine) fn set(&self, after: Duration) {
            self.0.send_replace(Instant::now() + after);
        }

        pub(in crate::engine) async fn fired(&self) {
            let mut set = self.0.subscribe();
            loop {
                let at = *set.borrow_and_update();
                if timeout_at(at.into(), set.changed()).await.is_err() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::workload::{LoadModel, ScenarioWeights};
    use super::*;
    use crate::plan::{Arrivals, Rate, Shard, Stages};

    fn workload(rate: f64, ms: u64) -> Workload {
        let stages = Stages::constant(Rate::per_second(rate).unwrap(), Duration::from_millis(ms)).unwrap();
        let model = LoadModel::Open(Arrivals::new(&stages, Duration::ZERO, Shard::WHOLE));
        Workload::new(model, &[ScenarioWeights { weight: 1, transactions: vec![1] }], 7)
    }

    #[tokio::test]
    async fn sleepers_wake_when_they_are_due() {
        let pacer = Pacer::new().unwrap();
        let workload = workload(1.0, 1);
        let started = Instant::now();
        let sleep = async |ms: u64| {
            let until = started + Duration::from_millis(ms);
            pacer.sleep_until(until).await;
            assert!(Instant::now() >= until);
        };
        tokio::select! {
            () = pacer.run(&workload, started, |_| false) => {}
            // Each sets the alarm to an earlier time.
            _ = async { tokio::join!(sleep(9), sleep(6), sleep(3)) } => {}
        }
        // Due already.
        pacer.sleep_until(started).await;
    }

    #[tokio::test]
    async fn operations_are_released_when_they_are_due() {
        let pacer = Pacer::new().unwrap();
        let workload = workload(1000.0, 20);
        let started = Instant::now();
        workload.start(started);
        let play = async {
            let mut numbers = Vec::new();
            while numbers.len() < 20 {
                let operation = workload.next(0, 0).await.unwrap();
                assert!(started.elapsed() >= operation.scheduled.at);
                numbers.push(operation.scheduled.number);
            }
            numbers
        };
        tokio::select! {
            () = pacer.run(&workload, started, |_| false) => {}
            numbers = play => assert_eq!(numbers, (0..20).collect::<Vec<_>>()),
        }
    }

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
