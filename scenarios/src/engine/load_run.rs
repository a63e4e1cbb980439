use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use edgeproof_cli::signals::Interruption;
use tokio::time::{sleep, sleep_until, timeout};

use super::error::EngineError;
use super::goose_users;
use super::load_run_options::{LoadRunOptions, ProgressListener, RunProgress, ScenarioLoad, StartTime};
use super::pacer::Pacer;
use super::recorder::OperationEnd;
use super::run_context::LoadRunContext;
use super::run_data::RunData;
use super::self_monitor::{SelfMonitor, cpu_time};
use super::user::Scenario;
use super::workload::Workload;
use crate::measure::{RequestOutcome, Sample};
use crate::plan::Arrivals;

/// A run that is ready to start.
pub struct LoadRun<S> {
    options: LoadRunOptions<S>,
    run: Arc<LoadRunContext>,
}

/// Timeout for connecting all users.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// Time until goose has noticed that all users run.
const GOOSE_SETTLES: Duration = Duration::from_millis(700);
/// Timeout for goose to end after its users.
const GOOSE_LIMIT: Duration = Duration::from_secs(30);

impl<S: Scenario> LoadRun<S> {
    /// A run with these options.
    pub fn new(options: LoadRunOptions<S>) -> Self {
        let run = LoadRunContext::new(options.codes.clone(), options.timeout, options.goose_report.is_some());
        Self { options, run: Arc::new(run) }
    }

    /// Plays the run to its end. A signal ends it early, with partial data.
    pub async fn play(
        self,
        interrupted: impl Future<Output = Interruption> + Send,
    ) -> Result<RunData, EngineError> {
        let Self { mut options, run } = self;
        let goose = goose_users::prepare(&options, &run)?;
        let users: usize = options.loads.iter().map(|load| load.users).sum();
        // A switch left over from an earlier run in this process would count as Ctrl-C.
        goose::reset_killswitch();
        let mut attack =
            // Boxed: goose's future takes 22 KB.
            tokio::spawn(async move { Box::pin(goose.execute()).await.map(drop).map_err(|why| why.to_string()) });
        tokio::pin!(interrupted);

        // Nothing is measured until all users are connected.
        let mut ended_by = tokio::select! {
            ready = timeout(CONNECT_LIMIT, run.all_ready(users)) => { let _ = ready; None }
            signal = &mut interrupted => Some(signal),
            () = goose_users::killed() => Some(Interruption::Interrupt),
            broke = &mut attack => return Err(goose_users::ended_early(broke)),
        };
        if options.goose_report.is_some() {
            // Goose discards what it counted while users were starting.
            sleep(GOOSE_SETTLES).await;
        }
        if let (Some(at), None) = (options.start_at, ended_by) {
            let wait = at.duration_since(SystemTime::now()).unwrap_or_default();
            ended_by = tokio::select! {
                () = sleep(wait) => None,
                signal = &mut interrupted => Some(signal),
                () = goose_users::killed() => Some(Interruption::Interrupt),
            };
        }
        let start = StartTime { instant: run.start(), wall_clock: SystemTime::now() };
        if let Some(on_start) = options.on_start.take() {
            on_start(start.instant);
        }
        let cpu = cpu_time();
        let self_monitor = SelfMonitor::start(addresses(&options.loads));
        let mut pacers = Vec::new();
        for load in &options.loads {
            pacers.push(Pacer::start(Arc::clone(&load.workload), start.instant).map_err(EngineError::Pacer)?);
        }
        let live = options
            .live
            .clone()
            .map(|live| tokio::spawn(report_progress(live, Arc::clone(&run), workloads(&options))));

        let last = options.loads.iter().map(|load| load.workload.end()).max().unwrap_or_default();
        let all_done = run.all_done(users);
        tokio::pin!(all_done);
        let mut finished = false;
        if ended_by.is_none() {
            ended_by = tokio::select! {
                () = sleep_until((start.instant + last).into()) => None,
                () = &mut all_done => { finished = true; None }
                signal = &mut interrupted => Some(signal),
                () = goose_users::killed() => Some(Interruption::Interrupt),
            };
        }
        let draining = Instant::now();
        if ended_by.is_none() && !finished {
            ended_by = tokio::select! {
                () = &mut all_done => None,
                () = sleep(options.drain) => None,
                signal = &mut interrupted => Some(signal),
                () = goose_users::killed() => Some(Interruption::Interrupt),
            };
        }
        let ended = Instant::now();
        drop(pacers);
        run.stop.trigger();
        let self_monitor = self_monitor.finish();
        let cpu = cpu_time().saturating_sub(cpu);
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
        let (released, planned) = drop_untaken(&options.loads, &run, took);
        Ok(RunData {
            start,
            took,
            drained: ended - draining,
            recorded: run.recorder.sum(),
            released,
            planned,
            last_outage: run.recorder.last_outage(),
            last_answer: run.recorder.last_answer(),
            self_monitor,
            cpu,
            interrupted: ended_by,
        })
    }
}

/// Counts released operations that no user took as dropped, at their age. Returns the numbers of released and
/// planned operations.
fn drop_untaken<S: Scenario>(loads: &[ScenarioLoad<S>], run: &LoadRunContext, now: Duration) -> (u64, u64) {
    let (mut released, mut planned) = (0, 0);
    for ScenarioLoad { workload, scenario, .. } in loads {
        let (began, _) = workload.counts();
        released += began;
        let Some(arrivals) = workload.arrivals() else {
            planned += began;
            continue;
        };
        planned += arrivals.before(now).min(arrivals.count());
        for place in workload.untaken() {
            let scheduled = arrivals.get(place);
            let age = now.saturating_sub(scheduled.at);
            let sample = Sample {
                route: scenario.first_route(),
                outcome: RequestOutcome::Dropped,
                expected: false,
                due: scheduled.at,
                observed: age,
                // No answer could have come earlier: the age is a lower bound.
                delay: Duration::ZERO,
                service: Duration::ZERO,
                measured: scheduled.measured,
            };
            run.recorder.request(0, &sample);
            run.recorder.operation(0, scheduled.measured, OperationEnd::Dropped, scheduled.at, now);
        }
    }
    (released, planned)
}

/// The addresses that a run loads.
fn addresses<S: Scenario>(loads: &[ScenarioLoad<S>]) -> Vec<SocketAddr> {
    let endpoints = loads.iter().flat_map(|load| load.scenario.endpoints());
    endpoints.flat_map(|endpoint| endpoint.addresses().to_vec()).collect()
}

fn workloads<S>(options: &LoadRunOptions<S>) -> Vec<Arc<Workload>> {
    options.loads.iter().map(|load| Arc::clone(&load.workload)).collect()
}

async fn report_progress(live: ProgressListener, run: Arc<LoadRunContext>, workloads: Vec<Arc<Workload>>) {
    let end = workloads.iter().map(|workload| workload.end()).max().unwrap_or_default();
    loop {
        sleep(Duration::from_millis(500)).await;
        let at = run.started().elapsed();
        let sum = run.recorder.sum();
        let (mut released, mut begun) = (0, 0);
        for (let_begin, taken) in workloads.iter().map(|workload| workload.counts()) {
            released += let_begin;
            begun += taken;
        }
        let draining = at > end;
        let open: Vec<&Arrivals> = workloads.iter().filter_map(|workload| workload.arrivals()).collect();
        live(RunProgress {
            at,
            end,
            asked: (!open.is_empty()).then(|| open.iter().map(|arrivals| arrivals.rate_at(at)).sum()),
            measurements: &sum.measurements,
            ledger: &sum.ledger,
            warm_up: &sum.warm_up,
            released,
            begun,
            draining,
        });
    }
}
