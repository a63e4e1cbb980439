use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{Case, Prerequisite};
use edgeproof::run::{
    Capabilities, EdgePool, EdgePoolOptions, EdgeUpstream, Pins, Plan, RunOptions, RunPolicy, Runner,
    Selection, ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerOptions, Tally, run,
};
use edgeproof::target::{Embedded, FaultInjection, Target};
use edgeproof_fixtures::credentials::CredentialFiles;
use edgeproof_reports::{CaseReport, Event};

use super::test_bed::{TestBed, TestBedError};
use crate::part::Part;

/// Twice the longest timeout for an answer, so that a slow answer on a busy machine is still in time. Only mutants that
/// never answer take so long.
const CASE_TIMEOUT: Duration = Duration::from_secs(8);
/// Concurrent cases of one run.
const JOBS: usize = 8;

/// Result of a run over sockets.
#[derive(Debug, Default)]
pub struct RunResult {
    /// Report of each case.
    pub reports: Vec<CaseReport>,
    /// Findings about the whole run.
    pub findings: Vec<String>,
    /// Exit code of the run.
    pub exit_code: u8,
}

type Faults = Option<Arc<dyn FaultInjection>>;

impl TestBed {
    /// Runs cases of one part against the embedded edge or mock service, with these faults. Edge cases that need HTTPS
    /// get an edge that serves it.
    pub async fn play(&self, part: Part, cases: &[Case], faults: Faults) -> Result<RunResult, TestBedError> {
        self.play_all(part, cases, faults, true).await
    }

    /// Like [`Self::play`], also where the sanity probe says that a run proves nothing.
    pub(crate) async fn play_without_probe(
        &self,
        part: Part,
        cases: &[Case],
        faults: Faults,
    ) -> Result<RunResult, TestBedError> {
        self.play_all(part, cases, faults, false).await
    }

    async fn play_all(
        &self,
        part: Part,
        cases: &[Case],
        faults: Faults,
        probes_sanity: bool,
    ) -> Result<RunResult, TestBedError> {
        let mut result = RunResult::default();
        let (https, http): (Vec<Case>, Vec<Case>) =
            cases.iter().cloned().partition(|case| case.prerequisites.contains(&Prerequisite::Https));
        for (cases, https) in [(http, false), (https, true)] {
            if cases.is_empty() {
                continue;
            }
            let service_part = match part {
                Part::Edge => {
                    let (plan, pool) = self.edges(cases, faults.clone(), https).await?;
                    // Dropping the pool ends its edges at once.
                    run_all(&plan, pool, probes_sanity, &mut result).await;
                    continue;
                }
                Part::Service => ServicePart::Service,
                Part::Keys => ServicePart::Keys,
            };
            let (plan, runner) = self.service(cases, faults.clone(), service_part)?;
            run_all(&plan, runner, probes_sanity, &mut result).await;
        }
        Ok(result)
    }

    async fn edges(
        &self,
        cases: Vec<Case>,
        faults: Faults,
        https: bool,
    ) -> Result<(Plan, EdgePool), TestBedError> {
        let files = CredentialFiles::write(&self.credentials)?;
        let mut embedded = Embedded::new(Arc::clone(&self.spec), self.spec.profile().clone());
        if https {
            embedded = embedded.https(&self.credentials, &files);
        }
        if let Some(faults) = faults {
            embedded = embedded.with_faults(faults);
        }
        let capabilities = Capabilities {
            starts_edges: true,
            service: true,
            origin: true,
            log: true,
            https,
            loopback_clients: cfg!(target_os = "linux"),
        };
        let plan = Plan::new(cases, &Selection::default(), &capabilities)?;
        let options = EdgePoolOptions {
            spec: Arc::clone(&self.spec),
            profile: self.spec.profile().clone(),
            shape: self.shape.clone(),
            credentials: Arc::clone(&self.credentials),
            files,
            target: Target::Embedded(Box::new(embedded)),
            behind: EdgeUpstream::Each,
            redactor: Arc::clone(&self.redactor),
            spare: 4,
        };
        Ok((plan, EdgePool::new(options).await?))
    }

    fn service(
        &self,
        cases: Vec<Case>,
        faults: Faults,
        part: ServicePart,
    ) -> Result<(Plan, ServiceRunner), TestBedError> {
        let files = CredentialFiles::write(&self.credentials)?;
        let options = ServiceRunnerOptions {
            spec: Arc::clone(&self.spec),
            profile: self.spec.profile().clone(),
            part,
            location: ServiceLocation::Mock(Arc::clone(&self.credentials), files),
            inputs: ServiceRunnerOptions::mock_inputs(&self.credentials),
            waits: true,
            redactor: Arc::clone(&self.redactor),
        };
        let plan = Plan::new(cases, &Selection::default(), &options)?;
        let mut runner = ServiceRunner::new(options);
        if let Some(faults) = faults {
            runner = runner.with_faults(faults);
        }
        Ok((plan, runner))
    }
}

async fn run_all<R: Runner>(plan: &Plan, runner: R, probes_sanity: bool, result: &mut RunResult) {
    let options = Arc::new(RunOptions {
        jobs: JOBS,
        case_timeout: CASE_TIMEOUT,
        repeat: 1,
        shuffle: None,
        hold: None,
        pins: Pins::default(),
        probes_sanity,
        latency: false,
    });
    let policy = RunPolicy::default();
    let mut tally = Tally::new(plan);
    let mut on_event = |event| match event {
        Event::Ended(report) => result.reports.push(*report),
        Event::Finding(finding) => result.findings.push(finding),
        _ => {}
    };
    run(plan, &Arc::new(runner), &options, &policy, &mut tally, &mut on_event).await;
    let code = tally.finish(&policy, &mut on_event);
    result.exit_code = match (result.exit_code, code) {
        // As in one run, 1 goes before 3.
        (1, _) | (_, 1) => 1,
        (before, code) => before.max(code),
    };
}
