use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgGroup, Parser};
use edgeproof::causes::Fingerprints;
use edgeproof_browser::IS_BUILT_IN;
use edgeproof_cli::{Failure, run_program, runtime};
use edgeproof_fixtures::spec::{PartName, Spec, SpecChoice, Version};
use edgeproof_reports::Destination;
use edgeproof_reports::escape::one_line;
use edgeproof_reports::matrix::{Matrix, MutantStatus, Scope};

use crate::causes::{Accuracy, left_out};
use crate::collector::{CollectorMatrixOptions, collector_matrix};
use crate::conditional::{ConditionalOptions, Noticed, measure_conditions};
use crate::matrix::compare::losses;
use crate::matrix::{KillMatrix, MatrixOptions, kill_matrix};
use crate::mutant_set::MutantSet;
use crate::play::TestBed;

/// Of this number of drawn mutants, one may survive: which ones are drawn is chance.
const MOST_SURVIVORS: usize = 6;
/// Maximum number of printed problems; reports contain all.
const MAX_PRINTED_PROBLEMS: usize = 40;

/// Runs mutants of the reference edge, mock service and key set against the conformance cases.
///
/// Exit codes: 0 a case of the broken row kills each mutant, and each case kills one; 1 otherwise; 2 invalid command.
#[derive(Debug, Parser)]
#[command(name = "edgeproof-mutants", version, max_term_width = 110)]
// What runs the cases of the broken row only.
#[command(group(ArgGroup::new("own_rows").args(["gate", "collector"])))]
struct MutantsArguments {
    /// Run only the cases of each mutant's broken row, and a few canary cases. With --spec, run only the mutants that the
    /// differences to the current version concern, and as few others as each case needs
    #[arg(long)]
    gate: bool,
    /// With --gate or --collector: run a few cases of its row against each mutant, more where it survives or a case kills
    /// none. With --gate, measure with fewer runs how often the right cause is named
    #[arg(long, requires = "own_rows", conflicts_with = "compare")]
    quick: bool,
    /// The interface: current, pre-seal, a folder of tables, or an overlay file. Fingerprints, causes and advice are judged for
    /// the current one only
    #[arg(long, value_name = "SPEC", default_value_t, conflicts_with_all = ["collector", "fingerprints"])]
    spec: SpecChoice,
    /// Number of mutants that run at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Write the kill matrix: json or html (repeatable)
    #[arg(long, value_name = "FORMAT=PATH")]
    report: Vec<String>,
    /// Fail if a case, a mutant or a kill of this earlier matrix (JSON) is gone
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Write the fingerprints of all mutants. With --gate, only those that fail otherwise than the built-in ones play all
    /// cases
    #[arg(long, value_name = "FILE")]
    fingerprints: Option<PathBuf>,
    /// Run the mutants of the collector instead, in Chromium, against the cases of each mutant's broken row; against
    /// all cases with --fingerprints
    #[arg(long)]
    collector: bool,
    /// Count which generated conditions the exchanges of a run meet at this part, edge or service, and play mutants that are
    /// drawn from those. Exit code 1: a condition is unmet, or more than a sixth of the mutants survive
    #[arg(long, value_name = "PART", conflicts_with_all = ["own_rows", "report", "compare", "fingerprints"],
        value_parser = ["edge", "service"])]
    conditions: Option<String>,
    /// Number of mutants that are drawn, with --conditions
    #[arg(long, value_name = "N", requires = "conditions", default_value_t = 0)]
    draw: usize,
    /// Seed of the draw, with --conditions (default: a new one, which is printed)
    #[arg(long, value_name = "N", requires = "conditions")]
    seed: Option<u64>,
    /// Chromium or Chrome, with --collector (default: CHROME from the environment, then the usual places)
    #[arg(long, value_name = "FILE", requires = "collector")]
    chromium: Option<PathBuf>,
}

/// Runs the program `edgeproof-mutants`.
pub fn main() -> ExitCode {
    run_program(run)
}

fn run(arguments: MutantsArguments) -> Result<u8, Failure> {
    let MutantsArguments {
        gate,
        quick,
        spec,
        jobs,
        report,
        compare,
        fingerprints: fingerprint_file,
        collector,
        chromium,
        conditions,
        draw,
        seed,
    } = arguments;
    let spec = Arc::new(spec.load()?);
    if let Some(part) = conditions {
        let options = ConditionalOptions {
            part: if part == "edge" { PartName::Edge } else { PartName::Service },
            draws: draw,
            seed: seed.unwrap_or_else(rand::random),
            jobs: usize::from(jobs),
            progress: print_progress,
        };
        return run_conditions(spec, &options);
    }
    let before = compare.as_deref().map(read_matrix).transpose()?;
    let fingerprint_file = fingerprint_file.map(|path| destination(&path)).transpose()?;
    let mut reports = Vec::new();
    for argument in &report {
        reports.push(parse_report(argument)?);
    }
    if collector {
        if quick && fingerprint_file.is_some() {
            return Err(Failure::usage(
                "cannot make the fingerprints of collectors with --quick: a fingerprint has all cases",
                "leave out --quick",
            ));
        }
        // A user's run has all cases: so has a fingerprint.
        let scope = if fingerprint_file.is_some() { Scope::Full } else { Scope::Gate };
        let (jobs, progress) = (usize::from(jobs), print_progress);
        let options = CollectorMatrixOptions { chromium, scope, is_quick: quick, jobs, progress };
        return run_collector(&options, before.as_ref(), reports, fingerprint_file);
    }
    let options = MatrixOptions {
        scope: if gate { Scope::Gate } else { Scope::Full },
        is_quick: quick,
        renews: fingerprint_file.is_some(),
        jobs: usize::from(jobs),
        progress: print_progress,
    };
    let result =
        runtime()?.block_on(async { kill_matrix(&TestBed::new(Arc::clone(&spec))?, &options).await });
    let KillMatrix { mut matrix, fingerprints: made, accuracy } =
        result.map_err(|why| Failure::of(&why, "check the limit on open files, and TMPDIR"))?;
    add_losses(&mut matrix, before.as_ref());
    write_reports(reports, &matrix)?;
    if let Some(made) = made {
        write_fingerprints(fingerprint_file, &made)?;
    }
    // A closed standard output is no error: the reader has seen enough.
    let _ =
        std::io::stdout().lock().write_all(summary(&matrix, &MutantSet::new(&spec), &accuracy).as_bytes());
    Ok(u8::from(!matrix.problems.is_empty()))
}

/// Runs the mutants of the collector.
fn run_collector(
    options: &CollectorMatrixOptions,
    before: Option<&Matrix>,
    reports: Vec<(Render, Destination)>,
    fingerprint_file: Option<Destination>,
) -> Result<u8, Failure> {
    if !IS_BUILT_IN {
        return Err(Failure::usage(
            "cannot run the mutants of the collector: this program was built without browser support",
            "build it with the feature `collector`: cargo run --package edgeproof-mutants --features collector -- --collector",
        ));
    }
    let spec = Arc::new(Spec::builtin(Version::Current));
    let (mut matrix, made) = runtime()?
        .block_on(collector_matrix(spec, options))
        .map_err(|why| Failure::of(&why, "check the limit on open files, and TMPDIR"))?;
    add_losses(&mut matrix, before);
    write_reports(reports, &matrix)?;
    write_fingerprints(fingerprint_file, &made)?;
    let mut text = problems(&matrix);
    let seconds = matrix.duration_ms as f64 / 1000.0;
    // A gate knows the cases of the rows only: what users have is the stored file.
    let known = if options.scope == Scope::Full { &made } else { Fingerprints::of_collectors() };
    let accuracy = left_out(known);
    // Writing to a String cannot fail.
    _ = writeln!(text, "{}\n{} case runs in {seconds:.1} s", matrix.line(), matrix.summary.plays);
    _ = writeln!(text, "first cause right: {}, each without its own fingerprint", accuracy.left_out);
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(u8::from(!matrix.problems.is_empty()))
}

/// Measures what the cases exercise and notice of generated mutants.
fn run_conditions(spec: Arc<Spec>, options: &ConditionalOptions) -> Result<u8, Failure> {
    let result = runtime()?.block_on(async { measure_conditions(&TestBed::new(spec)?, options).await });
    let result = result.map_err(|why| Failure::of(&why, "check the limit on open files, and TMPDIR"))?;
    let mut text = String::new();
    // Writing to a String cannot fail.
    for name in &result.unmet {
        _ = writeln!(text, "no exchange: {}", one_line(name));
    }
    let of = |noticed| result.drawn.iter().filter(move |(_, other)| *other == noticed);
    for (name, _) in of(Noticed::Survived) {
        _ = writeln!(text, "survived: {}", one_line(name));
    }
    for (name, _) in of(Noticed::Warned) {
        _ = writeln!(text, "warned: {}", one_line(name));
    }
    let (unmet, excluded) = (result.unmet.len(), result.excluded.len());
    let met = result.conditions - unmet - excluded;
    _ = writeln!(
        text,
        "{} conditions: {met} are met, {unmet} are not, and {excluded} need not be",
        result.conditions
    );
    let (killed, warned) = (of(Noticed::Killed).count(), of(Noticed::Warned).count());
    _ = writeln!(
        text,
        "{killed} of {} mutants killed, {warned} warned; drawn from {} with --seed {}",
        result.drawn.len(),
        result.candidates,
        options.seed
    );
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    let survived = of(Noticed::Survived).count();
    Ok(u8::from(unmet > 0 || survived > result.drawn.len() / MOST_SURVIVORS))
}

fn write_reports(reports: Vec<(Render, Destination)>, matrix: &Matrix) -> Result<(), Failure> {
    for (render, destination) in reports {
        write(&destination, &render(matrix))?;
    }
    Ok(())
}

fn write_fingerprints(file: Option<Destination>, made: &Fingerprints) -> Result<(), Failure> {
    file.map_or(Ok(()), |destination| write(&destination, &made.to_json()))
}

fn write(destination: &Destination, text: &str) -> Result<(), Failure> {
    destination.write(text).map_err(|why| Failure::of(&why, "check the free space on the disk"))
}

/// Reads the matrix of `--compare`.
fn read_matrix(path: &Path) -> Result<Matrix, Failure> {
    let text = fs::read_to_string(path).map_err(|why| why.to_string());
    let matrix = text.and_then(|text| serde_json::from_str(&text).map_err(|why| why.to_string()));
    matrix.map_err(|why| {
        Failure::usage(
            format!("cannot read the matrix {}: {why}", path.display()),
            "name a file that --report json=PATH wrote",
        )
    })
}

fn add_losses(matrix: &mut Matrix, before: Option<&Matrix>) {
    let losses = before.map(|before| losses(before, matrix));
    matrix.problems.extend(losses.into_iter().flatten());
}

fn print_progress(done: usize, all: usize) {
    if done.is_multiple_of(100) {
        // Progress is not worth an error.
        let _ = writeln!(std::io::stderr(), "{done} of {all} mutants");
    }
}

type Render = fn(&Matrix) -> String;

fn parse_report(argument: &str) -> Result<(Render, Destination), Failure> {
    let wrong = || {
        Failure::usage(format!("cannot parse --report {argument:?}"), "write it as json=PATH or html=PATH")
    };
    let (format, path) = argument.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(wrong)?;
    let render: Render = match format {
        "json" => Matrix::to_json,
        "html" => Matrix::to_html,
        _ => return Err(wrong()),
    };
    Ok((render, destination(Path::new(path))?))
}

fn destination(path: &Path) -> Result<Destination, Failure> {
    Destination::new(path)
        .map_err(|why| Failure::of(&why, "name a file in an existing folder that you can write to"))
}

/// The first problems, one a line.
fn problems(matrix: &Matrix) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for problem in matrix.problems.iter().take(MAX_PRINTED_PROBLEMS) {
        _ = writeln!(text, "  {}", one_line(problem));
    }
    if matrix.problems.len() > MAX_PRINTED_PROBLEMS {
        _ = writeln!(text, "  … and {} more", matrix.problems.len() - MAX_PRINTED_PROBLEMS);
    }
    text
}

/// Problems, counts and duration.
fn summary(matrix: &Matrix, set: &MutantSet, accuracy: &Accuracy) -> String {
    let mut text = problems(matrix);
    let seconds = matrix.duration_ms as f64 / 1000.0;
    _ = writeln!(text, "{}", matrix.line());
    _ = writeln!(text, "survived by class: {}", survivors(matrix, set));
    if matrix.summary.mutants < set.mutants.len() {
        let all = set.mutants.len();
        _ = writeln!(
            text,
            "the others of {all} mutants are as in the current version, and each case kills one"
        );
    }
    _ = write!(text, "first cause right: {}, each without its own fingerprint", accuracy.left_out);
    if accuracy.styled.of > 0 {
        _ = write!(text, "; {} in an edge of another style", accuracy.styled);
    }
    text.push('\n');
    if accuracy.pairs.of > 0 {
        _ = writeln!(text, "both causes of a pair named: {}", accuracy.pairs);
    }
    _ = writeln!(text, "{} case runs in {seconds:.1} s", matrix.summary.plays);
    text
}

/// Number of surviving mutants of each class, such as `reply 0 of 140`.
fn survivors(matrix: &Matrix, set: &MutantSet) -> String {
    let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for mutant in &set.mutants {
        let (survived, all) = classes.entry(mutant.mutation.class()).or_default();
        let Some(played) = matrix.mutants.iter().find(|one| one.id == mutant.id) else { continue };
        *survived += usize::from(played.status == MutantStatus::Survived);
        *all += 1;
    }
    let counts = classes.iter().map(|(class, (survived, all))| format!("{class} {survived} of {all}"));
    counts.collect::<Vec<_>>().join(", ")
}
