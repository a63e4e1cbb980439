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

/// Default thresholds of a run.
pub(super) struct DefaultThresholds {
    /// Largest error rate, as a share.
    pub(super) errors: f64,
    /// Whether a rate is planned.
    pub(super) is_open: bool,
}

/// The given thresholds, plus the defaults for error rate and delivered share if none judges them. Without them
/// a run that fails completely would pass.
pub(super) fn thresholds(
    given: &[Threshold],
    file: Option<&Path>,
    defaults: Option<&DefaultThresholds>,
) -> Result<Vec<(Threshold, bool)>, Failure> {
    let mut thresholds = given.to_vec();
    if let Some(path) = file {
        let parsed = parse_file(&read(path)?).map_err(|error| {
            Failure::usage(format!("cannot read thresholds {}: {}", path.display(), error.why), error.advice)
        })?;
        thresholds.extend(parsed);
    }
    let mut all: Vec<(Threshold, bool)> =
        thresholds.into_iter().map(|threshold| (threshold, false)).collect();
    let Some(defaults) = defaults else { return Ok(all) };
    let limit_of = |all: &[(Threshold, bool)], metric| {
        let mut own = all.iter().filter(|(one, _)| one.metric == metric && one.route.is_none());
        own.next().map(|(threshold, _)| threshold.limit)
    };
    if !defaults.is_open && limit_of(&all, Metric::Delivered).is_some() {
        return Err(Failure::usage(
            "cannot judge the delivered share: the closed model plans no rate",
            "remove this threshold, or give a --rate",
        ));
    }
    let by_default = |metric: &str, sign: char, percent: f64| {
        let threshold = format!("{metric} {sign}= {percent}%").parse::<Threshold>();
        (threshold.expect("1 % to 99 % is a limit for a share"), true)
    };
    let errors = if let Some(given) = limit_of(&all, Metric::ErrorRate) {
        given.value
    } else {
        let percent = (defaults.errors * 100.0).ceil().min(MOST_PERCENT);
        all.push(by_default("error-rate", '<', percent));
        percent / 100.0
    };
    if defaults.is_open && limit_of(&all, Metric::Delivered).is_none() {
        // Operations that may fail need not be delivered.
        let percent = (100.0 - errors * 100.0).floor().clamp(1.0, KEPT_UP * 100.0);
        all.push(by_default("delivered", '>', percent));
    }
    Ok(all)
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
    let thresholds = thresholds(&args.threshold, args.thresholds.as_deref(), None)?;
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
        let defaults = DefaultThresholds { errors: 0.01, is_open };
        let all = thresholds(&given, None, Some(&defaults)).unwrap();
        let rules: Vec<&str> = all.iter().map(|(threshold, _)| &*threshold.rule).collect();
        assert_eq!(rules, expected);
    }

    #[rstest]
    #[case::injected_failures(0.06, &["error-rate <= 6%", "delivered >= 94%"])]
    #[case::always_down(1.5, &["error-rate <= 99%", "delivered >= 1%"])]
    fn injected_faults_lower_the_defaults(#[case] errors: f64, #[case] expected: &[&str]) {
        let all = thresholds(&[], None, Some(&DefaultThresholds { errors, is_open: true })).unwrap();
        let rules: Vec<&str> = all.iter().map(|(threshold, _)| &*threshold.rule).collect();
        assert_eq!(rules, expected);
    }

    #[test]
    fn delivered_share_needs_a_rate() {
        let given = ["delivered>95%".parse().unwrap()];
        let closed = DefaultThresholds { errors: 0.01, is_open: false };
        assert!(thresholds(&given, None, Some(&closed)).is_err());
        assert_eq!(thresholds(&given, None, None).unwrap().len(), 1);
    }
}
