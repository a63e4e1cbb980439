use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use edgeproof_cli::signals::Interruption;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, sleep_until, timeout};

use super::error::EngineError;
use super::goose_users;
use super::load_run_options::{LoadRunOptions, ProgressListener, RunProgress, StartTime};
use super::machine::{SelfMonitor, TargetProcesses, cpu_time};
use super::run_context::LoadRunContext;
use super::run_data::RunData;
use super::workload::{UntakenOperation, Workload};
use crate::plan::Arrivals;

/// A run that is ready to start.
pub struct LoadRun {
    options: LoadRunOptions,
}

/// Timeout for the start of all users.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Timeout for goose to end after its users.
const GOOSE_LIMIT: Duration = Duration::from_secs(30);

impl LoadRun {
    /// A run with these options.
    pub fn new(options: LoadRunOptions) -> Self {
        Self { options }
    }

    /// Plays the run to its end. A signal ends it early, with partial data.
    pub async fn play(
        self,
        interrupted: impl Future<Output = Interruption> + Send,
    ) -> Result<RunData, EngineError> {
        let mut options = self.options;
        let users = options.users.users as usize;
        let (weights, transactions) = goose_users::transactions(&options.scenarios, &options.routes);
        let workload = Workload::new(options.model.clone(), &weights, options.seed);
        let run = LoadRunContext::new(options.codes.clone(), options.timeout, workload, transactions);
        let run = Arc::new(run.map_err(EngineError::Pacer)?);
        let goose = goose_users::prepare(std::mem::take(&mut options.scenarios), users, &run)?;
        // A switch left over from an earlier run in this process would count as Ctrl-C.
        goose::reset_killswitch();
        let mut attack =
            // Boxed: goose's future takes 22 KB.
            tokio::spawn(async move { Box::pin(goose.execute()).await.map(drop).map_err(|why| why.to_string()) });
        tokio::pin!(interrupted);

        // Nothing is measured until all users have started.
        let mut ended_by = tokio::select! {
            ready = timeout(START_LIMIT, run.all_ready(users)) => { let _ = ready; None }
            signal = &mut interrupted => Some(signal),
            () = goose_users::killed() => Some(Interruption::Interrupt),
            broke = &mut attack => return Err(goose_users::ended_early(broke)),
        };
        let targets = TargetProcesses::find(&options.addresses);
        if let (Some(at), None) = (options.start_at, ended_by) {
            let wait = at.duration_since(SystemTime::now()).unwrap_or_default();
            ended_by = tokio::select! {
                () = sleep(wait) => None,
                signal = &mut interrupted => Some(signal),
                () = goose_users::killed() => Some(Interruption::Interrupt),
            };
        }
        // Before the start, because it reads the threads of a target on this machine.
        let self_monitor = SelfMonitor::start(targets);
        let start = StartTime { instant: run.start(), wall_clock: SystemTime::now() };
        if let Some(on_start) = options.on_start.take() {
            on_start(start.instant);
        }
        let cpu = cpu_time();
        run.workload.start(start.instant);
        let pacing = Arc::clone(&run);
        let pacer = tokio::spawn(async move { pacing.pacer.run(&pacing.workload, start.instant).await });
        let live = options.live.clone().map(|live| tokio::spawn(report_progress(live, Arc::clone(&run))));

        let last = run.workload.end();
        let all_ended = run.all_ended(users);
        tokio::pin!(all_ended);
        let mut finished = false;
        if ended_by.is_none() {
            ended_by = tokio::select! {
                () = sleep_until((start.instant + last).into()) => None,
                // A rate is due until the end of the window.
                () = &mut all_ended, if run.workload.arrivals().is_none() => { finished = true; None }
                signal = &mut interrupted => Some(signal),
                () = goose_users::killed() => Some(Interruption::Interrupt),
            };
        }
        let draining = Instant::now();
        if ended_by.is_none() && !finished {
            ended_by = tokio::select! {
                () = &mut all_ended => None,
                () = sleep(options.drain) => None,
                signal = &mut interrupted => Some(signal),
                () = goose_users::killed() => Some(Interruption::Interrupt),
            };
        }
        let ended = Instant::now();
        let cpu = cpu_time().saturating_sub(cpu);
        pacer.abort();
        run.workload.stop();
        let self_monitor = self_monitor.finish();
        // The users return at once after the stop signal.
        let _ = timeout(GOOSE_LIMIT, run.all_done(users)).await;
        let goose = timeout(GOOSE_LIMIT, attack).await;
        if let Some(live) = live {
            live.abort();
        }
        if let Ok(broke @ (Err(_) | Ok(Err(_)))) = goose {
            return Err(goose_users::ended_early(broke));
        }
        let took = ended - start.instant;
        let (released, planned) = drop_untaken(&run, took);
        Ok(RunData {
            start,
            took,
            drained: ended - draining,
            recorded: run.recorder.sum(),
            released,
            planned,
            users: options.users,
            waited: run.workload.waited(),
            last_outage: run.recorder.last_outage(),
            last_answer: run.recorder.last_answer(),
            last_unanswered: run.recorder.last_unanswered(),
            self_monitor,
            cpu,
            interrupted: ended_by,
        })
    }
}

/// Records released operations that no user took. Returns the numbers of released and planned operations.
fn drop_untaken(run: &LoadRunContext, now: Duration) -> (u64, u64) {
    let (released, _) = run.workload.counts();
    for UntakenOperation { scenario, transaction, scheduled } in run.workload.untaken() {
        let route = run.transactions[scenario][transaction].route;
        run.never_started(route, scheduled, now.saturating_sub(scheduled.at));
    }
    let planned = |arrivals: &Arrivals| arrivals.before(now).min(arrivals.count());
    (released, run.workload.arrivals().map_or(released, planned))
}

/// Calls back twice a second. Elsewhere than on a worker, because adding up takes milliseconds.
async fn report_progress(live: ProgressListener, run: Arc<LoadRunContext>) {
    loop {
        sleep(Duration::from_millis(500)).await;
        let (live, run) = (Arc::clone(&live), Arc::clone(&run));
        // Fails only at the end of the runtime.
        let _ = spawn_blocking(move || show_progress(&live, &run)).await;
    }
}

fn show_progress(live: &ProgressListener, run: &LoadRunContext) {
    let end = run.workload.end();
    let at = run.started().elapsed();
    let sum = run.recorder.sum();
    let (released, begun) = run.workload.counts();
    live(RunProgress {
        at,
        end,
        asked: run.workload.arrivals().map(|arrivals| arrivals.rate_at(at)),
        measurements: &sum.measurements,
        ledger: &sum.ledger,
        warm_up: &sum.warm_up,
        released,
        begun,
        draining: at > end,
    });
}
