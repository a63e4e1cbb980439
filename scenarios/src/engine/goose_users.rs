use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use goose::GooseAttack;
use goose::client::GooseClientBuilder;
use goose::config::GooseConfiguration;
use goose::goose::{GooseUser, Scenario, Transaction, TransactionFunction, TransactionResult};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinError;
use tokio::time::sleep;

use super::load_run::{EngineError, LoadRun};
use super::more_users::{MoreUsers, STARTED_BY_GOOSE};
use super::pacer::Pacer;
use super::user::LoadUser;
use super::workload::{ScenarioWeights, Workload};
use crate::measure::{Codes, LoadMeasurements, RequestOutcome, RouteId, Sample};
use crate::plan::ScheduledOperation;

/// State that all users of a run share.
pub(super) struct LoadRunContext {
    /// Measurements, in several parts so that users rarely wait for a lock.
    pub(super) parts: Vec<Mutex<LoadMeasurements>>,
    /// Codes of the tables.
    pub(super) codes: Codes,
    /// The route whose answers' `Date`s are recorded.
    pub(super) shared_route: Option<RouteId>,
    /// Request timeout.
    pub(super) timeout: Duration,
    /// The operations.
    pub(super) workload: Workload,
    /// Releases operations and polls when they are due.
    pub(super) pacer: Pacer,
    /// Makes users when they are needed.
    pub(super) more_users: MoreUsers,
    /// Transactions of each scenario.
    pub(super) transactions: Vec<Vec<LoadTransaction>>,
    /// A permit for each user that goose has started.
    pub(super) ready: Semaphore,
    /// A permit for each user that is done.
    pub(super) done: Semaphore,
    /// Operations that ended.
    pub(super) ended: AtomicU64,
    /// Signals that all planned operations have ended.
    pub(super) all_ended: Notify,
}

/// A transaction of a scenario.
#[derive(Clone)]
pub(super) struct LoadTransaction {
    /// The function that goose's documentation describes.
    pub(super) function: TransactionFunction,
    /// The route that an operation counts for if it never starts.
    pub(super) route: RouteId,
}

impl LoadRunContext {
    /// The measurements of a user, and of others.
    pub(super) fn recorded_by(&self, user: usize) -> MutexGuard<'_, LoadMeasurements> {
        self.parts[user % self.parts.len()].lock()
    }

    /// All measurements.
    pub(super) fn recorded(&self) -> LoadMeasurements {
        let mut sum = LoadMeasurements::default();
        for part in &self.parts {
            // Copied, because users wait for the lock meanwhile: adding takes longer.
            let part = part.lock().clone();
            sum.add(&part);
        }
        sum
    }

    /// Records an operation that never started, at its age. Operations time out while they wait for a user.
    pub(super) fn never_started(&self, route: RouteId, scheduled: ScheduledOperation, age: Duration) {
        let ScheduledOperation { at, measured, .. } = scheduled;
        let sample = Sample {
            route,
            outcome: RequestOutcome::Dropped,
            expected: false,
            unrelayed: false,
            due: at,
            observed: age.min(self.timeout),
            // No answer could have come earlier: the age is a lower bound.
            delay: Duration::ZERO,
            service: Duration::ZERO,
            waited: true,
            lateness: None,
            waiting: None,
            measured,
        };
        let mut recorded = self.recorded_by(0);
        recorded.record(&sample);
        recorded.record_operation(measured, (RequestOutcome::Dropped, false), at, at + age);
    }

    /// Counts an operation that ended.
    pub(super) fn operation_ended(&self) {
        let ended = self.ended.fetch_add(1, Ordering::AcqRel) + 1;
        if self.workload.arrivals().is_some_and(|arrivals| ended == arrivals.count()) {
            self.all_ended.notify_one();
        }
    }

    /// Waits until all operations have ended (open model), or until this many users are done (closed model). In the open
    /// model idle users stay until the run stops: their end would count as cost of the last requests.
    pub(super) async fn all_ended(&self, users: u32) {
        match self.workload.arrivals() {
            Some(arrivals) if arrivals.count() == 0 => {}
            Some(_) => self.all_ended.notified().await,
            None => _ = self.done.acquire_many(users).await,
        }
    }
}

/// The goose attack of a run, and what its users share. Takes the scenarios. Each user plays operations of its
/// scenario when the workload hands them out: one goose transaction for each operation.
pub(super) fn prepare(options: &mut LoadRun) -> Result<(GooseAttack, Arc<LoadRunContext>), EngineError> {
    let fault = |why: goose::GooseError| EngineError::Goose(why.to_string());
    let scenarios = std::mem::take(&mut options.scenarios);
    let (weights, transactions): (Vec<_>, Vec<_>) =
        scenarios.iter().map(|scenario| transactions(scenario, &options.routes)).unzip();
    let limit = options.users.users;
    let users = limit.min(STARTED_BY_GOOSE);
    let parts = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    let run = Arc::new(LoadRunContext {
        parts: (0..parts).map(|_| Mutex::default()).collect(),
        codes: options.codes.clone(),
        shared_route: options.shared_route,
        timeout: options.timeout,
        workload: Workload::new(options.model.clone(), &weights, options.seed),
        pacer: Pacer::new().map_err(EngineError::Pacer)?,
        more_users: MoreUsers::new(users, limit, weights.iter().map(|scenario| scenario.weight)),
        transactions,
        ready: Semaphore::new(0),
        done: Semaphore::new(0),
        ended: AtomicU64::new(0),
        all_ended: Notify::new(),
    });
    let (users, rate) = (users.to_string(), (users * 50).to_string());
    // `increase-rate` is how fast goose starts users. Without a number of iterations goose prints nothing.
    let mut arguments = vec!["--users", &users, "--increase-rate", &rate, "-qqq", "--no-telnet"];
    arguments.extend(["--no-print-metrics", "--no-error-summary", "--no-metrics"]);
    arguments.extend(["--host", "http://127.0.0.1"]);
    let configuration = GooseConfiguration::parse_args_default(&arguments).map_err(fault)?;
    let mut attack = GooseAttack::initialize_with_config(configuration).map_err(fault)?;
    // Goose's client is unused: requests use connections of this crate.
    let client = GooseClientBuilder::new().without_cookies();
    attack = attack.set_client_builder_without_cookies(client).map_err(fault)?;
    for (place, mut scenario) in scenarios.into_iter().enumerate() {
        scenario.transactions.retain(|transaction| !is_operation(transaction));
        let (starting, playing) = (Arc::clone(&run), Arc::clone(&run));
        let start: TransactionFunction = Arc::new(move |user| {
            starting.more_users.started(place, user);
            starting.ready.add_permits(1);
            Box::pin(std::future::ready(Ok(())))
        });
        let operate: TransactionFunction = Arc::new(move |user| {
            let run = Arc::clone(&playing);
            Box::pin(async move { play(user, &run, place).await })
        });
        let scenario = scenario
            .register_transaction(Transaction::new(start).set_on_start())
            .register_transaction(Transaction::new(operate).set_name("operation"));
        attack = attack.register_scenario(scenario);
    }
    Ok((attack, run))
}

/// The transactions of a goose scenario. The route of a transaction is its name.
fn transactions(scenario: &Scenario, routes: &[String]) -> (ScenarioWeights, Vec<LoadTransaction>) {
    let own = || scenario.transactions.iter().filter(|own| is_operation(own));
    let transaction = |transaction: &Transaction| {
        let name = transaction.name.name_for_transaction();
        let route = RouteId(routes.iter().position(|route| route == name).unwrap_or(0) as u8);
        LoadTransaction { function: transaction.function.clone(), route }
    };
    let weights = own().map(|transaction| transaction.weight).collect();
    (ScenarioWeights { weight: scenario.weight, transactions: weights }, own().map(transaction).collect())
}

fn is_operation(transaction: &Transaction) -> bool {
    !transaction.on_start && !transaction.on_stop
}

/// Makes all users that the closed model has.
pub(super) fn make_all(run: &Arc<LoadRunContext>) {
    for scenario in 0..run.transactions.len() {
        while make_user(run, scenario) {}
    }
}

/// Makes another user of a scenario. It plays the same transactions as those that goose starts. False: there may be no more.
pub(super) fn make_user(run: &Arc<LoadRunContext>, scenario: usize) -> bool {
    let Some(mut user) = run.more_users.make(scenario) else { return false };
    run.workload.expect(scenario, user.weighted_users_index);
    let run = Arc::clone(run);
    tokio::spawn(async move {
        while user.config.iterations.is_none() {
            // What failed is recorded.
            let _ = play(&mut user, &run, scenario).await;
        }
    });
    true
}

/// Plays the next operation of a user.
async fn play(user: &mut GooseUser, run: &Arc<LoadRunContext>, scenario: usize) -> TransactionResult {
    let number = user.weighted_users_index;
    let Some(operation) = run.workload.next(scenario, number).await else {
        run.done.add_permits(1);
        // Goose ends a user after its last iteration. Another way to end it early does not exist.
        user.config.iterations = Some(1);
        return Ok(());
    };
    let LoadTransaction { function, route } = &run.transactions[scenario][operation.transaction];
    let due = run.workload.started() + operation.scheduled.at;
    if operation.waited && due.elapsed() > run.timeout {
        run.never_started(*route, operation.scheduled, run.timeout);
        run.operation_ended();
        return Ok(());
    }
    if user.get_session_data::<LoadUser>().is_none() {
        std::future::poll_fn(|cx| {
            run.workload.register(scenario, number, cx.waker());
            Poll::Ready(())
        })
        .await;
        user.set_session_data(LoadUser::new(number, Arc::clone(run), operation));
    }
    LoadUser::of(user).begin(operation);
    let mut transaction = function(user);
    let ended = until_stopped(run, transaction.as_mut()).await;
    drop(transaction);
    if let Some(result) = ended {
        LoadUser::of(user).finish(result.is_err());
        run.operation_ended();
        return result;
    }
    LoadUser::of(user).abandon();
    Ok(())
}

/// Runs a transaction until it ends; `None` if the run ends before. The end of a run wakes all users.
async fn until_stopped(
    run: &LoadRunContext,
    mut transaction: Pin<&mut (dyn Future<Output = TransactionResult> + Send)>,
) -> Option<TransactionResult> {
    std::future::poll_fn(|cx| {
        if run.workload.is_stopped() {
            return Poll::Ready(None);
        }
        transaction.as_mut().poll(cx).map(Some)
    })
    .await
}

/// Waits for Ctrl-C in a program that does not catch it. Goose has its own handler, which only sets this
/// switch.
pub(super) async fn killed() {
    while !goose::is_killswitch_triggered() {
        sleep(Duration::from_millis(50)).await;
    }
}

pub(super) fn ended_early(result: Result<Result<(), String>, JoinError>) -> EngineError {
    EngineError::Goose(match result {
        Ok(Ok(())) => "goose ended before all users had started".into(),
        Ok(Err(why)) => why,
        Err(why) => why.to_string(),
    })
}
