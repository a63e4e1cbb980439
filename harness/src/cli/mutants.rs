use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use edgeproof_reports::Destination;
use edgeproof_reports::matrix::{Matrix, Scope};

use super::args::Mutants;
use super::failure::Failure;
use super::runtime;
use crate::deviations::{MatrixOptions, World, matrix};

/// Problems that are printed; the reports hold all.
const SHOWN: usize = 40;

/// `edgeproof mutants`.
pub(super) fn main(args: &Mutants) -> Result<u8, Failure> {
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
    let wrong = || Failure::plain(format!("write the report {given:?}"), advice);
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
