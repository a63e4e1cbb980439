//! JUnit XML, for build servers: a suite for each section. Build servers compare runs test by test, so the cases keep the
//! order of the plan; message, type and text of a failure name its cause first, so that a list of failures shows it.
//!
//! | outcome | in JUnit |
//! |---|---|
//! | fail | failure |
//! | not-run | error |
//! | known, not-applicable | skipped, with the reason |
//! | pass, warn, observed | passed, with warnings and observations in `system-out` |

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use crate::model::{CaseReport, CauseGroup, Outcome, Report, Titles, by_section, cause_groups, titled};
use crate::text::case::full;
use crate::text::cause;
use crate::text::escape::{one_line, visible};
use crate::text::styled::paint_all;

/// Longest line of prose in a failure, in characters; values are never cut.
const WIDTH: usize = 100;

/// The document.
pub(super) fn render(report: &Report, titles: &Titles) -> String {
    let mut document = quick_junit::Report::new("edgeproof");
    document.set_time(Duration::from_millis(report.duration_ms));
    document.timestamp = report.started.parse().ok();
    let groups = cause_groups(&report.causes, &report.cases);
    for section in by_section(&report.cases) {
        let mut suite = TestSuite::new(one_line(&format!("section {}", titled(section.number, titles))));
        suite.set_time(Duration::from_micros(section.cases.iter().map(|case| case.duration_us).sum()));
        suite.add_properties([
            ("spec", one_line(&report.spec.to_string()).as_ref()),
            ("target", one_line(&report.target.to_string()).as_ref()),
            ("seed", &report.seed.to_string()),
        ]);
        suite.add_test_cases(
            section.cases.iter().map(|case| test_case(case, cause_of(case, &groups), titles)),
        );
        document.add_test_suite(suite);
    }
    document.to_string().expect("quick-junit keeps valid XML text, and memory takes every byte")
}

/// The first cause of a case.
fn cause_of<'g>(case: &CaseReport, groups: &'g [CauseGroup<'_>]) -> Option<&'g CauseGroup<'g>> {
    let mut named = groups.iter().filter(|group| group.is_named());
    named.find(|group| group.cases.iter().any(|member| std::ptr::eq(*member, case)))
}

fn test_case(case: &CaseReport, cause: Option<&CauseGroup<'_>>, titles: &Titles) -> TestCase {
    let mut junit = TestCase::new(one_line(&case.id), status(case, cause, titles));
    // Build servers split class names at dots: `edgeproof.section-7-3` is one class in one package.
    junit.set_classname(format!("edgeproof.section-{}", one_line(&case.section).replace('.', "-")));
    junit.set_time(Duration::from_micros(case.duration_us));
    match case.outcome {
        Outcome::Warn => {
            junit.set_system_out(format!(
                "warning: {}\n\n{}",
                one_line(&case.because),
                text(case, cause, titles)
            ));
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

/// The cause, then the case in full.
fn text(case: &CaseReport, cause: Option<&CauseGroup<'_>>, titles: &Titles) -> String {
    let mut lines = cause.map(cause::short).unwrap_or_default();
    lines.extend(full(case, titles, WIDTH));
    paint_all(&lines, false)
}

fn status(case: &CaseReport, cause: Option<&CauseGroup<'_>>, titles: &Titles) -> TestCaseStatus {
    let mut status = match case.outcome {
        Outcome::Pass | Outcome::Warn | Outcome::Observed => return TestCaseStatus::success(),
        Outcome::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::NotRun => TestCaseStatus::non_success(NonSuccessKind::Error),
        Outcome::Known | Outcome::NotApplicable => TestCaseStatus::skipped(),
    };
    match cause {
        Some(group) => {
            status.set_message(one_line(&format!("{}: {}", group.cause.title, case.because)).into_owned())
        }
        None => status.set_message(one_line(&case.because)),
    };
    match case.outcome {
        Outcome::Fail | Outcome::NotRun => {
            let authority = format!("{}/{}", case.worst_level().name(), case.basis.name());
            status.set_type(cause.map_or(authority, |group| one_line(&group.cause.id).into_owned()));
            status.set_description(text(case, cause, titles));
        }
        _ => {
            status.set_type(case.outcome.name());
        }
    }
    status
}
