use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::{LoadReport, LoadState, text};
use crate::escape::{one_line, visible};

/// A threshold is a test case; that the run is sound, and that everything is accounted for, are two more.
pub(super) fn render(report: &LoadReport) -> Result<String, SerializeError> {
    let mut document = Report::new("edgeproof-load");
    let time = Duration::from_millis(report.duration_ms);
    document.set_time(time);
    document.timestamp = report.started.parse().ok();
    let mut suite = TestSuite::new(one_line(&report.scenario));
    suite.set_time(time);
    suite.add_properties([
        ("target", one_line(&text::target(report)).as_ref()),
        ("plan", one_line(&text::plan(report)).as_ref()),
        ("seed", &report.plan.seed.to_string()),
    ]);
    suite.add_test_case(sound(report));
    suite.add_test_case(accounted(report));
    for threshold in &report.thresholds {
        let name = match &threshold.route {
            Some(route) => format!("{route} {}", threshold.rule),
            None => threshold.rule.clone(),
        };
        let said = text::judged(threshold);
        let status =
            if threshold.holds { TestCaseStatus::success() } else { failed(NonSuccessKind::Failure, &said) };
        let mut case = TestCase::new(one_line(&name), status);
        case.set_classname("edgeproof.load.threshold");
        case.set_system_out(visible(&said));
        suite.add_test_case(case);
    }
    document.add_test_suite(suite);
    document.to_string()
}

fn sound(report: &LoadReport) -> TestCase {
    let status = match report.state {
        LoadState::Complete => TestCaseStatus::success(),
        LoadState::Unchecked => TestCaseStatus::skipped(),
        LoadState::Partial | LoadState::Invalid => failed(NonSuccessKind::Error, &report.findings.join("; ")),
    };
    let mut case = TestCase::new("the generator kept up and the run is whole", status);
    case.set_classname("edgeproof.load.run");
    case
}

fn accounted(report: &LoadReport) -> TestCase {
    let disagrees = report.reconciled.iter().find(|counted| !counted.agrees);
    let status = match disagrees {
        None if report.ledger.balances() => TestCaseStatus::success(),
        None => failed(NonSuccessKind::Failure, "scheduled is not answered + failed + dropped + open"),
        Some(counted) => {
            let said = format!("{}: {} sent, {} arrived", counted.route, counted.sent, counted.arrived);
            failed(NonSuccessKind::Failure, &said)
        }
    };
    let mut case = TestCase::new("everything is accounted for", status);
    case.set_classname("edgeproof.load.run");
    case
}

fn failed(kind: NonSuccessKind, said: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(one_line(said));
    status
}
