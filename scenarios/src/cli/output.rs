use std::io::Write;
use std::path::Path;

use edgeproof_cli::args::ReportArgument;
use edgeproof_cli::exit_code::USAGE;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_reports::load::{LoadFile, LoadReport};

use super::args::OutputOptions;
use super::input_file::read;
use crate::plan::{Metric, Threshold, parse_file};

/// Report files. Their paths are checked at the start and written at the end.
pub(super) struct ReportFiles(Vec<LoadFile>);

impl ReportFiles {
    pub(super) fn open(output: &OutputOptions) -> Result<Self, Failure> {
        ReportArgument::check_distinct(&output.report)?;
        let open = |report: &ReportArgument| {
            LoadFile::new(report.format, &report.path)
                .map_err(|why| Failure::of(&why, "name a file in a folder that exists"))
        };
        Ok(Self(output.report.iter().map(open).collect::<Result<_, _>>()?))
    }

    /// Prints the summary, writes the reports and returns the exit code. A run without its report is not a
    /// success.
    pub(super) fn finish(&self, output: &OutputOptions, report: &LoadReport) -> u8 {
        let mut code = report.exit_code;
        let to_stderr = ReportArgument::any_to_stdout(&output.report);
        let color = if to_stderr {
            output.color.is_enabled_on(&std::io::stderr())
        } else {
            output.color.is_enabled()
        };
        let mut out: Box<dyn Write> =
            if to_stderr { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
        // A closed output is no error.
        let _ = write!(out, "{}", edgeproof_reports::load::terminal(report, color, output.quiet));
        for file in &self.0 {
            match file.write(report) {
                Ok(()) => {
                    let _ = writeln!(out, "  {} report: {}", file.format(), file.path().display());
                }
                Err(why) => {
                    Failure::of(&why, "check the free space on the disk").print();
                    code = if code == 0 { USAGE } else { code };
                }
            }
        }
        code
    }
}

/// Largest default for the error rate: some requests must succeed even with injected faults.
const MOST_PERCENT: f64 = 99.0;

/// The given thresholds, plus the default for the error rate if none judges it. Without it a run that fails
/// completely would pass.
pub(super) fn thresholds(
    given: &[Threshold],
    file: Option<&Path>,
    allowed_errors: Option<f64>,
) -> Result<Vec<(Threshold, bool)>, Failure> {
    let mut thresholds = given.to_vec();
    if let Some(path) = file {
        let parsed = parse_file(&read(path)?).map_err(|error| {
            Failure::usage(format!("cannot read thresholds {}: {}", path.display(), error.why), error.advice)
        })?;
        thresholds.extend(parsed);
    }
    let judges_errors =
        thresholds.iter().any(|threshold| threshold.metric == Metric::ErrorRate && threshold.route.is_none());
    let mut all: Vec<(Threshold, bool)> =
        thresholds.into_iter().map(|threshold| (threshold, false)).collect();
    if let Some(allowed) = allowed_errors.filter(|_| !judges_errors) {
        let percent = (allowed * 100.0).ceil().min(MOST_PERCENT);
        let threshold = Threshold::new(None, "error-rate", &format!("{percent}%"));
        all.push((threshold.expect("1 % to 99 % is a limit for the error rate"), true));
    }
    Ok(all)
}

/// The command `edgeproof-load schema`.
pub(super) fn schema() -> Result<u8, Failure> {
    write_stdout(format!("{:#}\n", edgeproof_reports::load::load_schema()).as_bytes())?;
    Ok(0)
}
