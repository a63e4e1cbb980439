use std::fs;
use std::path::Path;
use std::process::Output;

use edgeproof_reports::{CaseReport, Outcome, Report};
use tempfile::TempDir;

use crate::limited;
use crate::tested_program;

/// A temporary working folder for the program.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `edgeproof` with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let mut command = tested_program::edgeproof();
        command.args(args).current_dir(self.path()).env_remove("GITHUB_STEP_SUMMARY");
        limited::output(&mut command)
    }

    /// Runs `edgeproof conformance`. Yields its report, which holds the same exit code.
    pub(crate) fn conform(&self, args: &[&str]) -> Report {
        let output = self.run(&[&["conformance", "--report", "json=r.json"], args].concat());
        let report =
            fs::read(self.path().join("r.json")).map(|_| Report::load(&self.path().join("r.json")).unwrap());
        let Ok(report) = report else { panic!("no report: {output:?}") };
        assert_eq!(output.status.code(), Some(i32::from(report.exit_code)), "{output:?}");
        assert_eq!(report.summary.planned, report.cases.len());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        report
    }
}

/// Ids of the cases with these outcomes.
pub(crate) fn ids(report: &Report, outcomes: &[Outcome]) -> Vec<String> {
    let cases = report.cases.iter().filter(|case| outcomes.contains(&case.outcome));
    cases.map(|case| case.id.clone()).collect()
}

pub(crate) fn case<'r>(report: &'r Report, id: &str) -> &'r CaseReport {
    report.cases.iter().find(|case| case.id == id).unwrap()
}

/// Findings and cases that did not pass.
pub(crate) fn problems(report: &Report) -> Vec<String> {
    let wrong = |case: &&CaseReport| {
        !matches!(case.outcome, Outcome::Pass | Outcome::Observed | Outcome::NotApplicable)
    };
    let cases = report.cases.iter().filter(wrong);
    let log = |case: &CaseReport| case.edge.as_ref().map_or(String::new(), |edge| format!("{:?}", edge.log));
    let cases =
        cases.map(|case| format!("{} {}: {} {}", case.outcome.name(), case.id, case.because, log(case)));
    report.findings.iter().cloned().chain(cases).collect()
}
