//! Cases over sockets, on the embedded edge and the mock service.

use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{CredentialError, CredentialFiles, Credentials, MintOptions, Redactor};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_reports::CaseReport;

use super::Twisted;
use super::pure::PureWorld;
use edgeproof::cases::{self, Case, Catalog, Prerequisite};
use edgeproof::run::{
    ConformanceRun, EdgePoolOptions, EdgeUpstream, LeaseError, RunOptions, Selection, SelectionError,
    ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerOptions,
};
use edgeproof::target::{Embedded, Target};
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
    Plan(#[from] SelectionError),
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
        twisted: Option<&Twisted>,
    ) -> Result<Ran, WorldError> {
        self.play_all(side, cases, twisted, true).await
    }

    /// The same, also where a run would say that nothing can be proven.
    pub(super) async fn play_in_spite(
        &self,
        side: Side,
        cases: &[Case],
        twisted: &Twisted,
    ) -> Result<Ran, WorldError> {
        self.play_all(side, cases, Some(twisted), false).await
    }

    async fn play_all(
        &self,
        side: Side,
        cases: &[Case],
        twisted: Option<&Twisted>,
        probes_sanity: bool,
    ) -> Result<Ran, WorldError> {
        let mut ran = Ran::default();
        let (https, http): (Vec<Case>, Vec<Case>) =
            cases.iter().cloned().partition(|case| case.prerequisites.contains(&Prerequisite::Https));
        for (cases, https) in [(http, false), (https, true)] {
            if cases.is_empty() {
                continue;
            }
            match side {
                Side::Edge => self.at_edges(cases, twisted, https, probes_sanity, &mut ran).await?,
                Side::Service => {
                    self.at_desk(ServicePart::Service, cases, twisted, probes_sanity, &mut ran).await?;
                }
                Side::Keys => {
                    self.at_desk(ServicePart::Keys, cases, twisted, probes_sanity, &mut ran).await?;
                }
            }
        }
        Ok(ran)
    }

    async fn at_edges(
        &self,
        cases: Vec<Case>,
        twisted: Option<&Twisted>,
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
        if let Some(Twisted::Edges(twist)) = twisted {
            embedded = embedded.twisted(twist.clone());
        }
        let options = EdgePoolOptions {
            spec: Arc::clone(spec),
            profile: spec.profile().clone(),
            reply_shape: shape.clone(),
            credentials: Arc::clone(credentials),
            files,
            target: Target::Embedded(Box::new(embedded)),
            upstream: EdgeUpstream::MockPerEdge,
            redactor: Arc::clone(&self.redactor),
            max_exclusive: 4,
        };
        run_all(ConformanceRun::of_edges(cases, &Selection::default(), options)?, probes_sanity, ran).await
    }

    async fn at_desk(
        &self,
        part: ServicePart,
        cases: Vec<Case>,
        twisted: Option<&Twisted>,
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
        let mut runner = ServiceRunner::new(options);
        if let Some(Twisted::Services(twist)) = twisted {
            runner = runner.twisted(twist.clone());
        }
        run_all(ConformanceRun::of_service(cases, &Selection::default(), runner)?, probes_sanity, ran).await
    }
}

async fn run_all(run: ConformanceRun, probes_sanity: bool, ran: &mut Ran) -> Result<(), WorldError> {
    let options =
        RunOptions { jobs: JOBS, case_timeout: CASE_TIMEOUT, probes_sanity, ..RunOptions::default() };
    let result = ConformanceRun { options, ..run }.execute().await?;
    ran.reports.extend(result.cases);
    ran.findings.extend(result.findings);
    ran.exit_code = match (ran.exit_code, result.exit_code) {
        // As in one run, 1 goes before 3.
        (1, _) | (_, 1) => 1,
        (before, code) => before.max(code),
    };
    Ok(())
}
