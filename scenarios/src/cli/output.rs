use std::io::Write;
use std::path::Path;

use edgeproof_cli::args::ReportArgument;
use edgeproof_cli::exit_code::USAGE;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_reports::load::{KEPT_UP, LoadFile, LoadReport};

use super::args::{Merge, OutputOptions};
use crate::merge::merge;
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
        let (mut out, color): (Box<dyn Write>, bool) = if to_stderr {
            (Box::new(std::io::stderr()), output.color.is_enabled_on(&std::io::stderr()))
        } else {
            (Box::new(std::io::stdout()), output.color.is_enabled())
        };
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

/// The thresholds of a command and of its file, none of them a default.
pub(super) fn thresholds(
    given: &[Threshold],
    file: Option<&Path>,
) -> Result<Vec<(Threshold, bool)>, Failure> {
    let mut thresholds = given.to_vec();
    if let Some(path) = file {
        let parsed = parse_file(&read(path)?).map_err(|error| {
            Failure::usage(format!("cannot read thresholds {}: {}", path.display(), error.why), error.advice)
        })?;
        thresholds.extend(parsed);
    }
    Ok(thresholds.into_iter().map(|threshold| (threshold, false)).collect())
}

/// Adds the defaults for error rate and delivered share if no threshold judges them. Without them a run that fails
/// completely would pass. `errors`: the largest error rate, as a share. `is_open`: whether a rate is planned.
pub(super) fn add_defaults(
    thresholds: &mut Vec<(Threshold, bool)>,
    errors: f64,
    is_open: bool,
) -> Result<(), Failure> {
    let limit_of = |metric| {
        let mut own = thresholds.iter().filter(|(one, _)| one.metric == metric && one.route.is_none());
        own.next().map(|(threshold, _)| threshold.limit.value)
    };
    let (error_rate, delivered) = (limit_of(Metric::ErrorRate), limit_of(Metric::Delivered));
    if !is_open && delivered.is_some() {
        return Err(Failure::usage(
            "cannot judge the delivered share: the closed model plans no rate",
            "remove this threshold, or give a --rate",
        ));
    }
    let mut add = |metric: &str, sign: char, percent: f64| {
        let threshold = format!("{metric} {sign}= {percent}%").parse::<Threshold>();
        thresholds.push((threshold.expect("1 % to 99 % is a limit for a share"), true));
    };
    let errors = error_rate.unwrap_or_else(|| {
        let percent = (errors * 100.0).ceil().min(MOST_PERCENT);
        add("error-rate", '<', percent);
        percent / 100.0
    });
    if is_open && delivered.is_none() {
        // Operations that may fail need not be delivered.
        add("delivered", '>', (100.0 - errors * 100.0).floor().clamp(1.0, KEPT_UP * 100.0));
    }
    Ok(())
}

/// Reads a file that the command names.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|why| {
        Failure::usage(format!("cannot read {}: {why}", path.display()), "check the path and its permissions")
    })
}

/// The command `edgeproof-load schema`.
pub(super) fn schema() -> Result<u8, Failure> {
    write_stdout(edgeproof_reports::schemas::LOAD.as_bytes())?;
    Ok(0)
}

/// The command `edgeproof-load merge`.
pub(super) fn merged(args: &Merge) -> Result<u8, Failure> {
    let files = ReportFiles::open(&args.output)?;
    // No defaults: the shards may have expected errors, so their limits apply.
    let thresholds = thresholds(&args.threshold, args.thresholds.as_deref())?;
    let sum = merge(&args.files, &thresholds)?;
    Ok(files.finish(&args.output, &sum))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::defaults(&[], true, &["error-rate <= 1%", "delivered >= 99%"])]
    #[case::closed(&[], false, &["error-rate <= 1%"])]
    #[case::of_a_route(&["GET /x error-rate<5%"], true, &["error-rate<5%", "error-rate <= 1%", "delivered >= 99%"])]
    #[case::errors_given(&["error-rate<5%"], true, &["error-rate<5%", "delivered >= 95%"])]
    #[case::no_errors(&["error-rate<0"], true, &["error-rate<0", "delivered >= 99%"])]
    #[case::delivered_given(&["delivered>95%"], true, &["delivered>95%", "error-rate <= 1%"])]
    #[case::switched_off(&["delivered>0%"], true, &["delivered>0%", "error-rate <= 1%"])]
    fn given_thresholds_replace_defaults(
        #[case] given: &[&str],
        #[case] is_open: bool,
        #[case] expected: &[&str],
    ) {
        let given: Vec<Threshold> = given.iter().map(|rule| rule.parse().unwrap()).collect();
        let mut all = thresholds(&given, None).unwrap();
        add_defaults(&mut all, 0.01, is_open).unwrap();
        let rules: Vec<&str> = all.iter().map(|(threshold, _)| &*threshold.rule).collect();
        assert_eq!(rules, expected);
    }

    #[rstest]
    #[case::injected_failures(0.06, &["error-rate <= 6%", "delivered >= 94%"])]
    #[case::always_down(1.5, &["error-rate <= 99%", "delivered >= 1%"])]
    fn injected_faults_lower_the_defaults(#[case] errors: f64, #[case] expected: &[&str]) {
        let mut all = Vec::new();
        add_defaults(&mut all, errors, true).unwrap();
        let rules: Vec<&str> = all.iter().map(|(threshold, _)| &*threshold.rule).collect();
        assert_eq!(rules, expected);
    }

    #[test]
    fn delivered_share_needs_a_rate() {
        let mut given = vec![("delivered>95%".parse().unwrap(), false)];
        assert!(add_defaults(&mut given, 0.01, false).is_err());
    }
}
