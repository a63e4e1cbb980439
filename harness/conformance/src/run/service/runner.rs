use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{fmt, io};

use edgeproof_fixtures::credentials::{ALLOWED_ORIGIN, CredentialFiles, Credentials, Redactor, Role};
use edgeproof_fixtures::spec::CertificateRefusal;
use edgeproof_http::{NoAnswer, ServerAddress, ServerAddressError};
use edgeproof_launch::BaseUrl;
use edgeproof_mock::{Listen, MockService, ServiceOptions};
use edgeproof_reports::{CaseLevel, CaseReport, Outcome};
use edgeproof_targets::{Embedded, FaultInjection, StartError};
use parking_lot::Mutex;
use rand::RngExt;
use tokio::sync::{OnceCell, RwLock, Semaphore};
use tokio::time::timeout;
use url::Url;

use super::options::{ServiceLocation, ServicePart, ServiceRunnerOptions};
use super::sanity;
use crate::cases::{
    Case, CaseFindings, Procedure, ServiceCaseContext, ServiceTarget, VerdictRequest, key_set_request,
    next_marker,
};
use crate::cases::{ServiceMonitor, ServiceTraffic};
use crate::monitor::{LAST_REQUESTS, ServiceRecord, judge_service, send_last_service_requests};
use crate::run::case_report::{self, timeout_check};
use crate::run::last_exchange::is_broken;
use crate::run::liveness::{Attempt, CaseEnd, Liveness, begin, probe_state, run_until_judged};
use crate::run::runner::{Runner, SanityResult};
use crate::run::runner_context::RunnerContext;

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
    /// All exchanges of the run.
    traffic: Arc<ServiceTraffic>,
    /// The same, after the last request.
    record: OnceLock<ServiceRecord>,
    /// Liveness of the target. A restarted target counts as new.
    liveness: Mutex<Arc<Liveness>>,
    /// Lets a case run alone.
    turn: RwLock<()>,
    /// Cases without a wait run one at a time. Otherwise it is unclear which of them killed the target.
    short: tokio::sync::Mutex<()>,
}

/// Why there is no service to test.
#[derive(Debug, thiserror::Error)]
pub enum ServiceRunnerError {
    /// The mock service does not start.
    #[error("cannot start the mock service: {0}")]
    Mock(#[from] io::Error),
    /// The edge in front of the mock service does not start.
    #[error(transparent)]
    Edge(#[from] StartError),
    /// A base URL is unusable.
    #[error(transparent)]
    Address(#[from] ServerAddressError),
    /// DNS resolution timed out.
    #[error("cannot resolve {0:?}: no answer within {RESOLVE_TIMEOUT:?}")]
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
        Self {
            options,
            faults: None,
            run_id,
            shared: OnceCell::new(),
            traffic: Arc::default(),
            record: OnceLock::new(),
            liveness: Mutex::new(Liveness::new()),
            turn: RwLock::default(),
            short: tokio::sync::Mutex::default(),
        }
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
                traffic: Arc::clone(&self.traffic),
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
            traffic: Arc::clone(&self.traffic),
            run: self.run_id.clone(),
        })
    }
}

impl Runner for ServiceRunner {
    async fn check_sanity(&self, context: &RunnerContext) -> SanityResult {
        let target = match self.target(false).await {
            Ok(target) => target,
            Err(why) => return SanityResult::unusable_because(&why),
        };
        let mut backend = ServiceCaseContext::new(
            target,
            "sanity",
            next_marker(),
            CaseLevel::Must,
            context.request_timeout(),
        );
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

    fn redactor(&self) -> &Redactor {
        &self.options.redactor
    }

    fn exchanges(&self) -> usize {
        self.traffic.count()
    }

    async fn run_case(&self, context: &RunnerContext, case: &Arc<Case>, jobs: &Semaphore) -> CaseReport {
        if let Procedure::ServiceMonitor(monitor) = case.procedure {
            context.begin(case);
            return self.run_monitor(case, monitor);
        }
        run_until_judged(|alone| self.attempt(context, case, alone, jobs)).await
    }

    async fn end_requests(&self, context: &RunnerContext) {
        let Ok(target) = self.target(false).await else { return };
        let timeout = context.request_timeout();
        let mut backend =
            ServiceCaseContext::new(target, LAST_REQUESTS, next_marker(), CaseLevel::Must, timeout);
        send_last_service_requests(&mut backend, self.options.part == ServicePart::Keys).await;
    }

    async fn unreported_deaths(&self) -> Vec<String> {
        let liveness = Arc::clone(&self.liveness.lock());
        liveness
            .unreported_death()
            .map(|text| self.redacted(&format!("{}: {text}", self.name())))
            .into_iter()
            .collect()
    }
}

impl ServiceRunner {
    /// Judges all exchanges of the run by one invariant.
    fn run_monitor(&self, case: &Case, monitor: ServiceMonitor) -> CaseReport {
        if self.liveness.lock().is_gone() {
            let because = format!("{} died after another case: later exchanges are missing", self.name());
            return case_report::without_run(case, Outcome::NotRun, &self.redacted(&because));
        }
        let began = Instant::now();
        let mut found = CaseFindings::default();
        let record = self.record.get_or_init(|| ServiceRecord::of(&self.traffic));
        for check in judge_service(monitor, record, &self.options.spec) {
            found.check(check, case.level);
        }
        case_report::after_run(case, &found, began.elapsed(), None, &self.options.redactor)
    }

    async fn attempt(&self, context: &RunnerContext, case: &Case, alone: bool, jobs: &Semaphore) -> Attempt {
        let attached = matches!(self.options.location, ServiceLocation::At { .. });
        let short = if attached && case.takes.is_zero() { Some(self.short.lock().await) } else { None };
        let job = jobs.acquire().await.expect("the semaphore is never closed");
        let (mut shared, mut exclusive) = (None, None);
        if alone {
            exclusive = Some(self.turn.write().await);
        } else {
            shared = Some(self.turn.read().await);
        }
        let not_run = |because: &str, end: CaseEnd| Attempt {
            report: case_report::without_run(case, Outcome::NotRun, because),
            end,
        };
        let target = match self.target(case.exclusive).await {
            Ok(target) => target,
            Err(why) => return not_run(&edgeproof_cli::error_text(&why), CaseEnd::Survived),
        };
        let run = match begin(&self.liveness, case).await {
            Ok(run) => run,
            Err(death) => {
                let because = self.redacted(&format!("{} {}", self.name(), death.because));
                return not_run(&because, CaseEnd::BrokenOff(death));
            }
        };
        context.begin(case);
        let began = Instant::now();
        let mut backend = ServiceCaseContext::new(
            Arc::clone(&target),
            &case.id,
            next_marker(),
            case.level,
            context.request_timeout(),
        );
        if context.holds(case) {
            context.wait_for_enter(hold_text(case, &backend)).await;
        }
        let limit = context.case_timeout(case);
        let in_time = if let Procedure::ServiceSteps(steps) = &case.procedure {
            timeout(limit, steps(&mut backend)).await.is_ok()
        } else {
            backend.found.not_run = Some("applies to an edge, and this is a service".into());
            true
        };
        if !in_time {
            backend.check(timeout_check(limit));
        }
        let took = began.elapsed();
        let mut found = backend.found;
        drop((shared.take(), exclusive.take()));
        let end = if attached {
            // The next cases wait for a target that may be gone.
            let _next = is_broken(&found).then_some((job, short));
            let state = probe_state(&found, || self.probe(&target, context.request_timeout()));
            run.end(case, &found, alone, state).await
        } else {
            CaseEnd::Survived
        };
        context.options.pins.check(&mut found);
        let name = self.name();
        if let CaseEnd::Last(death) | CaseEnd::Suspect(death, _) = &end {
            found.fail_with(death.check(name));
        }
        let report = match &end {
            CaseEnd::BrokenOff(death) => {
                let because = self.redacted(&format!("{name} {}", death.because));
                case_report::without_run(case, Outcome::NotRun, &because)
            }
            _ => case_report::after_run(case, &found, took, None, &self.options.redactor),
        };
        Attempt { report, end }
    }

    /// Sends a request that the target answered in the sanity check.
    async fn probe(&self, target: &ServiceTarget, limit: Duration) -> Result<(), NoAnswer> {
        let (endpoint, draft) = match self.options.part {
            ServicePart::Service => {
                (&target.service, VerdictRequest::new(&format!("edgeproof-{}-alive", self.run_id)).draft())
            }
            ServicePart::Keys => (&target.keys, key_set_request()),
        };
        let Some(endpoint) = endpoint else { return Ok(()) };
        edgeproof_http::send(endpoint, &draft, limit).await.reply.map(drop)
    }

    /// The tested part in messages.
    fn name(&self) -> &'static str {
        match self.options.part {
            ServicePart::Service => "the service",
            ServicePart::Keys => "the key set",
        }
    }

    fn redacted(&self, text: &str) -> String {
        self.options.redactor.redact(text).into_owned()
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
