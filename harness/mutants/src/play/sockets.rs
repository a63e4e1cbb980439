use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{Case, Prerequisite};
use edgeproof::run::{
    ConformanceResult, ConformanceRun, EdgePoolOptions, EdgeUpstream, RunOptions, Selection, ServiceLocation,
    ServicePart, ServiceRunner, ServiceRunnerOptions,
};
use edgeproof_reports::CaseReport;
use edgeproof_targets::{Embedded, FaultInjection, Target};
use futures_util::future::try_join_all;

use super::test_bed::{TestBed, TestBedError};
use crate::tested_part::TestedPart;

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

type OptionalInjection = Option<Arc<dyn FaultInjection>>;

impl TestBed {
    /// Runs cases of one part against the embedded edge or mock service, with these faults. Edge cases that need HTTPS
    /// get an edge that serves it.
    pub async fn play(
        &self,
        part: TestedPart,
        cases: &[Case],
        faults: OptionalInjection,
    ) -> Result<SocketResult, TestBedError> {
        self.play_all(part, cases, faults, true).await
    }

    /// Like [`Self::play`], also where the sanity probe says that a run proves nothing.
    pub async fn play_without_probe(
        &self,
        part: TestedPart,
        cases: &[Case],
        faults: OptionalInjection,
    ) -> Result<SocketResult, TestBedError> {
        self.play_all(part, cases, faults, false).await
    }

    async fn play_all(
        &self,
        part: TestedPart,
        cases: &[Case],
        faults: OptionalInjection,
        probes_sanity: bool,
    ) -> Result<SocketResult, TestBedError> {
        let (https, http): (Vec<Case>, Vec<Case>) =
            cases.iter().cloned().partition(|case| case.prerequisites.contains(&Prerequisite::Https));
        let mut runs = Vec::new();
        for (cases, https) in [(http, false), (https, true)] {
            if cases.is_empty() {
                continue;
            }
            let faults = faults.clone();
            let run = match part {
                TestedPart::Edge => self.edges(cases, faults, https)?,
                TestedPart::Service => self.service(cases, faults, ServicePart::Service)?,
                TestedPart::Keys => self.service(cases, faults, ServicePart::Keys)?,
            };
            runs.push(execute(run, probes_sanity));
        }
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

    fn edges(
        &self,
        cases: Vec<Case>,
        faults: OptionalInjection,
        https: bool,
    ) -> Result<ConformanceRun, TestBedError> {
        let files = self.files.clone();
        let mut embedded = Embedded::new(Arc::clone(&self.spec), self.spec.profile().clone());
        if https {
            embedded = embedded.https(&self.credentials, &files);
        }
        if let Some(faults) = faults {
            embedded = embedded.with_faults(faults);
        }
        let options = EdgePoolOptions {
            spec: Arc::clone(&self.spec),
            profile: self.spec.profile().clone(),
            reply_shape: self.shape.clone(),
            credentials: Arc::clone(&self.credentials),
            files,
            target: Target::Embedded(Box::new(embedded)),
            upstream: EdgeUpstream::MockPerEdge,
            redactor: Arc::clone(&self.redactor),
            max_exclusive: 4,
            observer: None,
        };
        Ok(ConformanceRun::of_edges(cases, &Selection::default(), options)?)
    }

    fn service(
        &self,
        cases: Vec<Case>,
        faults: OptionalInjection,
        part: ServicePart,
    ) -> Result<ConformanceRun, TestBedError> {
        let options = ServiceRunnerOptions {
            spec: Arc::clone(&self.spec),
            profile: self.spec.profile().clone(),
            part,
            location: ServiceLocation::Mock(Arc::clone(&self.credentials), self.files.clone()),
            inputs: ServiceRunnerOptions::mock_inputs(&self.credentials),
            waits: true,
            redactor: Arc::clone(&self.redactor),
        };
        let mut runner = ServiceRunner::new(options);
        if let Some(faults) = faults {
            runner = runner.with_faults(faults);
        }
        Ok(ConformanceRun::of_service(cases, &Selection::default(), runner)?)
    }
}

async fn execute(run: ConformanceRun, probes_sanity: bool) -> Result<ConformanceResult, TestBedError> {
    let options =
        RunOptions { jobs: JOBS, case_timeout: CASE_TIMEOUT, probes_sanity, ..RunOptions::default() };
    Ok(ConformanceRun { options, ..run }.execute().await?)
}
