use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use edgeproof_reports::Destination;
use edgeproof_reports::matrix::{Matrix, Scope};

use clap::Parser;
use edgeproof_cli::{Failure, run_program, runtime};

use super::{MatrixOptions, World, matrix};

/// Problems that are printed; the reports hold all.
const SHOWN: usize = 40;

/// Runs mutants of the reference edge, mock service and key set against the conformance cases.
///
/// Exit codes: 0 each mutant is killed by a case of its own row, and each case kills one; 1 otherwise; 2 invalid command.
#[derive(Debug, Parser)]
#[command(name = "edgeproof-mutants", version, max_term_width = 110)]
struct Arguments {
    /// Run only the cases of each mutant's own row, and the canaries
    #[arg(long)]
    gate: bool,
    /// Number of mutants that run at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Write the kill matrix: json or html (repeatable)
    #[arg(long, value_name = "FORMAT=PATH")]
    report: Vec<String>,
}

/// The program `edgeproof-mutants`.
pub fn main() -> ExitCode {
    run_program(run)
}

fn run(args: Arguments) -> Result<u8, Failure> {
    let mut reports = Vec::new();
    for given in &args.report {
        reports.push(report(given)?);
    }
    let options = MatrixOptions {
        scope: if args.gate { Scope::Gate } else { Scope::Full },
        jobs: usize::from(args.jobs),
        progress: told_so_far,
    };
    let made = runtime()?.block_on(async { matrix(&World::builtin()?, &options).await });
    let matrix = made.map_err(|why| Failure::of(&why, "check the limits on open files, and TMPDIR"))?;
    for (render, place) in reports {
        place
            .write(&render(&matrix))
            .map_err(|why| Failure::of(&why, "check the space that is left there"))?;
    }
    let mut out = std::io::stdout().lock();
    // Whoever closed standard output has seen enough.
    let _ = out.write_all(told(&matrix).as_bytes());
    Ok(u8::from(!matrix.problems.is_empty()))
}

/// It takes minutes: a sign of life now and then.
fn told_so_far(done: usize, all: usize) {
    if done.is_multiple_of(100) {
        // Whoever closed standard error wants no signs.
        let _ = writeln!(std::io::stderr(), "{done} of {all} deviations");
    }
}

type Render = fn(&Matrix) -> String;

fn report(given: &str) -> Result<(Render, Destination), Failure> {
    let advice = "write it as json=PATH or html=PATH";
    let wrong = || Failure::usage(format!("write the report {given:?}"), advice);
    let (format, path) = given.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(wrong)?;
    let render: Render = match format {
        "json" => Matrix::to_json,
        "html" => Matrix::to_html,
        _ => return Err(wrong()),
    };
    let place = Destination::new(Path::new(path))
        .map_err(|why| Failure::of(&why, "name a file in a folder that exists and can be written to"))?;
    Ok((render, place))
}

fn told(matrix: &Matrix) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for problem in matrix.problems.iter().take(SHOWN) {
        _ = writeln!(text, "  {}", edgeproof_reports::escape::one_line(problem));
    }
    if matrix.problems.len() > SHOWN {
        _ = writeln!(text, "  … and {} more", matrix.problems.len() - SHOWN);
    }
    let took = matrix.duration_ms as f64 / 1000.0;
    _ = writeln!(text, "{}\n{} plays in {took:.1} s", matrix.line(), matrix.summary.plays);
    text
}
