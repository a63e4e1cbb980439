use std::io;
use std::sync::Arc;

use edgeproof_browser::IS_BUILT_IN;
use edgeproof_fixtures::credentials::{CredentialError, CredentialFiles, Credentials, MintOptions, Redactor};
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{CaseReport, Outcome};
use edgeproof_targets::{Embedded, FaultInjection, Target};

use crate::cases::{self, Case, CaseFacts, Catalog, Collector, EdgeNeed, Part};
use crate::collector::{CollectorModule, EdgeCredentials, SharedBrowser};
use crate::run::{
    CollectorRunner, CollectorRunnerOptions, ConformanceRun, EdgePool, EdgePoolOptions, LeaseError,
    RunOptions, Selection, SelectionError, ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerOptions,
};

/// Why a reference part cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// Credentials cannot be minted.
    #[error(transparent)]
    Mint(#[from] CredentialError),
    /// Credentials cannot be written.
    #[error("cannot write the credentials to a temporary folder: {0}")]
    Files(#[from] io::Error),
    /// A part cannot start.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// No case could run at the edge that was given.
    #[error("cannot try the edge: {0}")]
    Target(String),
    /// The run has no case, which an earlier check excludes.
    #[error(transparent)]
    Selection(#[from] SelectionError),
}

/// Plays reference parts of one version against cases of another.
pub(super) struct PartPlay {
    credentials: Arc<Credentials>,
    files: CredentialFiles,
    redactor: Arc<Redactor>,
    browser: Arc<SharedBrowser>,
    faults: Option<Arc<dyn FaultInjection>>,
}

impl PartPlay {
    /// Mints the credentials of all plays. `faults`: of the played parts.
    pub(super) fn new(faults: Option<Arc<dyn FaultInjection>>) -> Result<Self, PlayError> {
        let mut mint = MintOptions::default();
        mint.service_hosts.extend(CollectorRunnerOptions::HOSTS.map(str::to_owned));
        let credentials = Arc::new(Credentials::mint(&mint)?);
        let files = CredentialFiles::write(&credentials)?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let browser = Arc::new(CollectorRunnerOptions::browser(&credentials, None));
        Ok(Self { credentials, files, redactor, browser, faults })
    }

    /// Why no reference part can be played. None: one can.
    pub(super) async fn unplayable(&self, part: PartName) -> Option<String> {
        if part.name() != Collector::NAME {
            return None;
        }
        if !IS_BUILT_IN {
            return Some(
                "a collector is played in a browser: build edgeproof with the feature `collector`".to_owned(),
            );
        }
        self.browser.start().await.err().map(|why| format!("a collector is played in a browser: {why}"))
    }

    /// Ends the browser, if one was needed.
    pub(super) async fn end(&self) {
        self.browser.close().await;
    }

    /// Plays the cases of `asks` that prove `row` at a part that follows `answers`. Empty: there is no such case.
    pub(super) async fn play(
        &self,
        part: PartName,
        asks: &Arc<Spec>,
        answers: &Arc<Spec>,
        row: &str,
    ) -> Result<Vec<CaseReport>, PlayError> {
        let shape = ReplyShape::from_profile(asks.profile());
        let catalog = Catalog::new(asks, &shape, false);
        let mut reports = Vec::new();
        let of_row = proving(part, row, || cases::edge(catalog));
        let (https, http): (Vec<_>, Vec<_>) =
            of_row.into_iter().partition(|case| case.needs.contains(&EdgeNeed::Https));
        for (cases, https) in [(http, false), (https, true)] {
            if !cases.is_empty() {
                reports.extend(execute(self.edge(cases, asks, answers, https)?).await?);
            }
        }
        let of_row = proving(part, row, || cases::service(catalog));
        reports.extend(self.service(of_row, asks, answers).await?);
        let of_row = proving(part, row, || cases::keys(catalog));
        reports.extend(self.service(of_row, asks, answers).await?);
        let of_row = proving(part, row, || cases::collector(catalog));
        if !of_row.is_empty() {
            let cases = cases::with_session(of_row, &cases::collector(catalog));
            let played = self.collector(cases, asks, answers).await?;
            // The session is not the row's.
            reports.extend(played.into_iter().filter(|case| case.rows.iter().any(|id| id == row)));
        }
        Ok(reports)
    }

    /// Plays the cases of `asks` that prove one of these rows at an edge.
    pub(super) async fn play_target(
        &self,
        asks: &Arc<Spec>,
        target: &Target,
        rows: &[String],
    ) -> Result<Vec<CaseReport>, PlayError> {
        let shape = ReplyShape::from_profile(asks.profile());
        let mut of_rows = cases::edge(Catalog::new(asks, &shape, false));
        of_rows.retain(|case| rows.iter().any(|row| proves(case, row)));
        if of_rows.is_empty() {
            return Ok(Vec::new());
        }
        let credentials = Arc::clone(&self.credentials);
        let target = match target.clone() {
            Target::Launched(launch) => Target::Launched(launch.of_version(asks)),
            other => other,
        };
        let options = EdgePoolOptions::new(Arc::clone(asks), target, credentials, self.files.clone());
        let run = ConformanceRun::new(of_rows, &Selection::default(), EdgePool::new(options))?;
        let cases = run.execute().await?.cases;
        let not_run = cases.iter().find(|case| case.outcome == Outcome::NotRun);
        match not_run.filter(|_| cases.iter().all(|case| case.outcome == Outcome::NotRun)) {
            Some(case) => Err(PlayError::Target(case.because.clone())),
            None => Ok(cases),
        }
    }

    fn edge(
        &self,
        cases: Vec<Case<cases::Edge>>,
        asks: &Arc<Spec>,
        answers: &Arc<Spec>,
        https: bool,
    ) -> Result<ConformanceRun, PlayError> {
        let mut embedded = Embedded::new(Arc::clone(answers), answers.profile().clone());
        if https {
            embedded = embedded.https(&self.credentials, &self.files);
        }
        if let Some(faults) = &self.faults {
            embedded = embedded.with_faults(Arc::clone(faults));
        }
        let target = Target::Embedded(Box::new(embedded));
        let credentials = Arc::clone(&self.credentials);
        let options = EdgePoolOptions::new(Arc::clone(asks), target, credentials, self.files.clone());
        Ok(ConformanceRun::new(cases, &Selection::default(), EdgePool::new(options))?)
    }

    async fn service<P: ServicePart>(
        &self,
        cases: Vec<Case<P>>,
        asks: &Arc<Spec>,
        answers: &Arc<Spec>,
    ) -> Result<Vec<CaseReport>, PlayError> {
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let options = ServiceRunnerOptions {
            spec: Arc::clone(asks),
            mock_spec: Some(Arc::clone(answers)),
            profile: answers.profile().clone(),
            location: ServiceLocation::Mock(Arc::clone(&self.credentials), self.files.clone()),
            inputs: ServiceRunnerOptions::mock_inputs(&self.credentials),
            waits: false,
            redactor: Arc::clone(&self.redactor),
        };
        let mut runner = ServiceRunner::<P>::new(options);
        if let Some(faults) = &self.faults {
            runner = runner.with_faults(Arc::clone(faults));
        }
        execute(ConformanceRun::new(cases, &Selection::default(), runner)?).await
    }

    async fn collector(
        &self,
        cases: Vec<Case<Collector>>,
        asks: &Arc<Spec>,
        answers: &Arc<Spec>,
    ) -> Result<Vec<CaseReport>, PlayError> {
        let edges = EdgeCredentials {
            spec: Arc::clone(asks),
            profile: asks.profile().clone(),
            credentials: Arc::clone(&self.credentials),
            files: self.files.clone(),
        };
        let runner = CollectorRunner::new(CollectorRunnerOptions {
            module: CollectorModule::reference(answers),
            name: CollectorRunnerOptions::MAKER.to_owned(),
            browser: Arc::clone(&self.browser),
            edges: Arc::new(edges),
            seal: None,
            opener: None,
            redactor: Arc::clone(&self.redactor),
        });
        execute(ConformanceRun::new(cases, &Selection::default(), runner)?).await
    }
}

async fn execute(run: ConformanceRun) -> Result<Vec<CaseReport>, PlayError> {
    // A part of another version may fail the sanity check, and its cases say more.
    let options = RunOptions { probes_sanity: false, ..RunOptions::default() };
    Ok(ConformanceRun { options, ..run }.execute().await?.cases)
}

/// The cases that prove a row, if they are those of the part.
fn proving<P: Part>(part: PartName, row: &str, cases: impl FnOnce() -> Vec<Case<P>>) -> Vec<Case<P>> {
    if part.name() != P::NAME {
        return Vec::new();
    }
    cases().into_iter().filter(|case| proves(case, row)).collect()
}

/// Whether a case proves a row.
pub(super) fn proves(case: &CaseFacts, row: &str) -> bool {
    case.rows.iter().any(|id| id == row)
}
