use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::phrases;
use crate::load::model::{LoadReport, LoadState};
use crate::text::escape::{one_line, visible};

/// JUnit XML: a test case for each threshold, one for the validity of the run, one for its counts.
pub(super) fn render(report: &LoadReport) -> String {
    let mut document = Report::new("edgeproof-load");
    let time = Duration::from_millis(report.duration_ms);
    document.set_time(time);
    document.timestamp = report.started.parse().ok();
    let mut suite = TestSuite::new(one_line(&report.scenario));
    suite.set_time(time);
    suite.add_properties([
        ("target", one_line(&phrases::target(report)).as_ref()),
        ("plan", one_line(&phrases::plan(report)).as_ref()),
        ("seed", &report.plan.seed.to_string()),
    ]);
    suite.add_test_case(run_case("the run is complete and the generator kept up", validity(report)));
    suite.add_test_case(run_case("every operation is accounted for", accounting(report)));
    for threshold in &report.thresholds {
        let name = match &threshold.route {
            Some(route) => format!("{route} {}", threshold.rule),
            None => threshold.rule.clone(),
        };
        let result = phrases::threshold(threshold);
        let status = match threshold.holds {
            // A single shard does not judge its thresholds.
            _ if report.as_shard().is_some() => TestCaseStatus::skipped(),
            true => TestCaseStatus::success(),
            false => failed(NonSuccessKind::Failure, &result),
        };
        let mut case = TestCase::new(one_line(&name), status);
        case.set_classname("edgeproof.load.threshold");
        case.set_system_out(visible(&result));
        suite.add_test_case(case);
    }
    document.add_test_suite(suite);
    document.to_string().expect("quick-junit keeps valid XML text, and memory takes every byte")
}

fn run_case(name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname("edgeproof.load.run");
    case
}

fn validity(report: &LoadReport) -> TestCaseStatus {
    match report.state {
        LoadState::Complete => TestCaseStatus::success(),
        LoadState::Unchecked => TestCaseStatus::skipped(),
        LoadState::Partial | LoadState::Invalid => failed(NonSuccessKind::Error, &report.findings.join("; ")),
    }
}

fn accounting(report: &LoadReport) -> TestCaseStatus {
    let problem = match report.reconciled.iter().find(|counted| !counted.agrees) {
        Some(counted) => phrases::reconciled(counted),
        None if report.ledger.balances() => return TestCaseStatus::success(),
        None => "scheduled differs from answered + failed + dropped + open".to_owned(),
    };
    failed(NonSuccessKind::Failure, &problem)
}

fn failed(kind: NonSuccessKind, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(one_line(message));
    status
}
