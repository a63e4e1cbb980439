use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use edgeproof_cli::signals::Interruption;
use edgeproof_reports::load::Ledger;
use goose::goose::Scenario;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, sleep_until, timeout};

use super::goose_users;
use super::goose_users::LoadRunContext;
use super::machine::{SelfMonitor, SelfMonitorReading, cpu_time, listening_processes};
use super::workload::LoadModel;
use crate::measure::{Codes, LoadMeasurements, RouteId, wall_step};
use crate::plan::{Arrivals, UserCount};

/// A run that is ready to start.
pub struct LoadRun {
    /// Goose scenarios with their transactions and weights; at least one. The name of a transaction is the
    /// route of its first request.
    pub scenarios: Vec<Scenario>,
    /// How many operations start, and when.
    pub model: LoadModel,
    /// The most users, and what limits them. The weights of the scenarios divide them. In the open model there are no more than
    /// operations need.
    pub users: UserCount,
    /// Seed of the order of transactions. Shards have the same.
    pub seed: u64,
    /// Codes of the tables.
    pub codes: Codes,
    /// Routes by index.
    pub routes: Vec<String>,
    /// Addresses of the target, to find its processes on this machine.
    pub addresses: Vec<SocketAddr>,
    /// Process of a launched edge, to sample its cost.
    pub edge: Option<u32>,
    /// Request timeout.
    pub timeout: Duration,
    /// Longest wait at the end for running operations.
    pub drain: Duration,
    /// Start time (default: as soon as goose has started its users).
    pub start_at: Option<SystemTime>,
    /// The route whose target all shards load. The `Date`s of its answers compare their clocks.
    pub shared_route: Option<RouteId>,
    /// Called once at the start.
    pub on_start: Option<Box<dyn FnOnce(Instant) + Send>>,
    /// Called regularly during the run.
    pub live: Option<ProgressListener>,
}

/// Data of a completed run.
pub struct RunData {
    /// The run.
    pub run: LoadRun,
    /// Start of the run by the clock of reports.
    pub started: SystemTime,
    /// Time from the start to the end of the last operation.
    pub took: Duration,
    /// Time spent waiting for running operations at the end.
    pub drained: Duration,
    /// How far the wall clock was set during the run (µs).
    pub step_us: i64,
    /// Recorded data.
    pub recorded: LoadMeasurements,
    /// Operations that the pacer released.
    pub released: u64,
    /// Operations that the plan scheduled until the end.
    pub planned: u64,
    /// Operations that waited because no user was idle. More than 0: the users ran out.
    pub waited: u64,
    /// Figures of the generator itself.
    pub self_monitor: SelfMonitorReading,
    /// CPU time of this process during the run, without the start of the users. Idle users of the open model end after it.
    pub cpu: Duration,
    /// The signal that ended the run early.
    pub interrupted: Option<Interruption>,
}

/// A callback for the progress of a run. Each call adds up all data, which takes milliseconds.
#[derive(Clone)]
pub struct ProgressListener {
    /// Time between calls.
    pub interval: Duration,
    /// The callback.
    pub show: Arc<dyn Fn(RunProgress<'_>) + Send + Sync>,
}

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunProgress<'a> {
    /// Time since the start.
    pub at: Duration,
    /// End of the last stage, since the start.
    pub end: Duration,
    /// Planned operations per second at this time; `None` in the closed model.
    pub asked: Option<f64>,
    /// Recorded data so far.
    pub recorded: &'a LoadMeasurements,
    /// Operations that the pacer released.
    pub released: u64,
    /// Operations that users started; the others wait for a free user.
    pub begun: u64,
}

/// Timeout for the start of all users.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Longest time before the first progress.
const FIRST_PROGRESS: Duration = Duration::from_millis(500);
/// Timeout for goose to end after its users.
const GOOSE_LIMIT: Duration = Duration::from_secs(30);

impl RunProgress<'_> {
    /// Operations that wait for a free user.
    pub fn waiting(&self) -> u64 {
        self.released.saturating_sub(self.begun)
    }

    /// Operations that run.
    pub fn in_flight(&self) -> u64 {
        // Dropped operations never began.
        let ended = |ledger: &Ledger| ledger.accounted() - ledger.dropped;
        self.begun.saturating_sub(ended(&self.recorded.ledger) + ended(&self.recorded.warm_up))
    }
}

impl LoadRun {
    /// Plays the run to its end. A signal ends it early, with partial data.
    pub async fn play(
        mut self,
        interrupted: impl Future<Output = Interruption> + Send,
    ) -> Result<RunData, EngineError> {
        let (goose, run) = goose_users::prepare(&mut self)?;
        // A switch left over from an earlier run in this process would count as Ctrl-C.
        goose::reset_killswitch();
        let mut attack =
            // Boxed: goose's future takes 22 KB.
            tokio::spawn(async move { Box::pin(goose.execute()).await.map(drop).map_err(|why| why.to_string()) });
        let mut interrupted = pin!(async {
            tokio::select! {
                signal = interrupted => signal,
                () = goose_users::killed() => Interruption::Interrupt,
            }
        });

        // Nothing is measured until goose has started its users.
        let started_by_goose = run.more_users.count();
        let mut ended_by = tokio::select! {
            _ = timeout(START_LIMIT, run.ready.acquire_many(started_by_goose)) => None,
            signal = &mut interrupted => Some(signal),
            broke = &mut attack => return Err(goose_users::ended_early(broke)),
        };
        if ended_by.is_none() && run.workload.arrivals().is_none() {
            goose_users::make_all(&run);
        }
        let users = run.more_users.count();
        let targets = listening_processes(&self.addresses);
        if let (Some(at), None) = (self.start_at, ended_by) {
            let wait = at.duration_since(SystemTime::now()).unwrap_or_default();
            ended_by = timeout(wait, &mut interrupted).await.ok();
        }
        // Before the start, because it reads the threads of a target on this machine.
        let self_monitor = SelfMonitor::start(targets, self.edge);
        let (start, started) = (Instant::now(), SystemTime::now());
        if let Some(on_start) = self.on_start.take() {
            on_start(start);
        }
        let cpu = cpu_time();
        run.workload.start(start);
        let mut tasks = JoinSet::new();
        let pacing = Arc::clone(&run);
        tasks.spawn(async move {
            let make = |scenario| goose_users::make_user(&pacing, scenario);
            pacing.pacer.run(&pacing.workload, start, make).await;
        });
        if let Some(live) = self.live.clone() {
            tasks.spawn(report_progress(live, Arc::clone(&run)));
        }

        let mut draining = start;
        if ended_by.is_none() {
            ended_by = tokio::select! {
                () = sleep_until((start + run.workload.end()).into()) => None,
                // A rate is due until the end of the window.
                () = run.all_ended(users), if run.workload.arrivals().is_none() => None,
                signal = &mut interrupted => Some(signal),
            };
            draining = Instant::now();
        }
        if ended_by.is_none() {
            ended_by = tokio::select! {
                () = run.all_ended(users) => None,
                signal = timeout(self.drain, &mut interrupted) => signal.ok(),
            };
        }
        let ended = Instant::now();
        let step_us = wall_step((start, started), (ended, SystemTime::now()));
        let cpu = cpu_time().saturating_sub(cpu);
        drop(tasks);
        run.workload.stop();
        let self_monitor = self_monitor.finish();
        // The users return at once after the stop signal.
        let _ = timeout(GOOSE_LIMIT, run.done.acquire_many(run.more_users.count())).await;
        if let Ok(broke @ (Err(_) | Ok(Err(_)))) = timeout(GOOSE_LIMIT, attack).await {
            return Err(goose_users::ended_early(broke));
        }
        let took = ended - start;
        let (released, planned) = drop_untaken(&run, took);
        Ok(RunData {
            run: self,
            started,
            took,
            drained: ended - draining,
            step_us,
            recorded: run.recorded(),
            released,
            planned,
            waited: run.workload.waited(),
            self_monitor,
            cpu,
            interrupted: ended_by,
        })
    }
}

/// Records released operations that no user took. Returns the numbers of released and planned operations.
fn drop_untaken(run: &LoadRunContext, now: Duration) -> (u64, u64) {
    let (released, _) = run.workload.counts();
    for (scenario, transaction, scheduled) in run.workload.untaken() {
        let route = run.transactions[scenario][transaction].route;
        run.never_started(route, scheduled, now.saturating_sub(scheduled.at));
    }
    let planned = |arrivals: &Arrivals| arrivals.before(now).min(arrivals.count());
    (released, run.workload.arrivals().map_or(released, planned))
}

/// Calls back regularly. Elsewhere than on a worker, because adding up takes milliseconds.
async fn report_progress(live: ProgressListener, run: Arc<LoadRunContext>) {
    let mut wait = live.interval.min(FIRST_PROGRESS);
    loop {
        sleep(wait).await;
        wait = live.interval;
        let (show, run) = (Arc::clone(&live.show), Arc::clone(&run));
        let call = move || {
            let (at, (released, begun)) = (run.workload.started().elapsed(), run.workload.counts());
            let asked = run.workload.arrivals().map(|arrivals| arrivals.rate_at(at));
            let (end, recorded) = (run.workload.end(), &run.recorded());
            show(RunProgress { at, end, asked, recorded, released, begun });
        };
        // Fails only at the end of the runtime.
        let _ = spawn_blocking(call).await;
    }
}

/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum EngineError {
    /// Goose failed.
    #[error("cannot run the users: {0}")]
    #[diagnostic(help("this is an error of goose; check the limits on threads and open files"))]
    Goose(String),
    /// The system has no timer for the pacer.
    #[error("cannot start the pacer: {0}")]
    #[diagnostic(help("raise the limit on open files (ulimit -n)"))]
    Pacer(std::io::Error),
}
