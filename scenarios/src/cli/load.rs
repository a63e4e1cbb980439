use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use edgeproof_cli::{Failure, runtime, runtime_of, signals};
use edgeproof_fixtures::spec::{Endpoint, Spec};
use edgeproof_http::{NoAnswer, ServerAddress};
use edgeproof_launch::probe;
use edgeproof_reports::load::{LOAD_SCHEMA, LoadReport, Model, ProbeFigures, Seal};
use edgeproof_reports::{ReportedSpec, TargetKind};
use edgeproof_targets::RunningEdge;
use goose::goose::Scenario;
use tokio::time::sleep;

use super::args::Load;
use super::gather;
use super::load_plan::{LoadPlan, document_plan, plan};
use super::progress::ProgressDisplay;
use super::prometheus::Metrics;
use super::system_under_test::SystemUnderTest;
use super::user_count::user_count;
use crate::engine::{EngineError, LoadModel, LoadRun};
use crate::gather::Gathered;
use crate::merge::RunDescription;
use crate::plan::{Arrivals, ScenarioName, Threshold};
use crate::report::{ReportInputs, build};
use crate::service::InjectedFaults;

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
    let done = runtime.block_on(async {
        let (report, gathered) = run(&plan).await?;
        let written = plan.files.finish(&plan.args.output, &report);
        let Some(gathered) = gathered else { return Ok(written) };
        gather::hand_over(gathered, &report).await?;
        Ok(gather::exit_code(&report, written))
    });
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    done
}

/// Number of threads that send requests; `None` for one on each processor. With more than needed they wake each other. Parts
/// in this process need threads of their own, and the closed model takes all processors.
fn workers(plan: &LoadPlan) -> Option<usize> {
    let args = &plan.args;
    let is_foreign = (!plan.uses_edge() || args.edge_url.is_some())
        && (!plan.polls() || args.base_url.is_some())
        && args.settings.is_none();
    let workers = (plan.peak()?.value() / WORKER_RATE).ceil() as usize;
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    is_foreign.then(|| workers.clamp(1, processors))
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

/// Plays the run. With `--gather`, its report is to be handed over.
async fn run(plan: &LoadPlan) -> Result<(LoadReport, Option<Gathered>), Failure> {
    // Before goose: its handler would end the program with exit code 1 at the second Ctrl-C. The first handler
    // of this crate stays; signals that are caught afterwards reach both.
    let _ = ctrlc::set_handler(|| {});
    let interrupted = signals::catch()?;
    tokio::pin!(interrupted);
    let args = &plan.args;
    let prepared = async {
        // Before anything starts: its options may be wrong.
        let gather = gather::client(args, plan.shard).await?;
        let system = SystemUnderTest::prepare(plan).await?;
        let users = user_count(plan, system.service.is_some())?;
        let mut probes = Vec::new();
        if system.edge.is_some() && system.target.kind != TargetKind::Embedded {
            probes.push(health_checks(&system.spec, "readiness", 1));
        }
        // The others were started by this program.
        let is_foreign = |part: &str| if part == "edge" { &args.edge_url } else { &args.base_url }.is_some();
        for (part, ca_option, address) in system.endpoints().filter(|(part, ..)| is_foreign(part)) {
            let sent = check_reachable(part, ca_option, address, system.spec.path(Endpoint::Health)).await?;
            probes.push(health_checks(&system.spec, &format!("the {part} can be reached"), sent));
        }
        let routes = system.routes();
        known_routes(&plan.thresholds, &routes)?;
        let gathered = match gather {
            None => None,
            Some(client) => Some(gather::join(client, description(plan, &system)).await?),
        };
        Ok::<_, Failure>((system, users, probes, routes, gathered))
    };
    let (system, users, probes, routes, mut gathered) = tokio::select! {
        prepared = prepared => prepared?,
        signal = &mut interrupted => {
            return Err(Failure::usage(format!("cannot start the run: interrupted by {signal}"), "nothing was loaded").ended_by(signal.exit_code()));
        }
    };
    let warm_up = args.warm_up;
    let model = match &plan.stages {
        Some(stages) => {
            LoadModel::Open(Arrivals::new(&stages.clone().warmed_up(warm_up), warm_up, plan.shard))
        }
        None => LoadModel::Closed { time: plan.measured, warm_up },
    };
    let metrics = match args.prometheus {
        Some(address) => Some(Metrics::serve(address, routes.clone(), system.codes.clone()).await?),
        None => None,
    };
    let progress = ProgressDisplay::new(&args.output, plan.name(), metrics);
    let run = LoadRun {
        scenarios: scenarios(plan, &system)?,
        model,
        users,
        seed: plan.seed,
        codes: system.codes.clone(),
        routes,
        addresses: system.endpoints().flat_map(|(.., endpoint)| endpoint.addresses().to_vec()).collect(),
        edge: system.edge.as_ref().and_then(RunningEdge::pid),
        timeout: args.timeout,
        drain: args.drain,
        start_at: gathered.as_ref().map(Gathered::start).or(args.start_at),
        shared_route: system.shared_route(plan),
        on_start: Some(on_start(&system, args.faults)),
        live: progress.listener(),
    };
    let data = run.play(&mut interrupted).await.map_err(|why| Failure::from(why).incomplete())?;
    progress.clear();
    if let Some(why) = system.renewal_failure() {
        let advice = "the verdicts became too old during the run; mend the state hook, and repeat the run";
        return Err(Failure::of(why, advice).incomplete());
    }
    let exited = system.edge.as_ref().and_then(RunningEdge::exited);
    let seal = system.sealing.as_ref().map_or(Seal::Opaque, |sealing| sealing.cost());
    let inputs = ReportInputs {
        scenario: plan.scenario,
        spec: Some(reported(&system.spec)),
        target: system.target.clone(),
        plan: document_plan(plan, users.users, seal),
        shard: (plan.shard.index(), plan.shard.count()),
        verdict_route: system.verdict_requests.as_ref().map(|requests| requests.route_id),
        thresholds: &plan.thresholds,
        arrived: system.arrived(),
        probes,
        faults: system.service.as_ref().map(|service| service.hits()).unwrap_or_default(),
        unchecked: args.unchecked,
        partial: exited
            .map(|exit| format!("the edge exited during the run with {}", exit.status))
            .into_iter()
            .collect(),
    };
    let mut report = build(inputs, &data);
    if let (Some(gathered), [shard]) = (&mut gathered, &mut report.shards[..]) {
        shard.clock = Some(gathered.clock().await);
    }
    report.comparison =
        plan.baseline.as_ref().map(|baseline| baseline.compare(&report, args.tolerance.value()));
    if let Some(edge) = system.edge {
        edge.stop().await;
    }
    Ok((report, gathered))
}

/// What this shard has in common with the others of its run.
fn description(plan: &LoadPlan, system: &SystemUnderTest) -> RunDescription {
    let seal = system.sealing.as_ref().map_or(Seal::Opaque, |sealing| sealing.cost());
    RunDescription {
        schema: LOAD_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        spec: Some(reported(&system.spec)),
        scenario: plan.name().to_owned(),
        model: if plan.stages.is_some() { Model::Open } else { Model::Closed },
        shards: plan.shard.count(),
        plan: document_plan(plan, 0, seal),
        target: system.target.clone(),
        faults: plan.args.faults.names().into_iter().flatten().collect(),
    }
}

/// The goose scenarios of the run with their weights.
fn scenarios(plan: &LoadPlan, system: &SystemUnderTest) -> Result<Vec<Scenario>, Failure> {
    let scenario = |(name, weight): &(ScenarioName, usize)| {
        let scenario = system.scenario(*name, plan);
        scenario.set_weight(*weight).map_err(|why| Failure::from(EngineError::Goose(why.to_string())))
    };
    plan.parts.iter().map(scenario).collect()
}

/// Version and digest of the tables.
fn reported(spec: &Spec) -> ReportedSpec {
    ReportedSpec { version: spec.version().to_owned(), digest: spec.digest().to_owned() }
}

fn on_start(system: &SystemUnderTest, faults: InjectedFaults) -> Box<dyn FnOnce(Instant) + Send> {
    let (service, sealing) = (system.service.clone(), system.sealing.clone());
    Box::new(move |started| {
        if let Some(sealing) = sealing {
            sealing.begin();
        }
        if let Some(service) = service {
            service.begin(started, faults);
            tokio::spawn(service.go_down());
        }
    })
}

/// Health checks that were sent before the run.
fn health_checks(spec: &Spec, purpose: &str, sent: u64) -> ProbeFigures {
    ProbeFigures { route: format!("GET {}", spec.path(Endpoint::Health)), purpose: purpose.to_owned(), sent }
}

/// Number of attempts. One that fails by chance does not end the run.
const ATTEMPTS: u64 = 3;
/// Time between attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// Timeout of the answer.
const LIMIT: Duration = Duration::from_secs(2);

/// Checks with a health check that an endpoint can be reached at all. A slow or broken answer is left to the run. Yields
/// the number of attempts. `part` is `edge` or `service`, `ca_option` names its CA.
async fn check_reachable(
    part: &str,
    ca_option: &str,
    address: &ServerAddress,
    path: &str,
) -> Result<u64, Failure> {
    let mut attempt = 1;
    let why = loop {
        let Err(why) = reach(address, path).await else { return Ok(attempt) };
        // A timeout is no accident, and three of them take long.
        if attempt == ATTEMPTS || matches!(why, NoAnswer::TimedOut(_)) {
            break why;
        }
        attempt += 1;
        sleep(PAUSE).await;
    };
    let advice = match &why {
        NoAnswer::NoTls(why) => why.advice(ca_option, "use http://"),
        NoAnswer::NotHttp(_) => "check that it speaks HTTP; if it speaks TLS, use https://".into(),
        NoAnswer::NoSocket(_) => "raise the limit on open files (ulimit -n)".into(),
        _ => "check its URL, and that this machine can reach it".into(),
    };
    Err(Failure::usage(format!("cannot reach the {part} at {}: {why}", address.url()), advice).incomplete())
}

async fn reach(address: &ServerAddress, path: &str) -> Result<(), NoAnswer> {
    address.connect(None, &[b"http/1.1"]).await?;
    match probe(address, path, LIMIT).await {
        Err(NoAnswer::TimedOut(_) | NoAnswer::Closed | NoAnswer::Reset) => Ok(()),
        answered => answered,
    }
}
