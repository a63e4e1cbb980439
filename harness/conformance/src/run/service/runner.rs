use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, Role};
use edgeproof_fixtures::spec::CertificateRefusal;
use edgeproof_http::{ServerAddress, ServerAddressError};
use edgeproof_launch::BaseUrl;
use edgeproof_mock::{Listen, MockService, ServiceOptions};
use edgeproof_reports::{CaseLevel, CaseReport, Outcome};
use rand::RngExt;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use url::Url;

use super::options::{ServiceLocation, ServicePart, ServiceRunnerOptions};
use super::sanity;
use crate::cases::{Case, Procedure, ServiceCaseContext, ServiceTarget};
use crate::run::case_report::{self, timeout_check};
use crate::run::run_context::{RunContext, next_marker};
use crate::run::runner::{Runner, SanityResult};
use crate::target::{ALLOWED_ORIGIN, Embedded, FaultInjection, StartError};

/// DNS resolution timeout.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs cases on a service or a key set. With the built-in mock service, a case that changes the clock or the keys gets
/// a mock service of its own.
pub struct ServiceRunner {
    options: ServiceRunnerOptions,
    faults: Option<Arc<dyn FaultInjection>>,
    /// Distinguishes the sessions of this run from those of earlier runs.
    run_id: String,
    shared: OnceCell<Arc<ServiceTarget>>,
}

/// Why there is no service to test.
#[derive(Debug, thiserror::Error)]
pub enum ServiceRunnerError {
    /// The mock service does not start.
    #[error("start the mock service: {0}")]
    Mock(#[from] io::Error),
    /// The edge in front of the mock service does not start.
    #[error(transparent)]
    Edge(#[from] StartError),
    /// A base URL is unusable.
    #[error(transparent)]
    Address(#[from] ServerAddressError),
    /// DNS resolution timed out.
    #[error("resolve {0:?}: no answer within {RESOLVE_TIMEOUT:?}")]
    Slow(String),
}

impl miette::Diagnostic for ServiceRunnerError {
    /// What to do, with the option for a service.
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Address(ServerAddressError::CaFile { .. }) => {
                Some(Box::new("--service-ca takes a PEM file with the certificate of the issuing CA"))
            }
            Self::Address(error) => error.help(),
            Self::Edge(error) => error.help(),
            Self::Mock(_) => None,
            Self::Slow(_) => Some(Box::new("check the spelling, and that this machine can resolve the name")),
        }
    }
}

impl ServiceRunner {
    /// A runner that starts and contacts nothing yet.
    pub fn new(options: ServiceRunnerOptions) -> Self {
        let run_id = format!("{:08x}", rand::rng().random::<u32>());
        Self { options, faults: None, run_id, shared: OnceCell::new() }
    }

    /// The same runner with faults in each mock service.
    #[must_use]
    pub fn with_faults(self, faults: Arc<dyn FaultInjection>) -> Self {
        Self { faults: Some(faults), ..self }
    }

    /// Options of the runner.
    pub fn options(&self) -> &ServiceRunnerOptions {
        &self.options
    }

    /// The service of a case. `exclusive`: a mock service of its own, where the mock is tested.
    async fn target(&self, exclusive: bool) -> Result<Arc<ServiceTarget>, ServiceRunnerError> {
        if exclusive && matches!(self.options.location, ServiceLocation::Mock(..)) {
            return Ok(Arc::new(self.open().await?));
        }
        let shared = self.shared.get_or_try_init(|| async { self.open().await.map(Arc::new) }).await?;
        Ok(Arc::clone(shared))
    }

    async fn open(&self) -> Result<ServiceTarget, ServiceRunnerError> {
        match &self.options.location {
            ServiceLocation::Mock(credentials, files) => self.start_mock(credentials, files).await,
            ServiceLocation::At { service, keys, ca } => Ok(ServiceTarget {
                service: resolve(service.as_ref(), ca.as_deref()).await?,
                keys: resolve(keys.as_ref(), ca.as_deref()).await?,
                inputs: self.options.inputs.clone(),
                mock: None,
                credentials: None,
                edge: None,
                run: self.run_id.clone(),
            }),
        }
    }

    /// Starts the mock service and an edge in front of it.
    async fn start_mock(
        &self,
        credentials: &Arc<Credentials>,
        files: &CredentialFiles,
    ) -> Result<ServiceTarget, ServiceRunnerError> {
        let spec = &self.options.spec;
        let mut options = ServiceOptions::new(Arc::clone(spec), Arc::clone(credentials));
        options.profile = self.options.profile.clone();
        if let Some(faults) = &self.faults {
            faults.service(&mut options);
        }
        // Backends have no client certificate, so such a profile would refuse their TLS handshake.
        if options.profile.certificate_refusal == CertificateRefusal::Handshake {
            options.plain = Some(Listen::At((Ipv4Addr::LOCALHOST, 0).into()));
        }
        let mock = Arc::new(MockService::start_with(options).await?);
        let settings = files.settings(credentials, &mock.url(), ALLOWED_ORIGIN);
        let edge = Embedded::new(Arc::clone(spec), self.options.profile.clone()).start(&settings).await?;
        let address = mock.plain_addr().map_or(mock.url(), |plain| format!("http://{plain}"));
        let url = Url::parse(&address).map_err(|_| ServerAddressError::NotHttp(address))?;
        let ca = files.certificate(Role::ServiceAuthority);
        let endpoint = ServerAddress::resolve(&url, Some(&ca)).await?;
        Ok(ServiceTarget {
            service: Some(endpoint.clone()),
            keys: Some(endpoint),
            inputs: self.options.inputs.clone(),
            mock: Some(mock),
            credentials: Some(Arc::clone(credentials)),
            edge: Some(edge),
            run: self.run_id.clone(),
        })
    }
}

impl Runner for ServiceRunner {
    async fn check_sanity(&self, context: &RunContext) -> SanityResult {
        let target = match self.target(false).await {
            Ok(target) => target,
            Err(why) => return SanityResult::unusable_because(&why),
        };
        let mut backend =
            ServiceCaseContext::new(target, next_marker(), CaseLevel::Must, context.request_timeout());
        let result = match self.options.part {
            ServicePart::Service => sanity::check_service(&mut backend).await,
            ServicePart::Keys => sanity::check_keys(&mut backend).await,
        };
        match result {
            SanityResult::Unusable(why) => {
                SanityResult::Unusable(self.options.redactor.redact(&why).into_owned())
            }
            result => result,
        }
    }

    async fn run_case(&self, context: &RunContext, case: &Arc<Case>, jobs: &Semaphore) -> CaseReport {
        let _job = jobs.acquire().await.expect("the semaphore is never closed");
        context.begin(case);
        let began = Instant::now();
        let target = match self.target(case.exclusive).await {
            Ok(target) => target,
            Err(why) => {
                let because = edgeproof_cli::error_text(&why);
                return case_report::without_run(case, Outcome::NotRun, &because);
            }
        };
        let mut backend =
            ServiceCaseContext::new(target, next_marker(), case.level, context.request_timeout());
        if context.holds(case) {
            context.wait_for_enter(hold_text(case, &backend)).await;
        }
        let limit = context.case_timeout(case);
        let in_time = match &case.procedure {
            Procedure::ServiceSteps(steps) => timeout(limit, steps(&mut backend)).await.is_ok(),
            _ => {
                backend.found.not_run = Some("applies to an edge, and this is a service".into());
                true
            }
        };
        if !in_time {
            backend.check(timeout_check(limit));
        }
        context.options.pins.check(&mut backend.found);
        case_report::after_run(case, &backend.found, began.elapsed(), None, &self.options.redactor)
    }
}

impl fmt::Debug for ServiceRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceRunner").field("location", &self.options.location).finish_non_exhaustive()
    }
}

async fn resolve(
    url: Option<&BaseUrl>,
    ca: Option<&Path>,
) -> Result<Option<ServerAddress>, ServiceRunnerError> {
    let Some(url) = url.map(BaseUrl::as_url) else { return Ok(None) };
    let resolved = timeout(RESOLVE_TIMEOUT, ServerAddress::resolve(url, ca)).await;
    Ok(Some(resolved.map_err(|_| ServiceRunnerError::Slow(url.to_string()))??))
}

/// Describes how to call the service before a held case.
fn hold_text(case: &Case, backend: &ServiceCaseContext) -> String {
    let mut text = format!("held before {}: {}", case.id, case.title);
    for (name, endpoint) in [("service", &backend.target.service), ("key set", &backend.target.keys)] {
        if let Some(endpoint) = endpoint {
            text = format!("{text}\n{name}: {}", endpoint.url());
        }
    }
    text
}
