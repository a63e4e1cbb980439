use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use edgeproof_cli::signals;
use edgeproof_fixtures::spec::{Endpoint, Spec};
use edgeproof_reports::load::{InjectedFault, LoadReport, ProbeFigures};
use goose::goose::Scenario;

use super::args::Load;
use super::load_plan::{LoadPlan, document_plan, plan};
use super::progress::ProgressDisplay;
use super::prometheus::Metrics;
use super::system_under_test::SystemUnderTest;
use super::user_count::{OwnParts, user_count};
use crate::engine::{EdgeCostProbe, EngineError, LoadModel, LoadRun, LoadRunOptions, ProgressListener};
use crate::measure::RouteId;
use crate::plan::{Arrivals, ScenarioName, Threshold, UserCount};
use crate::report::{ReportInputs, build};
use crate::scenario::SealedCollections;
use crate::service::InjectedFaults;
use edgeproof_cli::Failure;
use edgeproof_cli::{runtime, runtime_of};

/// Operations per second that one thread plays at ease.
const WORKER_RATE: f64 = 20_000.0;
/// Timeout for tasks that are left after a run.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// The commands that load: `edgeproof-load edge-relay` and its siblings. Without a scenario the run is mixed.
pub(super) fn main(scenario: Option<ScenarioName>, args: Load) -> Result<u8, Failure> {
    let plan = plan(scenario, args)?;
    let runtime = match workers(&plan) {
        Some(workers) => runtime_of(workers)?,
        None => runtime()?,
    };
    let report = runtime.block_on(run(&plan));
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    Ok(plan.files.finish(&plan.args.output, &report?))
}

/// Number of threads that send requests; `None` for one on each processor. With more than needed they wake each other. Parts
/// in this process need threads of their own, and the closed model takes all processors.
fn workers(plan: &LoadPlan) -> Option<usize> {
    let args = &plan.args;
    let is_foreign = (!plan.needs.edge || args.edge_url.is_some())
        && (!plan.needs.verdicts || args.base_url.is_some())
        && args.settings.is_none();
    let peak = plan.stages.as_ref()?.peak().value() / f64::from(plan.shard.count());
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    is_foreign.then(|| ((peak / WORKER_RATE).ceil() as usize).clamp(1, processors))
}

/// A threshold for an unknown route would have no data.
fn known_routes(thresholds: &[(Threshold, bool)], routes: &[String]) -> Result<(), Failure> {
    let unknown = |route: &&String| !routes.contains(route);
    match thresholds.iter().filter_map(|(threshold, _)| threshold.route.as_ref()).find(unknown) {
        None => Ok(()),
        Some(route) => Err(Failure::usage(
            format!("cannot judge the route {route:?}: this run does not have it"),
            format!("routes of this run: {}", routes.join(" and ")),
        )),
    }
}

async fn run(plan: &LoadPlan) -> Result<LoadReport, Failure> {
    // Before goose: its handler would end the program with exit code 1 at the second Ctrl-C. The first handler
    // of this crate stays; signals that are caught afterwards reach both.
    let _ = ctrlc::set_handler(|| {});
    let interrupted = signals::catch()?;
    tokio::pin!(interrupted);
    let args = &plan.args;
    let prepared = async {
        let system = SystemUnderTest::prepare(args, plan.needs, plan.faults, plan.seed, plan.shard).await?;
        let users = users(plan, &system)?;
        let mut probes = system
            .readiness_probe()
            .then(|| health_checks(&system.spec, "readiness", 1))
            .into_iter()
            .collect::<Vec<_>>();
        for endpoint in system.foreign_endpoints(args) {
            let purpose = format!("the {} can be reached", endpoint.part);
            probes.push(health_checks(&system.spec, &purpose, endpoint.check_reachable().await?));
        }
        Ok::<_, Failure>((system, users, probes))
    };
    let (system, users, probes) = tokio::select! {
        prepared = prepared => prepared?,
        signal = &mut interrupted => {
            return Err(Failure::usage(format!("cannot start the run: interrupted by {signal}"), "nothing was loaded").ended_by(signal.exit_code()));
        }
    };
    let model = model(plan);
    let routes = system.routes();
    known_routes(&plan.thresholds, &routes)?;
    let metrics = match args.prometheus {
        Some(address) => Some(Metrics::serve(address, routes.clone(), system.codes.clone()).await?),
        None => None,
    };
    let progress = ProgressDisplay::new(&args.output, plan.name(), metrics.as_ref().map(Metrics::addr));
    let live: ProgressListener = {
        let (progress, metrics) = (Arc::clone(&progress), metrics.as_ref().map(Metrics::sink));
        Arc::new(move |moment| {
            progress.show(moment);
            if let Some(metrics) = &metrics {
                metrics(moment);
            }
        })
    };
    let probe: Arc<OnceLock<EdgeCostProbe>> = Arc::default();
    let options = LoadRunOptions {
        scenarios: scenarios(plan, &system)?,
        model: model.clone(),
        users,
        seed: plan.seed,
        codes: system.codes.clone(),
        routes: routes.clone(),
        addresses: system.endpoints().iter().flat_map(|endpoint| endpoint.addresses().to_vec()).collect(),
        timeout: args.timeout,
        drain: args.drain,
        start_at: args.start_at,
        on_start: Some(on_start(&system, plan.faults, &probe)),
        live: Some(live),
    };
    let data =
        LoadRun::new(options).play(&mut interrupted).await.map_err(|why| Failure::from(why).incomplete())?;
    progress.clear();
    let edge_samples = probe.get().map(EdgeCostProbe::read).unwrap_or_default();
    let mut partial = Vec::new();
    if let Some(exit) = system.edge.as_ref().and_then(edgeproof_targets::RunningEdge::exited) {
        partial.push(format!("the edge exited during the run with {}", exit.status));
    }
    let inputs = ReportInputs {
        scenario: plan.scenario,
        open: plan.stages.is_some(),
        target: system.target.clone(),
        plan: document_plan(plan, users.users, system.sealing.as_deref().map(SealedCollections::cost)),
        shard: (plan.shard.index(), plan.shard.count()),
        routes: &routes,
        verdict_route: system.verdict_requests.as_ref().map(|(_, requests)| requests.route()),
        codes: &system.codes,
        arrivals: match &model {
            LoadModel::Open(arrivals) => vec![arrivals],
            LoadModel::Closed { .. } => Vec::new(),
        },
        thresholds: &plan.thresholds,
        arrived: arrived(&system, &routes),
        probes,
        faults: faults(plan, &system),
        edge_samples,
        unchecked: args.unchecked,
        partial,
    };
    let mut report = build(inputs, &data);
    report.comparison =
        plan.baseline.as_ref().map(|baseline| baseline.compare(&report, args.tolerance.value()));
    if let Some(edge) = system.edge {
        edge.stop().await;
    }
    Ok(report)
}

/// The goose scenarios of the run with their weights.
fn scenarios(plan: &LoadPlan, system: &SystemUnderTest) -> Result<Vec<Scenario>, Failure> {
    let scenario = |(name, weight): &(ScenarioName, usize)| {
        let scenario = system.scenario(*name, &plan.args, plan.seed);
        let scenario = scenario.expect("the parts of each scenario are prepared");
        scenario.set_weight(*weight).map_err(|why| Failure::from(EngineError::Goose(why.to_string())))
    };
    plan.parts.iter().map(scenario).collect()
}

fn model(plan: &LoadPlan) -> LoadModel {
    let warm_up = plan.args.warm_up;
    match &plan.stages {
        Some(stages) => {
            LoadModel::Open(Arrivals::new(&stages.clone().warmed_up(warm_up), warm_up, plan.shard))
        }
        None => LoadModel::Closed { time: plan.measured, warm_up },
    }
}

fn users(plan: &LoadPlan, system: &SystemUnderTest) -> Result<UserCount, Failure> {
    let embedded = system.edge.is_some() && plan.args.edge_url.is_none() && plan.args.launch.is_none();
    user_count(plan, OwnParts { edge: embedded, service: system.service.is_some() })
}

fn on_start(
    system: &SystemUnderTest,
    faults: InjectedFaults,
    probe: &Arc<OnceLock<EdgeCostProbe>>,
) -> Box<dyn FnOnce(Instant) + Send> {
    let service = system.service.clone();
    let pid = system.edge.as_ref().and_then(edgeproof_targets::RunningEdge::pid);
    let probe = Arc::clone(probe);
    let sealing = system.sealing.clone();
    Box::new(move |started| {
        if let Some(sealing) = sealing {
            sealing.begin();
        }
        if let Some(service) = service {
            service.begin(started, faults);
            tokio::spawn(service.go_down());
        }
        if let Some(pid) = pid {
            // A run starts once, so the cell is empty.
            let _ = probe.set(EdgeCostProbe::start(pid));
        }
    })
}

fn arrived(system: &SystemUnderTest, routes: &[String]) -> Vec<(RouteId, u64)> {
    let Some(service) = &system.service else { return Vec::new() };
    let own_verdicts = system.target.base_url.is_none();
    let collections = system.collection_requests.as_ref().map(|(_, requests)| requests.route().to_owned());
    let verdicts = system.verdict_requests.as_ref().map(|(_, requests)| requests.route());
    let counted = |(place, route): (usize, &String)| {
        let count = match Some(route) {
            route if route == collections.as_ref() => service.collections(),
            route if route == verdicts.as_ref() && own_verdicts => service.verdict_requests(),
            _ => return None,
        };
        Some((RouteId(place as u8), count))
    };
    routes.iter().enumerate().filter_map(counted).collect()
}

/// Health checks that were sent before the run.
fn health_checks(spec: &Spec, purpose: &str, sent: u64) -> ProbeFigures {
    ProbeFigures { route: format!("GET {}", spec.path(Endpoint::Health)), purpose: purpose.to_owned(), sent }
}

fn faults(plan: &LoadPlan, system: &SystemUnderTest) -> Vec<InjectedFault> {
    let Some(service) = &system.service else { return Vec::new() };
    let (failed, slowed) = service.hit();
    let back = plan.faults.down.map(|down| (down.at + down.time).as_millis() as u64);
    let [slow, failing, down] = plan.faults.names();
    let lasting = |fault: Option<String>, hit| {
        fault.map(|fault| InjectedFault { fault, hit, ended_ms: None, recovery_ms: None })
    };
    // The report counts the requests that failed while the service was down.
    let gone = down.map(|fault| InjectedFault { fault, hit: 0, ended_ms: back, recovery_ms: None });
    [lasting(slow, slowed), lasting(failing, failed), gone].into_iter().flatten().collect()
}
