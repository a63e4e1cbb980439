use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::cli::signals;
use miette::Diagnostic as _;
use reports::load::{Drain, Fault, LoadReport, Model, Plan, PlanStage, Seal};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::args::{Load, SealKind};
use super::failure::Failure;
use super::ground::{GET, Ground, Needs, POST, no_seal_key};
use super::live::Progress;
use super::output::{self, Files};
use super::prometheus::Metrics;
use super::runtime;
use super::unused::refuse_unused;
use crate::baseline::{Asked, Baseline};
use crate::engine::{AttackLane, AttackOptions, EdgeCostProbe, Lane, Live, Scenario as _, play};
use crate::measure::RouteId;
use crate::plan::{Arrivals, Rate, Shard, Stage, Stages, Threshold, plan_users, users_for};
use crate::report::{Facts, build};
use crate::scenario::{Part, SealedAhead, SealingCost};
use crate::service::Faults;

/// What is asked for when nothing is.
const RATE: f64 = 200.0;
const TIME: Duration = Duration::from_secs(10);
/// Connections that the embedded edge takes.
const EMBEDDED: u32 = 1000;
/// Files that are open besides connections.
const FILES: u64 = 256;
/// How long what a run leaves behind may take to end.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// Time in which an edge is to find a service again that was gone.
const BACK: Duration = Duration::from_secs(1);

/// A run of which everything that can be wrong with its arguments and files was found to be right.
pub(super) struct Planned {
    name: &'static str,
    args: Load,
    files: Files,
    thresholds: Vec<(Threshold, bool)>,
    baseline: Option<Baseline>,
    /// None in the closed model.
    stages: Option<Stages>,
    measured: Duration,
    shard: Shard,
    seed: u64,
    parts: Vec<(&'static str, f64)>,
    needs: Needs,
    faults: Faults,
}

/// `edgeproof-load edge-relay` and the like.
pub(super) fn main(name: &'static str, args: Load) -> Result<u8, Failure> {
    let planned = plan(name, args)?;
    let runtime = runtime()?;
    let report = runtime.block_on(run(&planned));
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    Ok(planned.files.finish(&planned.args.output, &report?))
}

fn plan(name: &'static str, args: Load) -> Result<Planned, Failure> {
    let files = Files::open(&args.output)?;
    args.goose_report.as_deref().map(goose_report).transpose()?;
    let parts = parts(name, &args.weights)?;
    let has = |names: &[&str]| parts.iter().any(|(name, _)| names.contains(name));
    let needs =
        Needs { edge: has(&["edge-relay", "journey"]), verdicts: has(&["verdict-polling", "journey"]) };
    refuse_unused(name, &args, needs)?;
    let faults = Faults {
        slow: args.service_slow.unwrap_or_default(),
        failing: args.service_failing.unwrap_or_default(),
        down: args.service_down_at,
    };
    if args.replay_share.value() > 0.0 && args.seal == SealKind::Opaque && args.edge_url.is_none() {
        return Err(Failure::usage(
            "send copies to a service that takes collections unopened: it knows no copy",
            "add --seal real",
        ));
    }
    if args.seal == SealKind::Real
        && args.edge_url.is_some()
        && args.seal_key.is_none()
        && args.settings.is_none()
    {
        return Err(no_seal_key());
    }
    let baseline = args.compare.as_deref().map(read_baseline).transpose()?;
    let shard = match (args.shard, args.shards) {
        (Some(shard), _) => shard,
        (None, Some(count)) => Shard::of_job(std::env::var("JOB_COMPLETION_INDEX").ok().as_deref(), count)?,
        (None, None) => Shard::WHOLE,
    };
    if shard.count() > 1 && args.seed.is_none() {
        return Err(Failure::usage(
            "play a shard without --seed",
            "give all shards the same one, so that they make one run",
        ));
    }
    let time = args.duration.unwrap_or(TIME);
    let stages = match (&args.stages, args.rate, args.users) {
        (Some(stages), _, _) => Some(stages.clone()),
        (None, None, Some(_)) => None,
        (None, rate, _) => {
            let rate = rate.or_else(|| Rate::per_second(RATE)).unwrap_or_default();
            Some(Stages::constant(rate, time).ok_or_else(|| {
                Failure::usage(
                    format!("begin {rate} for {}", humantime::format_duration(time)),
                    "give a rate above 0, for a week at most",
                )
            })?)
        }
    };
    let measured = stages.as_ref().map_or(time, Stages::time);
    if let Some(down) = faults.down.filter(|down| down.at >= args.warm_up + measured) {
        return Err(Failure::usage(
            format!(
                "take the service down after {}: the run is over by then",
                humantime::format_duration(down.at)
            ),
            "give an earlier time, or a longer --duration",
        ));
    }
    let allowed = allowed_errors(&faults, measured);
    let thresholds = output::thresholds(&args.threshold, args.thresholds.as_deref(), Some(allowed))?;
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(Instant::now()) >> 16);
    if let Some(baseline) = &baseline {
        baseline.fits(Asked {
            scenario: name,
            model: if stages.is_some() { Model::Open } else { Model::Closed },
            stages: &document_stages(stages.as_ref(), args.warm_up),
            users: args.users,
            shards: shard.count(),
        })?;
    }
    Ok(Planned {
        name,
        args,
        files,
        thresholds,
        baseline,
        stages,
        measured,
        shard,
        seed,
        parts,
        needs,
        faults,
    })
}

fn read_baseline(path: &Path) -> Result<Baseline, Failure> {
    Baseline::load(path).map_err(|why| {
        let advice = why.help().map(|help| help.to_string()).unwrap_or_default();
        Failure::of(&why, &advice)
    })
}

/// A threshold for a route that is not played would be judged on nothing.
fn known_routes(thresholds: &[(Threshold, bool)], routes: &[String]) -> Result<(), Failure> {
    let unknown = |route: &&String| !routes.contains(route);
    match thresholds.iter().filter_map(|(threshold, _)| threshold.route.as_ref()).find(unknown) {
        None => Ok(()),
        Some(route) => Err(Failure::usage(
            format!("judge the route {route:?}: this run has no such route"),
            format!("there are {}", routes.join(" and ")),
        )),
    }
}

/// Where goose writes: it would say so only when all is started.
fn goose_report(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let html = path.extension().is_some_and(|ending| ending == "html");
    if folder.is_dir() && html {
        return Ok(());
    }
    Err(Failure::usage(
        format!("write goose's report to {}", path.display()),
        "name a file that ends with .html, in a folder that exists",
    ))
}

/// Errors that are no surprise, as a part of all: 1 %; more where the service is made to fail, by
/// that part, and by the time in which it is gone and is found again.
fn allowed_errors(faults: &Faults, measured: Duration) -> f64 {
    let down = faults.down.map_or(0.0, |down| (down.time + BACK).as_secs_f64() / measured.as_secs_f64());
    0.01 + faults.failing.value() + down
}

fn parts(name: &'static str, weights: &str) -> Result<Vec<(&'static str, f64)>, Failure> {
    if name != "mixed" {
        return Ok(vec![(name, 1.0)]);
    }
    let refuse = || {
        Failure::usage(
            format!("read the weights {weights:?}"),
            "write them as 6,3,1: edge-relay, verdict-polling, journey",
        )
    };
    let numbers: Result<Vec<f64>, _> =
        weights.split(',').map(|weight| weight.trim().parse::<u32>().map(f64::from)).collect();
    let numbers = numbers.map_err(|_| refuse())?;
    let sum: f64 = numbers.iter().sum();
    if numbers.len() != 3 || sum == 0.0 {
        return Err(refuse());
    }
    let names = ["edge-relay", "verdict-polling", "journey"];
    Ok(names
        .into_iter()
        .zip(numbers)
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(name, weight)| (name, weight / sum))
        .collect())
}

async fn run(planned: &Planned) -> Result<LoadReport, Failure> {
    let interrupted =
        signals::interrupted().map_err(|why| Failure::of(&why, "check the limits on open files"))?;
    tokio::pin!(interrupted);
    let args = &planned.args;
    let prepared = async {
        let ground =
            Ground::prepare(args, planned.needs, planned.faults, planned.seed, planned.shard).await?;
        let lanes = lanes(planned, &ground).await?;
        Ok::<_, Failure>((ground, lanes))
    };
    let (ground, lanes) = tokio::select! {
        prepared = prepared => prepared?,
        signal = &mut interrupted => {
            return Err(Failure::usage(format!("start: {signal} came first"), "nothing was loaded").ended_by(signal.exit_code()));
        }
    };
    let users: u32 = lanes.iter().map(|lane| lane.users as u32).sum();
    let arrivals: Vec<Arrivals> = lanes.iter().filter_map(|lane| lane.lane.arrivals().cloned()).collect();
    let routes = ground.routes();
    known_routes(&planned.thresholds, &routes)?;
    let metrics = match args.prometheus {
        Some(address) => Some(Metrics::serve(address, routes.clone(), ground.codes.clone()).await?),
        None => None,
    };
    let progress = Progress::new(&args.output, planned.name, metrics.as_ref().map(Metrics::addr));
    let live: Live = {
        let (progress, metrics) = (Arc::clone(&progress), metrics.as_ref().map(Metrics::sink));
        Arc::new(move |moment| {
            progress.tell(moment);
            if let Some(metrics) = &metrics {
                metrics(moment);
            }
        })
    };
    let probe: Arc<std::sync::Mutex<Option<EdgeCostProbe>>> = Arc::default();
    let options = AttackOptions {
        lanes,
        codes: ground.codes.clone(),
        routes: routes.clone(),
        timeout: args.timeout,
        drain: args.drain,
        goose_report: args.goose_report.clone(),
        start_at: args.start_at,
        on_start: Some(on_start(&ground, planned.faults, &probe)),
        live: Some(live),
    };
    let raw = play(options, &mut interrupted).await.map_err(|why| Failure::from(why).incomplete())?;
    progress.clear();
    let edge_samples =
        probe.lock().ok().and_then(|probe| probe.as_ref().map(EdgeCostProbe::read)).unwrap_or_default();
    let mut partial = Vec::new();
    if let Some(exit) = ground.edge.as_ref().and_then(harness::target::RunningEdge::exited) {
        partial.push(format!("the edge ended in the middle of the run, with {}", exit.status));
    }
    let facts = Facts {
        scenario: planned.name,
        open: planned.stages.is_some(),
        target: ground.target.clone(),
        plan: document_plan(planned, users, ground.sealing.as_deref().map(SealedAhead::cost)),
        shard: (planned.shard.index(), planned.shard.count()),
        routes: &routes,
        codes: &ground.codes,
        arrivals: arrivals.iter().collect(),
        thresholds: &planned.thresholds,
        arrived: arrived(&ground, &routes),
        faults: faults(planned, &ground),
        edge_samples,
        tolerance: args.max_lateness,
        unchecked: args.unchecked,
        partial,
    };
    let mut report = build(facts, &raw);
    report.comparison =
        planned.baseline.as_ref().map(|baseline| baseline.compare(&report, args.tolerance.value()));
    if let Some(edge) = ground.edge {
        edge.stop().await;
    }
    Ok(report)
}

/// Each part of the run with its operations and its users.
async fn lanes(planned: &Planned, ground: &Ground) -> Result<Vec<AttackLane<Part>>, Failure> {
    let args = &planned.args;
    let mut lanes = Vec::new();
    for (name, part) in &planned.parts {
        let scenario = ground.scenario(name, args, planned.seed).expect("what the parts need was prepared");
        let tried = ground.try_out(&scenario, args.timeout).await?;
        let each = args.expect.unwrap_or(tried) + planned.faults.slow;
        let share = args.users.map(|users| ((f64::from(users) * part).round() as u32).max(1));
        let (lane, users) = match &planned.stages {
            Some(stages) => {
                let stages = stages.part(*part).warmed_up(args.warm_up);
                let peak = stages.peak().times(1.0 / f64::from(planned.shard.count()));
                let users = plan_users(peak, each, share)?;
                (Lane::open(Arrivals::new(&stages, args.warm_up, planned.shard)), users)
            }
            None => (
                Lane::closed(planned.measured, args.warm_up),
                share.unwrap_or_else(|| users_for(Rate::default(), each)),
            ),
        };
        lanes.push(AttackLane {
            name: (*name).to_owned(),
            scenario,
            lane: Arc::new(lane),
            users: users as usize,
        });
    }
    let embedded = ground.edge.is_some() && args.edge_url.is_none() && args.launch.is_none();
    let through_edge: usize =
        lanes.iter().filter(|lane| lane.name != "verdict-polling").map(|lane| lane.users).sum();
    if embedded && through_edge > EMBEDDED as usize {
        return Err(Failure::usage(
            format!("load the embedded edge with {through_edge} connections: it takes {EMBEDDED}"),
            "give fewer --users or a lower rate, or load an edge of its own with --launch or --edge-url",
        ));
    }
    let connections: usize = lanes.iter().map(|lane| lane.users * lane.scenario.connectors().len()).sum();
    // Where edge or service are in this process, so are the other ends, and what leads from one to the other.
    let ends = if ground.service.is_some() { 4 } else { 1 };
    enough_files(connections as u64 * ends + FILES)?;
    Ok(lanes)
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
        format!("open {needed} files: {} are allowed", current.unwrap_or_default()),
        format!("raise the limit with ulimit -n {needed}, or give fewer --users"),
    ))
}

fn on_start(
    ground: &Ground,
    faults: Faults,
    probe: &Arc<std::sync::Mutex<Option<EdgeCostProbe>>>,
) -> Box<dyn FnOnce(Instant) + Send> {
    let service = ground.service.clone();
    let pid = ground.edge.as_ref().and_then(harness::target::RunningEdge::pid);
    let probe = Arc::clone(probe);
    let sealing = ground.sealing.clone();
    Box::new(move |started| {
        if let Some(sealing) = sealing {
            sealing.begin();
        }
        if let Some(service) = service {
            service.begin(started, faults);
            tokio::spawn(service.go_down());
        }
        if let (Some(pid), Ok(mut probe)) = (pid, probe.lock()) {
            *probe = Some(EdgeCostProbe::start(pid));
        }
    })
}

fn arrived(ground: &Ground, routes: &[String]) -> Vec<(RouteId, u64)> {
    let Some(service) = &ground.service else { return Vec::new() };
    let mut arrived = Vec::new();
    for (place, route) in routes.iter().enumerate() {
        let id = RouteId(place as u8);
        match route.as_str() {
            POST => arrived.push((id, service.collections())),
            GET if ground.target.base_url.is_none() => arrived.push((id, service.questions())),
            _ => {}
        }
    }
    arrived
}

fn faults(planned: &Planned, ground: &Ground) -> Vec<Fault> {
    let Some(service) = &ground.service else { return Vec::new() };
    let Faults { slow, failing, down } = planned.faults;
    let (failed, slowed) = service.hit();
    let mut faults = Vec::new();
    if !slow.is_zero() {
        let fault = format!("service slower by {}", humantime::format_duration(slow));
        faults.push(Fault { fault, hit: slowed, ended_ms: None, recovery_ms: None });
    }
    if failing.value() > 0.0 {
        faults.push(Fault {
            fault: format!("service failing {failing}"),
            hit: failed,
            ended_ms: None,
            recovery_ms: None,
        });
    }
    if let Some(down) = down {
        let ended_ms = Some((down.at + down.time).as_millis() as u64);
        faults.push(Fault { fault: down.to_string(), hit: 0, ended_ms, recovery_ms: None });
    }
    faults
}

fn document_stages(stages: Option<&Stages>, warm_up: Duration) -> Vec<PlanStage> {
    let stages = stages.map(|stages| stages.clone().warmed_up(warm_up));
    let document = |stage: &Stage| PlanStage {
        time_ms: stage.time.as_millis() as u64,
        from: stage.from.value(),
        to: stage.to.value(),
    };
    stages.iter().flat_map(Stages::stages).map(document).collect()
}

fn document_plan(planned: &Planned, users: u32, sealing: Option<SealingCost>) -> Plan {
    let args = &planned.args;
    let settings = [
        ("poll-interval", humantime::format_duration(args.poll_interval).to_string()),
        ("wait", humantime::format_duration(args.wait).to_string()),
        ("wait-share", args.wait_share.to_string()),
        ("give-up", humantime::format_duration(args.give_up).to_string()),
        ("wrong-share", args.wrong_share.to_string()),
        ("bad-token-share", args.bad_token_share.to_string()),
        ("verdict-after", humantime::format_duration(args.verdict_after).to_string()),
        ("weights", args.weights.clone()),
    ];
    let polls = planned.name != "edge-relay";
    let settings =
        settings.into_iter().filter(|(name, _)| polls && (*name != "weights" || planned.name == "mixed"));
    Plan {
        stages: document_stages(planned.stages.as_ref(), args.warm_up),
        users,
        warm_up_ms: args.warm_up.as_millis() as u64,
        measured_ms: planned.measured.as_millis() as u64,
        timeout_ms: args.timeout.as_millis() as u64,
        drain: Drain { limit_ms: args.drain.as_millis() as u64, took_ms: 0 },
        seal: sealing.map_or(Seal::Opaque, |cost| Seal::Real {
            cost_us: cost.each.as_nanos() as f64 / 1000.0,
            not_in_time: cost.not_in_time,
        }),
        replay_share: args.replay_share.value(),
        seed: planned.seed,
        settings: settings.map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}
