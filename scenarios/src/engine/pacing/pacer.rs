use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::workload::Workload;
use super::alarm::Alarm;

/// Releases operations and wakes sleeping users when they are due.
#[derive(Debug)]
pub(in crate::engine) struct Pacer {
    alarm: Alarm,
    sleepers: Mutex<Sleepers>,
}

#[derive(Debug, Default)]
struct Sleepers {
    by_time: BinaryHeap<Reverse<Sleeper>>,
    /// When the alarm fires next.
    set: Option<Instant>,
}

#[derive(Debug)]
struct Sleeper {
    until: Instant,
    waker: Waker,
}

/// Wait while nothing is due. An alarm needs some time.
const NOTHING_DUE: Duration = Duration::from_secs(3600);

impl Pacer {
    /// A pacer that does not run yet. Fails if the system has no more files.
    pub(in crate::engine) fn new() -> io::Result<Self> {
        Ok(Self { alarm: Alarm::new()?, sleepers: Mutex::default() })
    }

    /// Waits until a time. It needs a pacer that runs.
    pub(in crate::engine) async fn sleep_until(&self, until: Instant) {
        let mut registered = false;
        poll_fn(|cx| {
            if Instant::now() >= until {
                return Poll::Ready(());
            }
            if !registered {
                registered = true;
                self.register(Sleeper { until, waker: cx.waker().clone() });
            }
            Poll::Pending
        })
        .await;
    }

    /// Runs until it is dropped: releases the operations of a workload and wakes sleepers.
    pub(in crate::engine) async fn run(&self, workload: &Workload, started: Instant) {
        loop {
            // What comes due meanwhile is released at once, not after another alarm.
            let next = workload.release(started.elapsed());
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
            while let Some(sleeper) = sleepers.by_time.peek()
                && sleeper.0.until <= now
            {
                due.extend(sleepers.by_time.pop().map(|sleeper| sleeper.0.waker));
            }
            let next = sleepers.by_time.peek().map(|sleeper| sleeper.0.until);
            let next = next.into_iter().chain(other).min().unwrap_or(now + NOTHING_DUE);
            sleepers.set = Some(next);
            self.alarm.set(next.saturating_duration_since(now));
            due
        };
        due.into_iter().for_each(Waker::wake);
    }

    fn register(&self, sleeper: Sleeper) {
        let sleepers = &mut *self.sleepers.lock();
        let until = sleeper.until;
        sleepers.by_time.push(Reverse(sleeper));
        if sleepers.set.is_some_and(|set| until < set) {
            sleepers.set = Some(until);
            self.alarm.set(until.saturating_duration_since(Instant::now()));
        }
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.until == other.until
    }
}

impl Eq for Sleeper {}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.until.cmp(&other.until)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::workload::{LoadModel, ScenarioWeights};
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
            () = pacer.run(&workload, started) => {}
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
            () = pacer.run(&workload, started) => {}
            numbers = play => assert_eq!(numbers, (0..20).collect::<Vec<_>>()),
        }
    }
}
