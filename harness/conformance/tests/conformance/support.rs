use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use edgeproof_reports::{CaseReport, Outcome, Report};
use tempfile::TempDir;

/// A folder to run in, and the program in it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// `edgeproof` with these words.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null()).env_remove("GITHUB_STEP_SUMMARY");
        command.output().unwrap()
    }

    /// `edgeproof conformance` with these words; its report, which says the same as the exit code.
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

/// Cases of these outcomes, by id.
pub(crate) fn ids(report: &Report, outcomes: &[Outcome]) -> Vec<String> {
    let cases = report.cases.iter().filter(|case| outcomes.contains(&case.outcome));
    cases.map(|case| case.id.clone()).collect()
}

pub(crate) fn case<'r>(report: &'r Report, id: &str) -> &'r CaseReport {
    report.cases.iter().find(|case| case.id == id).unwrap()
}

/// What stands in the way, where a run should have been clean.
pub(crate) fn amiss(report: &Report) -> Vec<String> {
    let wrong = |case: &&CaseReport| {
        !matches!(case.outcome, Outcome::Pass | Outcome::Observed | Outcome::NotApplicable)
    };
    let cases = report.cases.iter().filter(wrong);
    let log = |case: &CaseReport| case.edge.as_ref().map_or(String::new(), |edge| format!("{:?}", edge.log));
    let cases =
        cases.map(|case| format!("{} {}: {} {}", case.outcome.name(), case.id, case.because, log(case)));
    report.findings.iter().cloned().chain(cases).collect()
}
