use std::marker::PhantomData;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{fmt, io};

use edgeproof_fixtures::credentials::{ALLOWED_ORIGIN, CredentialFiles, Credentials, Redactor, Role};
use edgeproof_fixtures::spec::CertificateRefusal;
use edgeproof_http::{NoAnswer, ServerAddress, ServerAddressError};
use edgeproof_launch::BaseUrl;
use edgeproof_mock::states::StateProvider;
use edgeproof_mock::{Listen, MockService, ServiceOptions};
use edgeproof_reports::CaseLevel;
use edgeproof_targets::{Embedded, FaultInjection, StartError};
use parking_lot::Mutex;
use rand::RngExt;
use tokio::sync::{
    OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock,
    Semaphore,
};
use tokio::time::timeout;
use url::Url;

use super::options::{ServiceLocation, ServiceRunnerOptions};
use super::part::ServicePart;
use super::truth::is_still_revoked;
use crate::cases::{
    Case, CaseFindings, Sender, ServiceCaseContext, ServiceMonitor, ServiceNeed, ServiceTarget,
    ServiceTraffic, next_marker,
};
use crate::monitor::{LAST_REQUESTS, ServiceRecord, judge_service};
use crate::run::attempt::broken_off;
use crate::run::last_exchange::is_broken;
use crate::run::liveness::{Attempt, CaseEnd, CaseRun, Liveness, begin, probe_state};
use crate::run::plan::UnmetNeed;
use crate::run::runner::{Leased, Released, RunTarget, Runner, SanityResult};
use crate::run::runner_context::RunnerContext;
use crate::states::States;

/// DNS resolution timeout.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs cases on a service or a key set. With the built-in mock service, a case that changes the clock or the keys gets
/// a mock service of its own.
pub struct ServiceRunner<P> {
    part: PhantomData<P>,
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
    /// The service refuses the read token, which a case revoked and restored.
    token_is_lost: AtomicBool,
    /// Lets a case run alone.
    turn: Arc<RwLock<()>>,
    /// Cases without a wait run one at a time. Otherwise it is unclear which of them killed the target.
    short: Arc<tokio::sync::Mutex<()>>,
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

impl<P: ServicePart> ServiceRunner<P> {
    /// A runner that starts and contacts nothing yet.
    pub fn new(options: ServiceRunnerOptions) -> Self {
        let run_id = format!("{:08x}", rand::rng().random::<u32>());
        Self {
            part: PhantomData,
            options,
            faults: None,
            run_id,
            shared: OnceCell::new(),
            traffic: Arc::default(),
            record: OnceLock::new(),
            liveness: Mutex::new(Liveness::new()),
            token_is_lost: AtomicBool::new(false),
            turn: Arc::default(),
            short: Arc::default(),
        }
    }

    /// The same runner with faults in each mock service.
    #[must_use]
    pub fn with_faults(self, faults: Arc<dyn FaultInjection>) -> Self {
        Self { faults: Some(faults), ..self }
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
            ServiceLocation::At { service, keys, ca, states } => Ok(ServiceTarget {
                spec: Arc::clone(&self.options.spec),
                service: resolve(service.as_ref(), ca.as_deref()).await?,
                keys: resolve(keys.as_ref(), ca.as_deref()).await?,
                inputs: self.options.inputs.clone(),
                states: states.clone(),
                builtin: None,
                traffic: Arc::clone(&self.traffic),
                run: self.run_id.clone(),
                key_change: AtomicU64::new(0),
                moved: AtomicU64::new(0),
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
        let mock_spec = self.options.mock_spec.as_ref().unwrap_or(spec);
        let mut options = ServiceOptions::new(Arc::clone(mock_spec), Arc::clone(credentials));
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
        let edge =
            Embedded::new(Arc::clone(mock_spec), self.options.profile.clone()).start(&settings).await?;
        let address = mock.plain_addr().map_or(mock.url(), |plain| format!("http://{plain}"));
        let url = Url::parse(&address).map_err(|_| ServerAddressError::NotHttp(address))?;
        let ca = files.certificate(Role::ServiceAuthority);
        let endpoint = ServerAddress::resolve(&url, Some(&ca)).await?;
        let provider = StateProvider::new(Arc::clone(&mock), Some(edge.endpoint().clone()));
        let states = States::builtin(provider, credentials, Arc::clone(&self.options.redactor));
        Ok(ServiceTarget {
            spec: Arc::clone(spec),
            service: Some(endpoint.clone()),
            keys: Some(endpoint),
            inputs: self.options.inputs.clone(),
            states: Some(Arc::new(states)),
            builtin: Some((mock, edge)),
            traffic: Arc::clone(&self.traffic),
            run: self.run_id.clone(),
            key_change: AtomicU64::new(0),
            moved: AtomicU64::new(0),
        })
    }
}

/// What an attempt holds of a service.
pub struct ServiceLease {
    alone: bool,
    /// None: the built-in mock.
    run: Option<CaseRun>,
    short: Option<OwnedMutexGuard<()>>,
    shared: Option<OwnedRwLockReadGuard<()>>,
    exclusive: Option<OwnedRwLockWriteGuard<()>>,
    job: OwnedSemaphorePermit,
}

impl<P: ServicePart> Runner for ServiceRunner<P> {
    type Part = P;
    type Lease = ServiceLease;

    fn target(&self) -> RunTarget {
        let options = &self.options;
        RunTarget { spec: Arc::clone(&options.spec), kind: options.kind(), name: options.name::<P>() }
    }

    fn redactor(&self) -> &Arc<Redactor> {
        &self.options.redactor
    }

    fn unmet(&self, case: &Case<P>) -> Vec<UnmetNeed> {
        case.needs.iter().filter_map(|need| self.options.unmet(*need)).collect()
    }

    /// A clock, a key and a token are those of all cases.
    fn runs_alone(&self, case: &Case<P>) -> bool {
        case.exclusive && self.is_attached()
    }

    async fn check_sanity(&self, context: &RunnerContext) -> SanityResult<ServiceNeed> {
        let mut backend = match self.backend("sanity", context).await {
            Ok(backend) => backend,
            Err(why) => return SanityResult::unusable_because(&why),
        };
        match P::check_sanity(&mut backend).await {
            SanityResult::Unusable(why) => {
                SanityResult::Unusable(self.options.redactor.redact(&why).into_owned())
            }
            result => result,
        }
    }

    async fn lease(
        &self,
        context: &RunnerContext,
        case: &Case<P>,
        alone: bool,
        jobs: &Arc<Semaphore>,
    ) -> Result<Leased<Self>, Attempt> {
        let alone = alone || self.runs_alone(case);
        let is_short = self.is_attached() && case.takes.is_zero();
        let short = if is_short { Some(Arc::clone(&self.short).lock_owned().await) } else { None };
        let job = Arc::clone(jobs).acquire_owned().await.expect("the semaphore is never closed");
        let (mut shared, mut exclusive) = (None, None);
        if alone {
            exclusive = Some(Arc::clone(&self.turn).write_owned().await);
        } else {
            shared = Some(Arc::clone(&self.turn).read_owned().await);
        }
        if let Some(because) = context.rate_limit.because() {
            return Err(Attempt::not_run(case, &because));
        }
        if self.token_is_lost.load(Ordering::Relaxed) && case.needs.contains(&ServiceNeed::ReadToken) {
            return Err(Attempt::not_run(
                case,
                "the service still refuses the read token after the state restore",
            ));
        }
        let target = match self.target(case.exclusive).await {
            Ok(target) => target,
            Err(why) => return Err(Attempt::not_run(case, &edgeproof_cli::error_text(&why))),
        };
        let run = match begin(&self.liveness, case).await {
            Ok(run) => Some(run).filter(|_| self.is_attached()),
            Err(death) => return Err(broken_off(self, case, death)),
        };
        let lease = ServiceLease { alone, run, short, shared, exclusive, job };
        let sender = Sender { case: case.id.clone(), level: case.level, marker: next_marker() };
        let backend = ServiceCaseContext::new(target, sender, context.request_timeout());
        Ok(Leased { lease, context: backend, began: Instant::now(), limit: context.case_timeout(case) })
    }

    fn hold_text(&self, _: &Case<P>, leased: &mut Leased<Self>) -> String {
        let ServiceTarget { service, keys, .. } = &*leased.context.target;
        let known = [("service", service), ("key set", keys)];
        let lines = known.iter().filter_map(|(name, at)| Some(format!("\n{name}: {}", at.as_ref()?.url())));
        lines.collect()
    }

    async fn release(&self, context: &RunnerContext, case: &Case<P>, leased: Leased<Self>) -> Released {
        let Leased { lease, context: backend, began, .. } = leased;
        let ServiceLease { alone, run, short, shared, exclusive, job } = lease;
        let (mut found, target) = (backend.found, backend.target);
        // Only a case that was cut off has left some.
        if let Some(states) = &target.states
            && let Err(why) = states.end_lasting().await
        {
            found.not_run = Some(why.to_string());
        }
        self.check_restored(context, &target).await;
        drop((shared, exclusive));
        let end = match run {
            None => CaseEnd::Survived,
            Some(run) => {
                // The next cases wait for a target that may be gone.
                let _next = is_broken(&found).then_some((job, short));
                let state = probe_state(&found, || self.probe(&target, context.request_timeout()));
                let is_excused = context.share_of_others(began, &found).is_some();
                run.end(case, &found, alone, is_excused, state).await
            }
        };
        Released { found, end, notes: None }
    }

    fn exchanges(&self) -> usize {
        self.traffic.count()
    }

    async fn end_requests(&self, context: &RunnerContext) {
        if self.token_is_lost.load(Ordering::Relaxed) {
            return;
        }
        if let Ok(mut backend) = self.backend(LAST_REQUESTS, context).await {
            P::end_requests(&mut backend).await;
        }
    }

    fn is_gone(&self) -> bool {
        self.liveness.lock().is_gone()
    }

    async fn judge(
        &self,
        _: &RunnerContext,
        monitor: ServiceMonitor,
        level: CaseLevel,
    ) -> Result<CaseFindings, String> {
        let mut found = CaseFindings::default();
        let record = self.record.get_or_init(|| ServiceRecord::of(&self.traffic, &self.options.spec));
        for check in judge_service(monitor, record, &self.options.spec) {
            found.check(check, level);
        }
        Ok(found)
    }

    async fn unreported_deaths(&self) -> Vec<String> {
        let liveness = Arc::clone(&self.liveness.lock());
        let text = liveness.unreported_death().map(|text| format!("{}: {text}", P::SUBJECT.name()));
        text.map(|text| self.options.redactor.redact(&text).into_owned()).into_iter().collect()
    }
}

impl<P: ServicePart> ServiceRunner<P> {
    fn is_attached(&self) -> bool {
        matches!(self.options.location, ServiceLocation::At { .. })
    }

    /// A context for requests of the run itself.
    async fn backend(
        &self,
        step: &str,
        context: &RunnerContext,
    ) -> Result<ServiceCaseContext, ServiceRunnerError> {
        let sender = Sender { case: step.to_owned(), level: CaseLevel::Must, marker: next_marker() };
        let target = self.target(false).await?;
        Ok(ServiceCaseContext::new(target, sender, context.request_timeout()))
    }

    /// After the state `restore`: finds out whether the other cases still have a read token.
    async fn check_restored(&self, context: &RunnerContext, target: &ServiceTarget) {
        let is_restored = target.states.as_ref().is_some_and(|states| states.take_restored());
        if is_restored
            && self.is_attached()
            && let Ok(mut backend) = self.backend("restored", context).await
            && is_still_revoked(&mut backend).await
        {
            self.token_is_lost.store(true, Ordering::Relaxed);
        }
    }

    /// Sends a request that the target answered in the sanity check.
    async fn probe(&self, target: &ServiceTarget, limit: Duration) -> Result<(), NoAnswer> {
        let Some((endpoint, draft)) = P::alive(target, &self.run_id) else { return Ok(()) };
        edgeproof_http::send(endpoint, &draft, limit).await.reply.map(drop)
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
