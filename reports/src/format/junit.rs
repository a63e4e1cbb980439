//! JUnit XML, for build servers: a suite for each section.
//!
//! | outcome | in JUnit |
//! |---|---|
//! | fail | failure |
//! | not-run | error |
//! | known, not-applicable | skipped, with the reason |
//! | pass, warn, observed | passed, with warnings and observations in `system-out` |

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use crate::model::{CaseReport, Outcome, Report, Titles, by_section, titled};
use crate::text::case::{full, level};
use crate::text::escape::{one_line, visible};
use crate::text::styled::paint_all;

/// Longest line of prose in a failure, in characters; values are never cut.
const WIDTH: usize = 100;

/// The document.
pub(super) fn render(report: &Report, titles: &Titles) -> String {
    let mut document = quick_junit::Report::new("edgeproof");
    document.set_time(Duration::from_millis(report.duration_ms));
    document.timestamp = report.started.parse().ok();
    for section in by_section(&report.cases) {
        let mut suite = TestSuite::new(one_line(&format!("section {}", titled(section.number, titles))));
        suite.set_time(Duration::from_micros(section.cases.iter().map(|case| case.duration_us).sum()));
        suite.add_properties([
            ("spec", one_line(&report.spec.to_string()).as_ref()),
            ("target", one_line(&report.target.to_string()).as_ref()),
            ("seed", &report.seed.to_string()),
        ]);
        suite.add_test_cases(section.cases.iter().map(|case| test_case(case, titles)));
        document.add_test_suite(suite);
    }
    document.to_string().expect("quick-junit keeps valid XML text, and memory takes every byte")
}

fn test_case(case: &CaseReport, titles: &Titles) -> TestCase {
    let mut junit = TestCase::new(one_line(&case.id), status(case, titles));
    // Build servers split class names at dots: `edgeproof.section-7-3` is one class in one package.
    junit.set_classname(format!("edgeproof.section-{}", one_line(&case.section).replace('.', "-")));
    junit.set_time(Duration::from_micros(case.duration_us));
    match case.outcome {
        Outcome::Warn => {
            let text = paint_all(&full(case, titles, WIDTH), false);
            junit.set_system_out(format!("warning: {}\n\n{text}", one_line(&case.because)));
        }
        Outcome::Observed | Outcome::Pass if !case.observations.is_empty() => {
            let lines = case
                .observations
                .iter()
                .map(|observed| format!("{}: {}\n", observed.point, observed.observed));
            junit.set_system_out(visible(&lines.collect::<String>()));
        }
        _ => {}
    }
    junit
}

fn status(case: &CaseReport, titles: &Titles) -> TestCaseStatus {
    let mut status = match case.outcome {
        Outcome::Pass | Outcome::Warn | Outcome::Observed => return TestCaseStatus::success(),
        Outcome::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::NotRun => TestCaseStatus::non_success(NonSuccessKind::Error),
        Outcome::Known | Outcome::NotApplicable => TestCaseStatus::skipped(),
    };
    status.set_message(one_line(&case.because));
    match case.outcome {
        Outcome::Fail | Outcome::NotRun => {
            status.set_type(format!("{}/{}", level(case).name(), case.basis.name()));
            status.set_description(paint_all(&full(case, titles, WIDTH), false));
        }
        _ => {
            status.set_type(case.outcome.name());
        }
    }
    status
}
