use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, LicenseForm, ReadTokenForm, Redactor, Role, Secret,
};
use edgeproof_fixtures::spec::{CertificateRefusal, Profile, Spec};
use edgeproof_reports::{CaseReport, Outcome, TargetKind};
use rand::RngExt;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use url::Url;

use super::edge_sanity::SanityResult;
use super::outcome;
use super::plan::Applicability;
use super::play::{Player, next_marker};
use super::runner::Runner;
use crate::cases::{Case, Prerequisite, Procedure, ServiceCaseContext, ServiceInputs, ServiceTarget};
use crate::judge::Check;
use crate::target::{ALLOWED_ORIGIN, Embedded, FaultInjection, StartError};
use edgeproof_http::{ServerAddress, ServerAddressError};
use edgeproof_launch::BaseUrl;
use edgeproof_mock::{Listen, MockService, ServiceOptions};

/// Longest wait for the address of a name.
const RESOLVE_LIMIT: Duration = Duration::from_secs(10);

/// Where backends ask: a service or a key set that runs somewhere, or our mock, of which a case that changes its clock
/// or its keys gets one for itself.
pub struct ServiceRunner {
    options: ServiceRunnerOptions,
    faults: Option<Arc<dyn FaultInjection>>,
    run: String,
    shared: OnceCell<Arc<ServiceTarget>>,
}

/// What a runner is made from.
pub struct ServiceRunnerOptions {
    /// The interface.
    pub spec: Arc<Spec>,
    /// How the mock service behaves at open points.
    pub profile: Profile,
    /// What is proven.
    pub part: ServicePart,
    /// Where it is.
    pub location: ServiceLocation,
    /// What was given to ask it with.
    pub inputs: ServiceInputs,
    /// Real time may be taken.
    pub waits: bool,
    /// Knows all secrets of the run.
    pub redactor: Arc<Redactor>,
}

/// What is proven at a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServicePart {
    /// A service that gives verdicts.
    Service,
    /// A key set.
    Keys,
}

/// Where a service and a key set are.
#[derive(Debug)]
pub enum ServiceLocation {
    /// In this process: our mock, with these credentials and their files.
    Mock(Arc<Credentials>, CredentialFiles),
    /// Somewhere.
    At {
        /// The service.
        service: Option<BaseUrl>,
        /// The key set.
        keys: Option<BaseUrl>,
        /// File with the authorities that may have issued their certificates; without one, those of the system.
        ca: Option<PathBuf>,
    },
}

/// Why a case has nothing to ask.
#[derive(Debug, thiserror::Error)]
pub enum ServiceRunnerError {
    /// The mock service does not start.
    #[error("start the mock service: {0}")]
    Mock(#[from] io::Error),
    /// The edge before it does not start.
    #[error(transparent)]
    Edge(#[from] StartError),
    /// An address cannot be used.
    #[error(transparent)]
    ServerAddress(#[from] ServerAddressError),
    /// Looking a name up takes too long.
    #[error("resolve {0:?}: no answer within {RESOLVE_LIMIT:?}")]
    Slow(String),
}

impl ServiceRunner {
    /// A runner where nothing was asked yet.
    pub fn new(options: ServiceRunnerOptions) -> Self {
        let run = format!("{:08x}", rand::rng().random::<u32>());
        Self { options, faults: None, run, shared: OnceCell::new() }
    }

    /// The same runner with faults in each mock service.
    #[must_use]
    pub fn with_faults(self, faults: Arc<dyn FaultInjection>) -> Self {
        Self { faults: Some(faults), ..self }
    }

    /// What stands before a case.
    async fn target(&self, alone: bool) -> Result<Arc<ServiceTarget>, ServiceRunnerError> {
        if alone && matches!(self.options.location, ServiceLocation::Mock(..)) {
            return Ok(Arc::new(self.open().await?));
        }
        let shared = self.shared.get_or_try_init(|| async { self.open().await.map(Arc::new) }).await?;
        Ok(Arc::clone(shared))
    }

    async fn open(&self) -> Result<ServiceTarget, ServiceRunnerError> {
        let inputs = self.options.inputs.clone();
        match &self.options.location {
            ServiceLocation::Mock(credentials, files) => {
                let mut options =
                    ServiceOptions::new(Arc::clone(&self.options.spec), Arc::clone(credentials));
                options.profile = self.options.profile.clone();
                if let Some(faults) = &self.faults {
                    faults.service(&mut options);
                }
                // Who shows no certificate gets no TLS session there, and backends have none.
                if options.profile.certificate_refusal == CertificateRefusal::Handshake {
                    options.plain = Some(Listen::At((Ipv4Addr::LOCALHOST, 0).into()));
                }
                let mock = Arc::new(MockService::start_with(options).await?);
                let settings = files.settings(credentials, &mock.url(), ALLOWED_ORIGIN);
                let edge = Embedded::new(Arc::clone(&self.options.spec), self.options.profile.clone());
                let edge = edge.start(&settings).await?;
                let address = mock.plain_addr().map_or(mock.url(), |plain| format!("http://{plain}"));
                let url = Url::parse(&address).map_err(|_| ServerAddressError::NotHttp(address))?;
                let ca = files.certificate(Role::ServiceAuthority);
                let endpoint = ServerAddress::resolve(&url, Some(&ca)).await?;
                Ok(ServiceTarget {
                    service: Some(endpoint.clone()),
                    keys: Some(endpoint),
                    inputs,
                    mock: Some(mock),
                    credentials: Some(Arc::clone(credentials)),
                    edge: Some(edge),
                    run: self.run.clone(),
                })
            }
            ServiceLocation::At { service, keys, ca } => Ok(ServiceTarget {
                service: resolve(service.as_ref(), ca.as_ref()).await?,
                keys: resolve(keys.as_ref(), ca.as_ref()).await?,
                inputs,
                mock: None,
                credentials: None,
                edge: None,
                run: self.run.clone(),
            }),
        }
    }

    fn report(&self, case: &Case, found: &crate::cases::CaseFindings, began: Instant) -> CaseReport {
        outcome::report(case, found, began.elapsed(), None, &self.options.redactor)
    }
}

async fn resolve(
    url: Option<&BaseUrl>,
    ca: Option<&PathBuf>,
) -> Result<Option<ServerAddress>, ServiceRunnerError> {
    let Some(url) = url.map(BaseUrl::as_url) else { return Ok(None) };
    let resolved = timeout(RESOLVE_LIMIT, ServerAddress::resolve(url, ca.map(PathBuf::as_path))).await;
    Ok(Some(resolved.map_err(|_| ServiceRunnerError::Slow(url.to_string()))??))
}

impl Runner for ServiceRunner {
    async fn sanity(player: &Player<Self>) -> SanityResult {
        let runner = &player.runner;
        let target = match runner.target(false).await {
            Ok(target) => target,
            Err(why) => {
                return SanityResult::Unusable(format!("failed to {}", edgeproof_cli::error_text(&why)));
            }
        };
        let mut backend = ServiceCaseContext::new(
            target,
            next_marker(),
            edgeproof_reports::CaseLevel::Must,
            player.limit(),
        );
        let sanity = match runner.options.part {
            ServicePart::Service => super::service_sanity::of_service(&mut backend).await,
            ServicePart::Keys => super::service_sanity::of_keys(&mut backend).await,
        };
        match sanity {
            SanityResult::Unusable(why) => {
                SanityResult::Unusable(runner.options.redactor.redact(&why).into_owned())
            }
            sanity => sanity,
        }
    }

    async fn play_once(player: &Player<Self>, case: &Arc<Case>, jobs: &Semaphore) -> CaseReport {
        let runner = &player.runner;
        let _job = jobs.acquire().await.expect("the semaphore is never closed");
        player.begin(case);
        let began = Instant::now();
        let target = match runner.target(case.exclusive).await {
            Ok(target) => target,
            Err(why) => return outcome::unplayed(case, Outcome::NotRun, &edgeproof_cli::error_text(&why)),
        };
        let mut backend = ServiceCaseContext::new(target, next_marker(), case.level, player.limit());
        if player.options.hold.as_ref() == Some(&case.id) {
            player.hold_for_a_line(held(case, &backend)).await;
        }
        let limit = player.options.case_timeout + case.takes;
        let in_time = match &case.procedure {
            Procedure::ServiceSteps(asks) => timeout(limit, asks(&mut backend)).await.is_ok(),
            Procedure::Conversation(_) | Procedure::Conversations(_) | Procedure::EdgeSteps(_) => {
                backend.found.not_run = Some("it is for an edge, and this is none".into());
                true
            }
        };
        if !in_time {
            let words = humantime::format_duration(limit).to_string();
            backend.check(Check::new("time", format!("an end within {words}"), "none", false));
        }
        player.options.pins.check(&mut backend.found);
        runner.report(case, &backend.found, began)
    }
}

/// How to call what is proven.
fn held(case: &Case, backend: &ServiceCaseContext) -> String {
    let mut text = format!("held before {}: {}", case.id, case.title);
    for (what, endpoint) in [("service", &backend.target.service), ("key set", &backend.target.keys)] {
        if let Some(endpoint) = endpoint {
            text = format!("{text}\n{what}: {}", endpoint.url());
        }
    }
    text
}

impl ServiceRunnerOptions {
    /// What reports call the target.
    pub fn kind(&self) -> TargetKind {
        match self.location {
            ServiceLocation::Mock(..) => TargetKind::Embedded,
            ServiceLocation::At { .. } => TargetKind::Attached,
        }
    }

    /// Its address; where it is ours, what it is.
    pub fn name(&self) -> String {
        match (&self.location, self.part) {
            (ServiceLocation::Mock(..), ServicePart::Service) => "mock service".into(),
            (ServiceLocation::Mock(..), ServicePart::Keys) => "key set of the mock service".into(),
            (ServiceLocation::At { service, .. }, ServicePart::Service) => told(service.as_ref()),
            (ServiceLocation::At { keys, .. }, ServicePart::Keys) => told(keys.as_ref()),
        }
    }

    /// All that opens our mock.
    pub fn mock_inputs(credentials: &Credentials) -> ServiceInputs {
        let token = |form| Some(Secret::new(credentials.read_token(form)));
        ServiceInputs {
            read_token: token(ReadTokenForm::Valid),
            expired_token: token(ReadTokenForm::Expired),
            license: Some(Secret::new(credentials.license(LicenseForm::Valid))),
            session_ref: None,
        }
    }
}

fn told(url: Option<&BaseUrl>) -> String {
    url.map(|url| url.as_url().to_string()).unwrap_or_default()
}

impl Applicability for ServiceRunnerOptions {
    fn target(&self) -> &'static str {
        match self.part {
            ServicePart::Service => "service",
            ServicePart::Keys => "keys",
        }
    }

    fn lack(&self, case: &Case) -> Option<String> {
        if matches!(self.location, ServiceLocation::Mock(..)) {
            return None;
        }
        case.prerequisites.iter().find_map(|need| self.lacks(*need)).map(str::to_owned)
    }
}

impl ServiceRunnerOptions {
    fn lacks(&self, need: Prerequisite) -> Option<&'static str> {
        let inputs = &self.inputs;
        let ServiceLocation::At { service, .. } = &self.location else { return None };
        match need {
            Prerequisite::ReadToken => inputs
                .read_token
                .is_none()
                .then_some("needs a read token: set READ_TOKEN, or use --read-token"),
            Prerequisite::ExpiredToken => inputs
                .expired_token
                .is_none()
                .then_some("needs a read token whose end has passed: use --expired-token"),
            Prerequisite::License => inputs
                .license
                .is_none()
                .then_some("needs a license, to see that it opens nothing: use --license"),
            Prerequisite::Session if service.is_none() => {
                Some("needs the service whose verdicts these keys sign: use --base-url, and --session-ref")
            }
            Prerequisite::Session => inputs.session_ref.is_none().then_some(
                "needs the reference of a session that finished less than two minutes ago: use --session-ref",
            ),
            Prerequisite::Waits => (!self.waits).then_some("takes minutes of real time: use --waits"),
            Prerequisite::Mock => Some(
                "needs a service that is told when sessions arrive, what time it is and which tokens it knows: only the mock \
                 service can be",
            ),
            Prerequisite::Service
            | Prerequisite::Origin
            | Prerequisite::Log
            | Prerequisite::LoopbackClients
            | Prerequisite::Https
            | Prerequisite::PlainReasons => Some("is for an edge: use `edgeproof conformance edge`"),
        }
    }
}

impl fmt::Debug for ServiceRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("location", &self.options.location).finish_non_exhaustive()
    }
}
