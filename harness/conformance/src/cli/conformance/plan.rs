use std::path::PathBuf;
use std::time::Duration;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{Level, PartName, Spec};
use edgeproof_reports::Reader;
use rand::RngExt;
use tokio::runtime::Runtime;

use super::again::Again;
use super::args::ConformanceArgs;
use super::cases::{check_hold, check_ids, selection};
use super::collector::collector_options;
use super::misplaced::check_options;
use super::new_baseline::NewBaseline;
use super::output::{all_readers, file_readers};
use super::rerun::rerun;
use super::sequences::{create_folder, sequences};
use super::service::service_options;
use crate::cases::{self, Catalog};
use crate::cli::edges::{EdgeSelection, edge_options};
use crate::cli::explain::all_cases;
use crate::cli::spec::RowCases;
use crate::run::{
    Baseline, CasePlan, CollectorRunner, ConformanceRun, EdgePool, Pins, RunOptions, RunPolicy, ServiceRunner,
};

/// How long a run with `--waits` counts arrivals after its last request.
const LATE_ARRIVALS: Duration = Duration::from_secs(30);

/// A valid command.
pub(super) enum PlannedCommand {
    /// Lists the cases.
    List(CasePlan),
    /// Runs the cases.
    Run(Box<PlannedRun>),
}

/// A run whose arguments and files are all valid.
pub(super) struct PlannedRun {
    pub(super) run: ConformanceRun,
    /// What the user is told before the run.
    pub(super) notice: Option<String>,
    /// File for the target's behaviour at open points.
    pub(super) record: Option<PathBuf>,
    /// File for the failures of the run.
    pub(super) baseline: Option<NewBaseline>,
    /// Terminal and report files.
    pub(super) readers: Vec<Box<dyn Reader + Send>>,
}

/// Validates the arguments. Nothing reads them again. `given`: those of the command line, without `edgeproof.toml`.
pub(super) fn plan(
    args: &ConformanceArgs,
    given: &ConformanceArgs,
    runtime: &Runtime,
) -> Result<PlannedCommand, Failure> {
    // Any other text is the URL of an edge.
    let part = args.target.as_deref().and_then(|target| target.parse().ok()).unwrap_or(PartName::Edge);
    check_options(args, part)?;
    let (spec, profile, reply_shape) = args.interface.load()?;
    let seed = args.seed.unwrap_or_else(|| u64::from(rand::rng().random::<u32>()));
    let catalog = Catalog::new(&spec, &reply_shape, args.waits);
    let sequences = sequences(args, part, &catalog, seed)?;
    check_ids(args, &spec, part)?;
    let again = Again::of(args)?;
    let selection = selection(args, again.only)?;
    let compared = profile.clone();
    let run = match part {
        PartName::Edge => {
            let catalog = catalog.fuzz(args.fuzz, seed).explore(!args.quick).thorough(args.thorough);
            let cases = cases::edge_with_sequences(catalog, sequences);
            let selected = EdgeSelection {
                positional: args.target.as_deref().filter(|target| *target != "edge"),
                no_service: args.no_service,
                origin: args.origin.as_deref(),
            };
            let edges = edge_options(&args.edge, selected, &spec, profile, reply_shape)?;
            ConformanceRun::new(cases, &selection, EdgePool::new(edges))?
        }
        PartName::Service => {
            let service = service_options(args, part, &spec, profile, runtime)?;
            let cases = cases::service_with_sequences(catalog, sequences);
            ConformanceRun::new(cases, &selection, ServiceRunner::new(service))?
        }
        PartName::Keys => {
            let service = service_options(args, part, &spec, profile, runtime)?;
            ConformanceRun::new(cases::keys(catalog), &selection, ServiceRunner::new(service))?
        }
        PartName::Collector => {
            let collector = collector_options(args, &spec, profile)?;
            ConformanceRun::new(cases::collector(catalog), &selection, CollectorRunner::new(collector))?
        }
    };
    check_hold(args.hold.as_deref(), &run.plan)?;
    let rerun = rerun(args, given, std::env::args_os().next(), seed, run.redactor());
    let options = RunOptions {
        // A replay of one case is about that case.
        latency: run.plan.cases.len() > 1,
        rerun: Some(rerun),
        pins: pins(args, part, &spec)?,
        profile: Some(compared),
        rows_without_case: rows_without_case(&spec),
        ..options(args, seed)
    };
    let run = ConformanceRun { options, policy: policy(args)?, ..run };
    if let Some(path) = &args.record {
        Pins::check_writable(path)?;
        Pins::check_observed(path, &run.plan)?;
    }
    let baseline = NewBaseline::of(args)?;
    let files = file_readers(args, &spec)?;
    if args.list {
        return Ok(PlannedCommand::List(run.plan));
    }
    create_folder(args)?;
    let readers = all_readers(args, part, &spec, files, again.earlier);
    let (record, notice) = (args.record.clone(), again.notice);
    Ok(PlannedCommand::Run(Box::new(PlannedRun { run, notice, record, baseline, readers })))
}

/// The rules of a version that no part has a case of.
fn rows_without_case(spec: &Spec) -> Vec<String> {
    let cases = RowCases::of(spec);
    let rows = spec.rows().iter().filter(|row| row.level != Level::Open && row.excluded.is_none());
    rows.filter(|row| cases.get(&row.id).is_empty()).map(|row| row.id.clone()).collect()
}

/// The pinned points. A case of the part observes each.
fn pins(args: &ConformanceArgs, part: PartName, spec: &Spec) -> Result<Pins, Failure> {
    let Some(path) = &args.pin else { return Ok(Pins::default()) };
    let pins = Pins::load(path)?;
    pins.check_points(&all_cases(spec), part.name())?;
    Ok(pins)
}

fn options(args: &ConformanceArgs, seed: u64) -> RunOptions {
    RunOptions {
        // A debugger looks at one case.
        jobs: if args.hold.is_some() { 1 } else { usize::from(args.jobs) },
        confirms: args.hold.is_none() && args.repeat == 1 && !args.shuffle,
        case_timeout: args.case_timeout,
        repeat: usize::from(args.repeat),
        seed,
        shuffle: args.shuffle,
        hold: args.hold.clone(),
        late_arrivals: if args.waits { LATE_ARRIVALS } else { Duration::ZERO },
        ..RunOptions::default()
    }
}

fn policy(args: &ConformanceArgs) -> Result<RunPolicy, Failure> {
    let baseline = args.baseline.as_deref().map(Baseline::load).transpose()?;
    Ok(RunPolicy { strict: args.strict, require_all: args.require_all, baseline })
}
