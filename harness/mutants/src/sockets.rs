//! Cases over sockets, on the embedded edge and the mock service.

use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{CredentialError, CredentialFiles, Credentials, MintOptions, Redactor};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_reports::{CaseReport, Event};

use super::pure::PureWorld;
use edgeproof::cases::{self, Case, Catalog, Need};
use edgeproof::run::{
    Capabilities, EdgePool, EdgePoolOptions, EdgeUpstream, LeaseError, Pins, Plan, PlanError, RunOptions,
    RunPolicy, Runner, Selection, ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerOptions, Tally,
    run,
};
use edgeproof::target::{Embedded, FaultInjection, Target};
use edgeproof_mock::ReplyShape;

/// Twice the longest wait for an answer: a service that takes a second is still waited for, also on a busy machine. Only
/// deviations that never answer take so long.
const CASE_TIMEOUT: Duration = Duration::from_secs(8);
/// Cases at the same time on one edge.
const JOBS: usize = 8;

/// All that cases are proven with; made once, since keys and certificates take time.
#[derive(Debug)]
pub struct World {
    /// For conversations without sockets.
    pub pure: PureWorld,
    redactor: Arc<Redactor>,
}

/// Which of the parts is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The edge.
    Edge,
    /// The verdict endpoint of the service.
    Service,
    /// The key set.
    Keys,
}

impl Side {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Edge, Self::Service, Self::Keys];
}

/// What a run over sockets came to.
#[derive(Debug, Default)]
pub struct Ran {
    /// Of each case.
    pub reports: Vec<CaseReport>,
    /// What was said about the whole run.
    pub findings: Vec<String>,
    /// How the program would have ended.
    pub exit_code: u8,
}

/// Why nothing can be proven about the cases.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// No credentials.
    #[error(transparent)]
    Mint(#[from] CredentialError),
    /// No folder for them.
    #[error("write credentials to a temporary folder")]
    Files(#[from] std::io::Error),
    /// No mock service.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// No cases.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl World {
    /// Everything for the current interface.
    pub fn new(spec: Arc<Spec>) -> Result<Self, WorldError> {
        let credentials = Arc::new(Credentials::mint(&MintOptions::default())?);
        let files = CredentialFiles::write(&credentials)?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let shape = ReplyShape::from_profile(spec.profile());
        Ok(Self { pure: PureWorld { spec, shape, credentials, files }, redactor })
    }

    /// The same for the built-in tables.
    pub fn builtin() -> Result<Self, WorldError> {
        Self::new(Arc::new(Spec::builtin(Version::Current)))
    }

    /// Every case for one side.
    pub fn cases(&self, side: Side) -> Vec<Case> {
        let catalog = Catalog::new(&self.pure.spec, &self.pure.shape, false);
        match side {
            Side::Edge => cases::edge(catalog),
            Side::Service => cases::service(catalog),
            Side::Keys => cases::keys(catalog),
        }
    }

    /// Plays cases of one side on what is embedded, with a deviation or with none. Those of an edge that need HTTPS are
    /// played on one that serves it.
    pub async fn play(
        &self,
        side: Side,
        cases: &[Case],
        faults: Option<&Arc<dyn FaultInjection>>,
    ) -> Result<Ran, WorldError> {
        self.play_all(side, cases, faults, true).await
    }

    /// The same, also where a run would say that nothing can be proven.
    pub(super) async fn play_in_spite(
        &self,
        side: Side,
        cases: &[Case],
        faults: &Arc<dyn FaultInjection>,
    ) -> Result<Ran, WorldError> {
        self.play_all(side, cases, Some(faults), false).await
    }

    async fn play_all(
        &self,
        side: Side,
        cases: &[Case],
        faults: Option<&Arc<dyn FaultInjection>>,
        probes_sanity: bool,
    ) -> Result<Ran, WorldError> {
        let mut ran = Ran::default();
        let (https, http): (Vec<Case>, Vec<Case>) =
            cases.iter().cloned().partition(|case| case.needs.contains(&Need::Https));
        for (cases, https) in [(http, false), (https, true)] {
            if cases.is_empty() {
                continue;
            }
            match side {
                Side::Edge => self.at_edges(cases, faults, https, probes_sanity, &mut ran).await?,
                Side::Service => {
                    self.at_desk(ServicePart::Service, cases, faults, probes_sanity, &mut ran).await?
                }
                Side::Keys => self.at_desk(ServicePart::Keys, cases, faults, probes_sanity, &mut ran).await?,
            }
        }
        Ok(ran)
    }

    async fn at_edges(
        &self,
        cases: Vec<Case>,
        faults: Option<&Arc<dyn FaultInjection>>,
        https: bool,
        probes_sanity: bool,
        ran: &mut Ran,
    ) -> Result<(), WorldError> {
        let PureWorld { spec, shape, credentials, .. } = &self.pure;
        let files = CredentialFiles::write(credentials)?;
        let mut embedded = Embedded::new(Arc::clone(spec), spec.profile().clone());
        if https {
            embedded = embedded.https(credentials, &files);
        }
        if let Some(faults) = faults {
            embedded = embedded.with_faults(Arc::clone(faults));
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
            spec: Arc::clone(spec),
            profile: spec.profile().clone(),
            shape: shape.clone(),
            credentials: Arc::clone(credentials),
            files,
            target: Target::Embedded(Box::new(embedded)),
            behind: EdgeUpstream::Each,
            redactor: Arc::clone(&self.redactor),
            spare: 4,
        };
        // Its edges hold nothing that is worth waiting for: dropped, they end at once.
        run_all(&plan, EdgePool::new(options).await?, probes_sanity, ran).await;
        Ok(())
    }

    async fn at_desk(
        &self,
        part: ServicePart,
        cases: Vec<Case>,
        faults: Option<&Arc<dyn FaultInjection>>,
        probes_sanity: bool,
        ran: &mut Ran,
    ) -> Result<(), WorldError> {
        let PureWorld { spec, credentials, .. } = &self.pure;
        let options = ServiceRunnerOptions {
            spec: Arc::clone(spec),
            profile: spec.profile().clone(),
            part,
            location: ServiceLocation::Mock(Arc::clone(credentials), CredentialFiles::write(credentials)?),
            inputs: ServiceRunnerOptions::mock_inputs(credentials),
            waits: true,
            redactor: Arc::clone(&self.redactor),
        };
        let plan = Plan::new(cases, &Selection::default(), &options)?;
        let mut runner = ServiceRunner::new(options);
        if let Some(faults) = faults {
            runner = runner.with_faults(Arc::clone(faults));
        }
        run_all(&plan, runner, probes_sanity, ran).await;
        Ok(())
    }
}

async fn run_all<A: Runner>(plan: &Plan, runner: A, probes_sanity: bool, ran: &mut Ran) {
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
    let verdict = RunPolicy::default();
    let mut tally = Tally::new(plan);
    let mut tell = |event| match event {
        Event::Ended(report) => ran.reports.push(*report),
        Event::Finding(finding) => ran.findings.push(finding),
        _ => {}
    };
    run(plan, &Arc::new(runner), &options, &verdict, &mut tally, &mut tell).await;
    let code = tally.finish(&verdict, &mut tell);
    ran.exit_code = match (ran.exit_code, code) {
        // As in one run, 1 goes before 3.
        (1, _) | (_, 1) => 1,
        (before, code) => before.max(code),
    };
}
