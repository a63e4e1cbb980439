use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use edgeproof_cli::signals;
use edgeproof_fixtures::spec::Endpoint;
use edgeproof_reports::load::{InjectedFault, LoadReport, ProbeFigures};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::args::Load;
use super::latency_probe::probe_latency;
use super::load_plan::{LoadPlan, document_plan, plan};
use super::progress::ProgressDisplay;
use super::prometheus::Metrics;
use super::system_under_test::SystemUnderTest;
use crate::engine::{
    EdgeCostProbe, LoadRun, LoadRunOptions, ProgressListener, Scenario as _, ScenarioLoad, Workload,
};
use crate::measure::RouteId;
use crate::plan::{Arrivals, Rate, Threshold, collection_route, plan_users, users_for, verdict_route};
use crate::report::{ReportInputs, build};
use crate::scenario::{AnyScenario, SealedCollections};
use crate::service::InjectedFaults;
use edgeproof_cli::Failure;
use edgeproof_cli::runtime;

/// Largest number of connections of the embedded edge.
const EMBEDDED_CONNECTIONS: u32 = 1000;
/// Open files besides connections.
const FILES: u64 = 256;
/// Timeout for tasks that are left after a run.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// The commands that load: `edgeproof-load edge-relay` and its siblings.
pub(super) fn main(name: &'static str, args: Load) -> Result<u8, Failure> {
    let plan = plan(name, args)?;
    let runtime = runtime()?;
    let report = runtime.block_on(run(&plan));
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    Ok(plan.files.finish(&plan.args.output, &report?))
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
    let interrupted = signals::catch()?;
    tokio::pin!(interrupted);
    let args = &plan.args;
    let prepared = async {
        let system = SystemUnderTest::prepare(args, plan.needs, plan.faults, plan.seed, plan.shard).await?;
        let (loads, probed) = workloads(plan, &system).await?;
        Ok::<_, Failure>((system, loads, probed))
    };
    let (system, loads, probed) = tokio::select! {
        prepared = prepared => prepared?,
        signal = &mut interrupted => {
            return Err(Failure::usage(format!("cannot start the run: interrupted by {signal}"), "nothing was loaded").ended_by(signal.exit_code()));
        }
    };
    let users: u32 = loads.iter().map(|load| load.users as u32).sum();
    let arrivals: Vec<Arrivals> = loads.iter().filter_map(|load| load.workload.arrivals().cloned()).collect();
    let routes = system.routes();
    known_routes(&plan.thresholds, &routes)?;
    let metrics = match args.prometheus {
        Some(address) => Some(Metrics::serve(address, routes.clone(), system.codes.clone()).await?),
        None => None,
    };
    let progress = ProgressDisplay::new(&args.output, plan.name, metrics.as_ref().map(Metrics::addr));
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
        loads,
        codes: system.codes.clone(),
        routes: routes.clone(),
        timeout: args.timeout,
        drain: args.drain,
        goose_report: args.goose_report.clone(),
        start_at: args.start_at,
        on_start: Some(on_start(&system, plan.faults, &probe)),
        live: Some(live),
    };
    let data =
        LoadRun::new(options).play(&mut interrupted).await.map_err(|why| Failure::from(why).incomplete())?;
    progress.clear();
    let edge_samples = probe.get().map(EdgeCostProbe::read).unwrap_or_default();
    let mut partial = Vec::new();
    if let Some(exit) = system.edge.as_ref().and_then(edgeproof::target::RunningEdge::exited) {
        partial.push(format!("the edge exited during the run with {}", exit.status));
    }
    let inputs = ReportInputs {
        scenario: plan.name,
        open: plan.stages.is_some(),
        target: system.target.clone(),
        plan: document_plan(plan, users, system.sealing.as_deref().map(SealedCollections::cost)),
        shard: (plan.shard.index(), plan.shard.count()),
        routes: &routes,
        codes: &system.codes,
        arrivals: arrivals.iter().collect(),
        thresholds: &plan.thresholds,
        arrived: arrived(&system, &routes),
        probes: probes(&system, &routes, &probed),
        faults: faults(plan, &system),
        edge_samples,
        tolerance: args.max_lateness,
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

/// The scenarios of the run with their workloads and users, and the requests that probed them, by route.
async fn workloads(
    plan: &LoadPlan,
    system: &SystemUnderTest,
) -> Result<(Vec<ScenarioLoad<AnyScenario>>, Vec<u64>), Failure> {
    let args = &plan.args;
    let (mut loads, mut probed) = (Vec::new(), Vec::new());
    for (name, part) in &plan.parts {
        let scenario =
            system.scenario(name, args, plan.seed).expect("the parts of each scenario are prepared");
        let tried = probe_latency(&system.codes, &scenario, args.timeout).await?;
        probed.resize(tried.sent.len().max(probed.len()), 0);
        probed.iter_mut().zip(&tried.sent).for_each(|(sum, sent)| *sum += sent);
        let each = args.expect.unwrap_or(tried.latency) + plan.faults.slow;
        let share = args.users.map(|users| ((f64::from(users) * part).round() as u32).max(1));
        let (workload, users) = match &plan.stages {
            Some(stages) => {
                let stages = stages.part(*part).warmed_up(args.warm_up);
                let peak = stages.peak().times(1.0 / f64::from(plan.shard.count()));
                let users = plan_users(peak, each, share)?;
                (Workload::open(Arrivals::new(&stages, args.warm_up, plan.shard)), users)
            }
            None => (
                Workload::closed(plan.measured, args.warm_up),
                share.unwrap_or_else(|| users_for(Rate::default(), each)),
            ),
        };
        loads.push(ScenarioLoad {
            name: (*name).to_owned(),
            scenario,
            workload: Arc::new(workload),
            users: users as usize,
        });
    }
    let embedded = system.edge.is_some() && args.edge_url.is_none() && args.launch.is_none();
    let through_edge: usize =
        loads.iter().filter(|load| load.name != "verdict-polling").map(|load| load.users).sum();
    if embedded && through_edge > EMBEDDED_CONNECTIONS as usize {
        return Err(Failure::usage(
            format!(
                "cannot load the embedded edge with {through_edge} connections: its limit is {EMBEDDED_CONNECTIONS}"
            ),
            "give fewer --users or a lower rate, or use another edge with --launch or --edge-url",
        ));
    }
    let connections: usize = loads.iter().map(|load| load.users * load.scenario.endpoints().len()).sum();
    // If the edge or the service runs in this process, both ends of a connection need a file, and so do their
    // connections to each other.
    let ends = if system.service.is_some() { 4 } else { 1 };
    enough_files(connections as u64 * ends + FILES)?;
    Ok((loads, probed))
}

fn enough_files(needed: u64) -> Result<(), Failure> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised =
        Rlimit { current: maximum.map(|maximum| maximum.min(needed.max(maximum.min(65_536)))), maximum };
    if maximum.is_none_or(|maximum| maximum >= needed) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    Err(Failure::usage(
        format!("cannot open {needed} files: the limit is {}", current.unwrap_or_default()),
        format!("raise the limit with ulimit -n {needed}, or give fewer --users"),
    ))
}

fn on_start(
    system: &SystemUnderTest,
    faults: InjectedFaults,
    probe: &Arc<OnceLock<EdgeCostProbe>>,
) -> Box<dyn FnOnce(Instant) + Send> {
    let service = system.service.clone();
    let pid = system.edge.as_ref().and_then(edgeproof::target::RunningEdge::pid);
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
    let counted = |(place, route): (usize, &String)| {
        let count = match route.as_str() {
            route if route == collection_route() => service.collections(),
            route if route == verdict_route() && own_verdicts => service.verdict_requests(),
            _ => return None,
        };
        Some((RouteId(place as u8), count))
    };
    routes.iter().enumerate().filter_map(counted).collect()
}

/// Requests sent before the run. The service's counts leave them out.
fn probes(system: &SystemUnderTest, routes: &[String], probed: &[u64]) -> Vec<ProbeFigures> {
    let latency = routes
        .iter()
        .zip(probed)
        .filter(|(_, sent)| **sent > 0)
        .map(|(route, sent)| ProbeFigures { route: route.clone(), purpose: "latency".into(), sent: *sent });
    let readiness = system.readiness_probe().then(|| ProbeFigures {
        route: format!("GET {}", Endpoint::Health.path()),
        purpose: "readiness".into(),
        sent: 1,
    });
    readiness.into_iter().chain(latency).collect()
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
