use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::{FileReport, Format, Outcome, Reader, Report};
use rand::RngExt;

use super::args::Conformance;
use super::plan_edges::plan_edges;
use super::plan_service::runner;
use crate::cases::{self, Catalog};
use crate::run::{
    Baseline, EdgePoolOptions, Pins, Plan, RunOptions, RunPolicy, Selection, ServicePart,
    ServiceRunnerOptions,
};
use edgeproof_cli::Failure;
use edgeproof_mock::ReplyShape;

/// A run of which everything that can be wrong with its arguments and files was found to be right.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) spec: Arc<Spec>,
    pub(super) proven: Proven,
    pub(super) redactor: Arc<Redactor>,
    pub(super) options: RunOptions,
    pub(super) verdict: RunPolicy,
    pub(super) seed: u64,
    pub(super) record: Option<PathBuf>,
    pub(super) readers: Vec<Box<dyn Reader + Send>>,
}

/// What is proven, and all that it is made from.
pub(super) enum Proven {
    /// Edges.
    Edges(Box<EdgePoolOptions>),
    /// A service, or a key set.
    Service(Box<ServiceRunnerOptions>),
}

/// Validates the arguments. Nothing after this reads them again.
pub(super) fn plan(args: &Conformance) -> Result<Planned, Failure> {
    let part = part(args)?;
    let spec = Arc::new(Spec::builtin(args.spec));
    let profile = match &args.profile {
        Some(path) => spec.profile().with_file(path)?,
        None => spec.profile().clone(),
    };
    let shape = match &args.reply_shape {
        Some(path) => ReplyShape::load(path)?,
        None => ReplyShape::from_profile(&profile),
    };
    let seed = args.seed.unwrap_or_else(|| u64::from(rand::rng().random::<u32>()));
    let (plan, proven, redactor) = match part {
        None => {
            let (plan, options) = plan_edges(args, &spec, profile, shape, seed)?;
            let redactor = Arc::clone(&options.redactor);
            (plan, Proven::Edges(Box::new(options)), redactor)
        }
        Some(part) => {
            let options = runner(args, part, &spec, profile)?;
            let catalog = Catalog::new(&spec, &shape, args.waits);
            let cases = match part {
                ServicePart::Service => cases::service(catalog),
                ServicePart::Keys => cases::keys(catalog),
            };
            let plan = Plan::new(cases, &selection(args)?, &options)?;
            let redactor = Arc::clone(&options.redactor);
            (plan, Proven::Service(Box::new(options)), redactor)
        }
    };
    check_hold(args, &plan)?;
    let options = RunOptions {
        jobs: if args.hold.is_some() { 1 } else { usize::from(args.jobs) },
        case_timeout: args.case_timeout,
        repeat: usize::from(args.repeat),
        shuffle: args.shuffle.then_some(seed),
        hold: args.hold.clone(),
        pins: args.pin.as_deref().map(Pins::load).transpose()?.unwrap_or_default(),
        probes_sanity: true,
        latency: true,
    };
    let verdict = RunPolicy {
        strict: args.strict,
        baseline: args.baseline.as_deref().map(Baseline::load).transpose()?,
        interrupted: None,
    };
    if let Some(path) = &args.record {
        Pins::check_writable(path)?;
    }
    let readers = readers(args, &spec)?;
    Ok(Planned { plan, spec, proven, redactor, options, verdict, seed, record: args.record.clone(), readers })
}

/// A service or a key set; none: edges.
fn part(args: &Conformance) -> Result<Option<ServicePart>, Failure> {
    let part = match args.target.as_deref() {
        Some("service") => Some(ServicePart::Service),
        Some("keys") => Some(ServicePart::Keys),
        Some("collector") => {
            return Err(Failure::usage(
                "prove `collector`: this version of edgeproof proves edges, services and key sets",
                "write `edge`, `service` or `keys`",
            ));
        }
        _ => None,
    };
    Ok(part)
}

pub(super) fn selection(args: &Conformance) -> Result<Selection, Failure> {
    let only = match &args.rerun_failed {
        None => None,
        Some(path) => {
            let report = Report::load(path)
                .map_err(|why| Failure::of(&why, "--rerun-failed takes a JSON report of an earlier run"))?;
            let again = |outcome: Outcome| matches!(outcome, Outcome::Fail | Outcome::NotRun);
            let ids: Vec<_> =
                report.cases.into_iter().filter(|case| again(case.outcome)).map(|case| case.id).collect();
            if ids.is_empty() {
                return Err(Failure::usage(
                    format!("run again what failed in {}: nothing did", path.display()),
                    "leave out --rerun-failed to run everything",
                ));
            }
            Some(ids)
        }
    };
    Ok(Selection { filter: args.filter.clone(), exclude: args.exclude.clone(), only })
}

fn check_hold(args: &Conformance, plan: &Plan) -> Result<(), Failure> {
    let Some(id) = &args.hold else { return Ok(()) };
    if plan.cases.iter().any(|(case, why)| case.id == *id && why.is_none()) {
        return Ok(());
    }
    Err(Failure::usage(
        format!("stop before {id:?}: no case with this id is played"),
        "`--list` shows the ids; globs are not taken here",
    ))
}

fn readers(args: &Conformance, spec: &Spec) -> Result<Vec<Box<dyn Reader + Send>>, Failure> {
    let mut wanted = Vec::new();
    for given in &args.report {
        let advice = format!("write it as FORMAT=PATH, with one of the formats {}", Format::names());
        let Some((format, path)) = given.split_once('=').filter(|(_, path)| !path.is_empty()) else {
            return Err(Failure::usage(format!("write the report {given:?}"), advice));
        };
        let format = Format::from_str(format).map_err(|why| Failure::of(&why, &advice))?;
        wanted.push((format, PathBuf::from(path)));
    }
    let mut places = HashSet::new();
    if let Some((_, path)) = wanted.iter().find(|(_, path)| !places.insert(place(path))) {
        return Err(Failure::usage(
            format!("write two reports to {}", path.display()),
            "give each report a path of its own",
        ));
    }
    if args.github
        && let Some(summary) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty())
    {
        wanted.push((Format::Markdown, summary.into()));
    }
    let mut readers = Vec::new();
    for (format, path) in wanted {
        let reader = FileReport::new(format, &path, titles(spec))
            .map_err(|why| Failure::of(&why, "name a file in a folder that exists and can be written to"))?;
        readers.push(Box::new(reader) as Box<dyn Reader + Send>);
    }
    Ok(readers)
}

/// Where a file is or will be, however its path is spelled.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Names of the sections of the interface.
pub(super) fn titles(spec: &Spec) -> edgeproof_reports::Titles {
    let sections = spec.rows().iter().map(|row| row.section.as_str());
    sections
        .filter_map(|section| Some((section.to_owned(), spec.section_title(section)?.to_owned())))
        .collect()
}
