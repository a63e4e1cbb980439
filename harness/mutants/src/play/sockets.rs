use std::time::Duration;

use edgeproof::cases::CaseFacts;
use edgeproof::run::{ConformanceRun, RunOptions};
use edgeproof_fixtures::spec::PartName;
use edgeproof_reports::{CaseReport, Report};
use futures_util::future::try_join_all;

use super::part_cases::OptionalInjection;
use super::test_bed::{TestBed, TestBedError};

/// Twice the longest timeout for an answer, so that a slow answer on a busy machine is still in time. Only mutants that
/// never answer take so long.
const CASE_TIMEOUT: Duration = Duration::from_secs(8);
/// Concurrent cases of one run.
const JOBS: usize = 8;

/// Result of a run over sockets.
#[derive(Debug, Default)]
pub struct SocketResult {
    /// Report of each case.
    pub reports: Vec<CaseReport>,
    /// Findings about the whole run.
    pub findings: Vec<String>,
    /// Exit code of the run.
    pub exit_code: u8,
}

impl TestBed {
    /// Runs cases of one part against the embedded edge or mock service, with these faults. Cases that need
    /// another target, such as an edge with HTTPS, get it.
    pub async fn play(
        &self,
        part: PartName,
        cases: &[CaseFacts],
        faults: OptionalInjection,
    ) -> Result<SocketResult, TestBedError> {
        self.play_all(part, cases, faults, true).await
    }

    /// Like [`Self::play`], also where the sanity probe says that a run proves nothing.
    pub async fn play_without_probe(
        &self,
        part: PartName,
        cases: &[CaseFacts],
        faults: OptionalInjection,
    ) -> Result<SocketResult, TestBedError> {
        self.play_all(part, cases, faults, false).await
    }

    async fn play_all(
        &self,
        part: PartName,
        cases: &[CaseFacts],
        faults: OptionalInjection,
        probes_sanity: bool,
    ) -> Result<SocketResult, TestBedError> {
        let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let runs = self.part(part).runs(self, &ids, faults)?;
        let runs = runs.into_iter().map(|run| execute(run, probes_sanity));
        // At the same time: runs of mutants that never answer mostly wait.
        let mut result = SocketResult::default();
        for ended in try_join_all(runs).await? {
            result.reports.extend(ended.cases);
            result.findings.extend(ended.findings);
            result.exit_code = match (result.exit_code, ended.exit_code) {
                // As in one run, 1 goes before 3.
                (1, _) | (_, 1) => 1,
                (before, code) => before.max(code),
            };
        }
        Ok(result)
    }
}

async fn execute(run: ConformanceRun, probes_sanity: bool) -> Result<Report, TestBedError> {
    let options =
        RunOptions { jobs: JOBS, case_timeout: CASE_TIMEOUT, probes_sanity, ..RunOptions::default() };
    Ok(ConformanceRun { options, ..run }.execute().await?)
}
