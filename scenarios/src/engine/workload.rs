use std::future::poll_fn;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::idle_users::{IdleUsers, Taker};
use crate::plan::{Arrivals, ScheduledOperation, WeightedDraw};

/// How many operations start, and when.
#[derive(Debug, Clone)]
pub enum LoadModel {
    /// Open model: operations start at their intended start times.
    Open(Arrivals),
    /// Closed model: each user starts its next operation when the last one has ended.
    Closed {
        /// Length of the measured period.
        time: Duration,
        /// Time before it.
        warm_up: Duration,
    },
}

/// The operations of a run. Users take them when they are due (open model), or as soon as they are free
/// (closed model). Weights decide which transaction is due.
#[derive(Debug)]
pub struct Workload {
    model: LoadModel,
    /// What the draw chooses from: scenario and transaction.
    choices: Vec<(usize, usize)>,
    draw: WeightedDraw,
    /// A draw for each scenario, in the closed model: its users play only its own transactions.
    draw_of: Vec<WeightedDraw>,
    idle_users: Vec<IdleUsers>,
    started: OnceLock<Instant>,
    released: AtomicU64,
    taken: AtomicU64,
    waited: AtomicU64,
    stopped: AtomicBool,
}

/// Weights of a scenario and of its transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioWeights {
    /// Weight of the scenario.
    pub weight: usize,
    /// Weights of its transactions.
    pub transactions: Vec<usize>,
}

/// An operation that a user may start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// Index of the transaction in its scenario.
    pub transaction: usize,
    /// The plan of the operation.
    pub scheduled: ScheduledOperation,
    /// Whether it waited for a user.
    pub waited: bool,
}

/// Idle users that a scenario has at least, while it may have more.
const AHEAD: usize = 32;

impl Workload {
    /// The operations of a run of these scenarios. The seed decides the order of transactions.
    pub fn new(model: LoadModel, scenarios: &[ScenarioWeights], seed: u64) -> Self {
        let product: u64 = scenarios.iter().map(ScenarioWeights::sum).fold(1, u64::saturating_mul);
        let (mut choices, mut weights) = (Vec::new(), Vec::new());
        for (place, scenario) in scenarios.iter().enumerate() {
            for (transaction, weight) in scenario.transactions.iter().enumerate() {
                choices.push((place, transaction));
                // The scenario's share, divided among its transactions.
                let share = (product / scenario.sum()).saturating_mul(scenario.weight as u64);
                weights.push(share.saturating_mul(*weight as u64));
            }
        }
        let draw_of = |scenario: &ScenarioWeights| {
            let weights: Vec<u64> = scenario.transactions.iter().map(|weight| *weight as u64).collect();
            WeightedDraw::new(&weights, seed)
        };
        Self {
            model,
            choices,
            draw: WeightedDraw::new(&weights, seed),
            draw_of: scenarios.iter().map(draw_of).collect(),
            idle_users: scenarios.iter().map(|_| IdleUsers::default()).collect(),
            started: OnceLock::new(),
            released: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Intended start times; `None` in the closed model.
    pub fn arrivals(&self) -> Option<&Arrivals> {
        match &self.model {
            LoadModel::Open(arrivals) => Some(arrivals),
            LoadModel::Closed { .. } => None,
        }
    }

    /// Time after which no operation starts, since the start.
    pub fn end(&self) -> Duration {
        match &self.model {
            LoadModel::Open(arrivals) => arrivals.end,
            LoadModel::Closed { time, warm_up } => *time + *warm_up,
        }
    }

    /// Number of released and of started operations.
    pub fn counts(&self) -> (u64, u64) {
        let taken = self.taken.load(Ordering::Acquire);
        match &self.model {
            LoadModel::Open(_) => (self.released.load(Ordering::Acquire), taken),
            LoadModel::Closed { .. } => (taken, taken),
        }
    }

    /// Number of operations that waited for a user.
    pub fn waited(&self) -> u64 {
        self.waited.load(Ordering::Acquire)
    }

    /// Start of the run; now, if the run has not started.
    pub fn started(&self) -> Instant {
        self.started.get().copied().unwrap_or_else(Instant::now)
    }

    /// Starts the clock.
    pub fn start(&self, started: Instant) {
        let _ = self.started.set(started);
        // Users of the closed model wait as if for an operation.
        if self.arrivals().is_none_or(|arrivals| arrivals.count() == 0) {
            self.idle_users.iter().for_each(IdleUsers::end);
        }
    }

    /// Hands all operations that are due by now to idle users. `make` makes a user of a scenario when few are idle; false: there may
    /// be no more. Returns when the next operation is due, since the start; `None` after the last.
    pub(super) fn release(&self, elapsed: Duration, make: impl Fn(usize) -> bool) -> Option<Duration> {
        let LoadModel::Open(arrivals) = &self.model else { return None };
        let count = arrivals.count();
        let mut place = self.released.load(Ordering::Acquire);
        if place == count {
            return None;
        }
        while place < count {
            let (scenario, _, scheduled) = self.planned(arrivals, place);
            if scheduled.at > elapsed {
                return Some(scheduled.at);
            }
            self.released.store(place + 1, Ordering::Release);
            let users = &self.idle_users[scenario];
            while users.left() < AHEAD && make(scenario) {}
            match users.give(place) {
                Taker::Idle(waker) => waker.into_iter().for_each(Waker::wake),
                Taker::Coming => {}
                Taker::Free => _ = self.waited.fetch_add(1, Ordering::AcqRel),
            }
            place += 1;
        }
        None
    }

    /// Ends the run: users take no more operations, and running ones end as soon as their users are polled.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.idle_users.iter().for_each(IdleUsers::end);
    }

    /// Whether the run ended.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// The next operation for a free user of a scenario; `None` at the end.
    pub async fn next(&self, scenario: usize, user: usize) -> Option<Operation> {
        let take = poll_fn(|cx| {
            if self.is_stopped() {
                return Poll::Ready(None);
            }
            self.idle_users[scenario].poll_take(user as u32, cx)
        });
        match &self.model {
            LoadModel::Open(arrivals) => {
                let (place, waited) = take.await?;
                self.taken.fetch_add(1, Ordering::AcqRel);
                let (_, transaction, scheduled) = self.planned(arrivals, place);
                Some(Operation { transaction, scheduled, waited })
            }
            LoadModel::Closed { time, warm_up } => {
                let started = if let Some(started) = self.started.get() {
                    *started
                } else {
                    take.await;
                    *self.started.get()?
                };
                let at = started.elapsed();
                if at >= *time + *warm_up || self.is_stopped() {
                    return None;
                }
                let number = self.taken.fetch_add(1, Ordering::AcqRel);
                let transaction = self.draw_of[scenario].draw(number);
                let scheduled = ScheduledOperation { number, at, measured: at >= *warm_up };
                Some(Operation { transaction, scheduled, waited: false })
            }
        }
    }

    /// Released operations that no user has taken: scenario, transaction and plan.
    pub(super) fn untaken(&self) -> Vec<(usize, usize, ScheduledOperation)> {
        let LoadModel::Open(arrivals) = &self.model else { return Vec::new() };
        let untaken = self.idle_users.iter().flat_map(IdleUsers::untaken);
        untaken.map(|place| self.planned(arrivals, place)).collect()
    }

    /// Scenario, transaction and plan of an operation.
    fn planned(&self, arrivals: &Arrivals, place: u64) -> (usize, usize, ScheduledOperation) {
        let scheduled = arrivals.get(place);
        let (scenario, transaction) = self.choices[self.draw.draw(scheduled.number)];
        (scenario, transaction, scheduled)
    }

    /// Notes a user that was made and asks for an operation soon.
    pub(super) fn expect(&self, scenario: usize, user: usize) {
        self.idle_users[scenario].expect(user as u32);
    }

    /// Registers a user that never waited, so that `stop` wakes it.
    pub(super) fn register(&self, scenario: usize, user: usize, waker: &Waker) {
        self.idle_users[scenario].register(user as u32, waker);
    }
}

impl ScenarioWeights {
    fn sum(&self) -> u64 {
        self.transactions.iter().map(|weight| *weight as u64).sum::<u64>().max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Context;

    use super::*;
    use crate::plan::{Rate, Shard, Stages};

    const MIXED: [(usize, &[usize]); 3] = [(6, &[1]), (3, &[1, 2]), (1, &[5])];

    fn weights() -> Vec<ScenarioWeights> {
        let of = |(weight, transactions): (usize, &[usize])| ScenarioWeights {
            weight,
            transactions: transactions.to_vec(),
        };
        MIXED.map(of).to_vec()
    }

    fn open(shard: Shard) -> Workload {
        let second = Duration::from_secs(1);
        let stages = Stages::constant(Rate::per_second(300.0).unwrap(), second).unwrap();
        Workload::new(LoadModel::Open(Arrivals::new(&stages, Duration::ZERO, shard)), &weights(), 7)
    }

    fn poll(workload: &Workload, scenario: usize, user: usize) -> Poll<Option<Operation>> {
        pin!(workload.next(scenario, user)).poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Scenario, transaction and number of all operations.
    fn drawn(shard: Shard) -> Vec<(u64, usize, usize)> {
        let workload = open(shard);
        assert_eq!(workload.release(Duration::from_secs(2), |_| false), None);
        let untaken = workload.untaken().into_iter();
        untaken.map(|(scenario, transaction, of)| (of.number, scenario, transaction)).collect()
    }

    #[test]
    fn weights_divide_operations_among_transactions() {
        let drawn = drawn(Shard::WHOLE);
        let count = |scenario, transaction| {
            drawn.iter().filter(|(_, of, which)| (*of, *which) == (scenario, transaction)).count()
        };
        assert_eq!([count(0, 0), count(1, 0), count(1, 1), count(2, 0)], [180, 30, 60, 30]);
    }

    #[test]
    fn shards_draw_as_the_whole_run() {
        let shards = (0..4).flat_map(|index| drawn(Shard::new(index, 4).unwrap()));
        let (mut shards, mut whole) = (shards.collect::<Vec<_>>(), drawn(Shard::WHOLE));
        shards.sort_unstable();
        whole.sort_unstable();
        assert_eq!(shards, whole);
    }

    #[test]
    fn operation_without_an_idle_user_waits() {
        let workload = open(Shard::WHOLE);
        workload.start(Instant::now());
        assert!((0..3).all(|scenario| poll(&workload, scenario, scenario).is_pending()));
        let next = workload.release(Duration::ZERO, |_| false).unwrap();
        assert_eq!((next, workload.counts(), workload.waited()), (Duration::from_micros(3333), (1, 0), 0));
        assert!(workload.release(Duration::from_millis(100), |_| false).is_some());
        // Each of the three users has one operation.
        assert_eq!(workload.waited(), workload.counts().0 - 3);
        let taken: Vec<Operation> = (0..2)
            .filter_map(|_| match poll(&workload, 0, 0) {
                Poll::Ready(operation) => operation,
                Poll::Pending => None,
            })
            .collect();
        assert_eq!(taken.iter().map(|operation| operation.waited).collect::<Vec<_>>(), [false, true]);
        workload.stop();
        assert_eq!(poll(&workload, 0, 0), Poll::Ready(None));
        assert_eq!(workload.untaken().len() as u64, workload.counts().0 - 2);
    }

    #[test]
    fn users_of_the_closed_model_wait_for_the_start() {
        let closed = LoadModel::Closed { time: Duration::from_secs(60), warm_up: Duration::from_secs(60) };
        let workload = Workload::new(closed, &weights(), 7);
        assert!(poll(&workload, 1, 0).is_pending());
        workload.start(Instant::now());
        let Poll::Ready(Some(operation)) = poll(&workload, 1, 0) else { panic!("the run has started") };
        assert!(!operation.scheduled.measured && operation.transaction < 2);
        workload.stop();
        assert_eq!(poll(&workload, 1, 0), Poll::Ready(None));
    }
}
