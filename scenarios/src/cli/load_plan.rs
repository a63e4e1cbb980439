use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use edgeproof_reports::load::{Drain, Model, PlanStage, PlannedLoad, Seal};
use strum::IntoEnumIterator as _;

use super::args::{Load, SealKind};
use super::output::{self, ReportFiles, add_defaults};
use crate::load_baseline::{LoadBaseline, LoadDescription};
use crate::plan::{Rate, ScenarioName, Shard, Stage, Stages, Threshold};
use crate::service::InjectedFaults;
use edgeproof_cli::Failure;
use edgeproof_cli::args::EdgeScheme;

/// Default rate (operations per second).
const RATE: f64 = 200.0;
const TIME: Duration = Duration::from_secs(10);
/// Largest weight. Goose's tables grow with the weights.
const MAX_WEIGHT: usize = 10_000;
/// Time that an edge may need to reconnect to its service.
const RECONNECT: Duration = Duration::from_secs(1);

/// A validated run: arguments and files are checked.
pub(super) struct LoadPlan {
    /// `None` for a mixed run.
    pub(super) scenario: Option<ScenarioName>,
    pub(super) args: Load,
    pub(super) files: ReportFiles,
    pub(super) thresholds: Vec<(Threshold, bool)>,
    pub(super) baseline: Option<LoadBaseline>,
    /// `None` in the closed model.
    pub(super) stages: Option<Stages>,
    pub(super) measured: Duration,
    pub(super) shard: Shard,
    pub(super) seed: u64,
    /// Scenarios with their weights.
    pub(super) parts: Vec<(ScenarioName, usize)>,
}

impl LoadPlan {
    /// The name of the run.
    pub(super) fn name(&self) -> &'static str {
        ScenarioName::of_run(self.scenario)
    }

    /// Whether it needs an edge.
    pub(super) fn uses_edge(&self) -> bool {
        self.parts.iter().any(|(name, _)| name.uses_edge())
    }

    /// Whether it needs a service for verdicts.
    pub(super) fn polls(&self) -> bool {
        self.parts.iter().any(|(name, _)| name.polls())
    }

    /// Highest rate of this shard; `None` in the closed model.
    pub(super) fn peak(&self) -> Option<Rate> {
        self.stages.as_ref().map(|stages| stages.peak().times(1.0 / f64::from(self.shard.count())))
    }
}

/// Validates arguments and files before anything runs.
pub(super) fn plan(scenario: Option<ScenarioName>, args: Load) -> Result<LoadPlan, Failure> {
    let files = ReportFiles::open(&args.output)?;
    let parts = parts(scenario, &args.weights)?;
    reject_unused_options(ScenarioName::of_run(scenario), &args, &parts)?;
    let faults = args.faults;
    if args.replay_share.value() > 0.0 && args.seal == SealKind::Opaque && args.edge_url.is_none() {
        return Err(Failure::usage(
            "cannot send replays with --seal opaque: the mock service does not open collections, so it detects no replays",
            "add --seal real",
        ));
    }
    let baseline = args.compare.as_deref().map(LoadBaseline::load).transpose()?;
    let shard = match (args.shard, args.shards) {
        (Some(shard), _) => shard,
        (None, Some(count)) => Shard::of_job(std::env::var("JOB_COMPLETION_INDEX").ok().as_deref(), count)
            .map_err(|error| {
                Failure::usage(format!("cannot read JOB_COMPLETION_INDEX: {}", error.why), error.advice)
            })?,
        (None, None) => Shard::WHOLE,
    };
    if args.gather.is_some() && args.shard.is_none() && args.shards.is_none() {
        return Err(Failure::usage(
            "cannot use --gather: this process has no index",
            "give --shard I/N, or --shards N in an Indexed Job",
        ));
    }
    if shard.count() > 1 && args.seed.is_none() {
        return Err(Failure::usage(
            "cannot run a shard: --seed is missing",
            "give all shards the same --seed",
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
                    format!("cannot run at {rate} for {}", humantime::format_duration(time)),
                    "give a rate above 0 and at most a week",
                )
            })?)
        }
    };
    let measured = stages.as_ref().map_or(time, Stages::time);
    if let Some(down) = faults.service_down_at.filter(|down| down.at + down.time >= args.warm_up + measured) {
        return Err(Failure::usage(
            format!("cannot measure the recovery: {down}, but the run ends before that"),
            "give an earlier or shorter downtime, or a longer --duration",
        ));
    }
    let mut thresholds = output::thresholds(&args.threshold, args.thresholds.as_deref())?;
    add_defaults(&mut thresholds, allowed_errors(&faults, measured), stages.is_some())?;
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(Instant::now()) >> 16);
    let planned =
        LoadPlan { scenario, args, files, thresholds, baseline, stages, measured, shard, seed, parts };
    if let Some(baseline) = &planned.baseline {
        let seal = match planned.args.seal {
            SealKind::Opaque => Seal::Opaque,
            SealKind::Real => Seal::Real { cost_us: 0.0, not_in_time: 0 },
        };
        baseline.check_comparable(&LoadDescription {
            scenario: planned.name(),
            model: if planned.stages.is_some() { Model::Open } else { Model::Closed },
            plan: &document_plan(&planned, planned.args.users.unwrap_or(0), seal),
            shards: planned.shard.count(),
            faults: faults.names().into_iter().flatten().collect(),
        })?;
    }
    Ok(planned)
}

/// Default limit for the error rate: 1 %, plus the share of injected failures, plus the share of the time
/// that the service is down or reconnecting.
fn allowed_errors(faults: &InjectedFaults, measured: Duration) -> f64 {
    let down = faults
        .service_down_at
        .map_or(0.0, |down| (down.time + RECONNECT).as_secs_f64() / measured.as_secs_f64());
    0.01 + faults.service_failing.unwrap_or_default().value() + down
}

fn parts(scenario: Option<ScenarioName>, weights: &str) -> Result<Vec<(ScenarioName, usize)>, Failure> {
    if let Some(name) = scenario {
        return Ok(vec![(name, 1)]);
    }
    let refuse = || {
        let names: Vec<&str> = ScenarioName::iter().map(ScenarioName::text).collect();
        let advice =
            format!("give three whole numbers up to {MAX_WEIGHT} such as 6,3,1: {}", names.join(", "));
        Failure::usage(format!("cannot read --weights {weights:?}"), advice)
    };
    let numbers: Result<Vec<usize>, _> = weights.split(',').map(|weight| weight.trim().parse()).collect();
    let numbers = numbers.map_err(|_| refuse())?;
    let in_range =
        numbers.iter().all(|weight| *weight <= MAX_WEIGHT) && numbers.iter().any(|weight| *weight > 0);
    if numbers.len() != 3 || !in_range {
        return Err(refuse());
    }
    let weighted = ScenarioName::iter().zip(numbers);
    Ok(weighted.filter(|(_, weight)| *weight > 0).collect())
}

/// The plan as it appears in the report.
pub(super) fn document_plan(planned: &LoadPlan, users: u32, seal: Seal) -> PlannedLoad {
    let args = &planned.args;
    let stages = planned.stages.as_ref().map(|stages| stages.clone().warmed_up(args.warm_up));
    let document = |stage: &Stage| PlanStage {
        time_ms: stage.time.as_millis() as u64,
        from: stage.from.value(),
        to: stage.to.value(),
    };
    let (polling, time) = (&args.polling, |time| humantime::format_duration(time).to_string());
    let settings = [
        ("poll-interval", time(polling.poll_interval)),
        ("wait", time(polling.wait)),
        ("wait-share", polling.wait_share.to_string()),
        ("give-up", time(polling.give_up)),
        ("wrong-share", polling.wrong_share.to_string()),
        ("bad-token-share", polling.bad_token_share.to_string()),
        ("verdict-after", time(args.verdict_after)),
        ("weights", args.weights.clone()),
    ];
    let is_used = |name: &str| if name == "weights" { planned.scenario.is_none() } else { planned.polls() };
    let settings = settings.into_iter().filter(|(name, _)| is_used(name));
    PlannedLoad {
        stages: stages.iter().flat_map(Stages::stages).map(document).collect(),
        users,
        warm_up_ms: args.warm_up.as_millis() as u64,
        measured_ms: planned.measured.as_millis() as u64,
        timeout_ms: args.timeout.as_millis() as u64,
        drain: Drain { limit_ms: args.drain.as_millis() as u64, took_ms: 0 },
        seal,
        replay_share: args.replay_share.value(),
        seed: planned.seed,
        settings: settings.map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

/// Rejects options without an effect. Options with a default value are not checked.
fn reject_unused_options(name: &str, args: &Load, parts: &[(ScenarioName, usize)]) -> Result<(), Failure> {
    let uses_edge = parts.iter().any(|(name, _)| name.uses_edge());
    let polls = parts.iter().any(|(name, _)| name.polls());
    let plays = |part: ScenarioName| parts.iter().any(|(name, _)| *name == part);
    let is_https = |url: &str| url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    let edge_tls = uses_edge
        && args
            .edge_url
            .as_deref()
            .map_or_else(|| args.launch.is_some() && args.edge_scheme == EdgeScheme::Https, is_https);
    let service_tls = polls && args.base_url.as_deref().is_some_and(is_https);
    let replays = args.replay_share.value() > 0.0 && !plays(ScenarioName::EdgeRelay);
    let no_edge = format!("{name} does not use an edge");
    let no_replays = format!("{name} sends no replays");
    let own_sessions = format!("{name} polls for its own sessions");
    let no_verdicts = format!("{name} does not poll for verdicts");
    let no_seal = args.seal_key.is_some() && args.seal == SealKind::Opaque;
    let all = [
        (args.edge_url.is_some() && !uses_edge, "--edge-url", &*no_edge),
        (args.launch.is_some() && !uses_edge, "--launch", &no_edge),
        (args.seal == SealKind::Real && !uses_edge, "--seal real", &no_edge),
        (args.faults.service_failing.is_some() && !uses_edge, "--service-failing", &no_edge),
        (replays, "--replay-share", &no_replays),
        (args.references.is_some() && !plays(ScenarioName::VerdictPolling), "--references", &own_sessions),
        (args.state_url.is_some() && !plays(ScenarioName::VerdictPolling), "--state-url", &own_sessions),
        (
            args.state_command.is_some() && !plays(ScenarioName::VerdictPolling),
            "--state-command",
            &own_sessions,
        ),
        (args.base_url.is_some() && !polls, "--base-url", &no_verdicts),
        (args.edge_ca.is_some() && !edge_tls, "--edge-ca", "the edge does not speak TLS"),
        (args.service_ca.is_some() && !service_tls, "--service-ca", "the service does not speak TLS"),
        (
            args.client_cert.is_some() && !edge_tls && !service_tls,
            "--client-cert",
            "the target does not speak TLS",
        ),
        (no_seal, "--seal-key", "it needs --seal real"),
    ];
    match all.into_iter().find(|(unused, ..)| *unused) {
        None => Ok(()),
        Some((_, option, why)) => {
            Err(Failure::usage(format!("cannot use {option}: {why}"), format!("remove {option}")))
        }
    }
}
