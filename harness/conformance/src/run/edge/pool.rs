use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_launch::{ExitInfo, HeldPort};
use edgeproof_mock::MockService;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::DeathEvidence;
use edgeproof_targets::{RunningEdge, Target};
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use super::lease::{Lease, Permit, Reservation, SetupPool};
use super::lease_error::LeaseError;
use super::pool_options::{EdgePoolOptions, EdgeUpstream};
use crate::cases::{CaseFacts, EdgeCaseContext, EdgeTarget, Sender, Setup, Traffic, next_marker};
use crate::monitor::EdgeRecord;
use crate::run::death::Death;
use crate::run::liveness::{CaseRun, Liveness, TargetState, begin};

/// All edges of a run, each with the mock service behind it. An edge starts when a case first needs it.
pub struct EdgePool {
    options: EdgePoolOptions,
    pools: Mutex<HashMap<Setup, Arc<SetupPool>>>,
    /// Every edge that was started.
    started: Mutex<Vec<Started>>,
    /// What each edge did, after the last request.
    records: OnceLock<Vec<EdgeRecord>>,
    /// Edges that exited by themselves, and how.
    exited: Mutex<Vec<(Arc<Liveness>, ExitInfo)>>,
    /// Liveness of a launched edge that hangs: others of the same program would hang too.
    hung: OnceLock<Arc<Liveness>>,
    /// Liveness of an attached edge. A restarted edge counts as new.
    attached: Mutex<Arc<Liveness>>,
    /// On an attached edge, cases without a wait run one at a time. Otherwise it is unclear which of them killed the
    /// edge. A launched edge is restarted instead, and each suspect runs alone.
    short: Arc<tokio::sync::Mutex<()>>,
    /// Held by the one shared case that waits for a job. An exclusive case, which waited for its edge before, comes next.
    next: tokio::sync::Mutex<()>,
    /// A mock service that no edge is configured for.
    unused_service: Option<Arc<MockService>>,
    /// The mock service behind an attached edge.
    fixed_service: Option<Arc<MockService>>,
}

/// A running edge and the service behind it.
pub(super) struct EdgeInstance {
    pub(super) edge: RunningEdge,
    /// Setup of the edge.
    pub(super) setup: Setup,
    /// Settings that the edge was started with, for reports; unknown without the mock service.
    pub(super) settings: Option<EdgeSettings>,
    /// The edge as cases see it.
    pub(super) context: Arc<EdgeTarget>,
    /// Liveness of a launched edge's program.
    liveness: Arc<Liveness>,
    // Nothing else may listen on the port that SERVICE_URL names.
    _reserved_port: Option<HeldPort>,
}

/// An edge that started, running or not.
#[derive(Clone)]
pub(super) struct Started {
    pub(super) setup: Setup,
    pub(super) settings: EdgeSettings,
    pub(super) context: Arc<EdgeTarget>,
    instance: Weak<EdgeInstance>,
}

impl EdgePool {
    /// A pool without running edges.
    pub fn new(options: EdgePoolOptions) -> Self {
        Self {
            options,
            pools: Mutex::default(),
            started: Mutex::default(),
            records: OnceLock::new(),
            exited: Mutex::default(),
            hung: OnceLock::new(),
            attached: Mutex::new(Liveness::new()),
            short: Arc::default(),
            next: tokio::sync::Mutex::default(),
            unused_service: None,
            fixed_service: None,
        }
    }

    /// Starts the mock service and one edge with the usual settings, and stops both.
    pub async fn try_start(options: EdgePoolOptions) -> Result<(), LeaseError> {
        let mut pool = Self::new(options);
        pool.start_services().await?;
        let started = pool.lease_standard().await.map(drop);
        pool.end().await;
        started
    }

    /// Starts the mock services that exist once. Fails if one of them cannot listen, so before any case runs.
    pub(super) async fn start_services(&mut self) -> Result<(), LeaseError> {
        self.unused_service = Some(Arc::new(self.options.start_unused_service().await?));
        if let EdgeUpstream::MockAt { listen, .. } = &self.options.upstream {
            self.fixed_service = Some(Arc::new(self.options.start_service(Some(*listen)).await?));
        }
        Ok(())
    }

    /// Options of the pool.
    pub(super) fn options(&self) -> &EdgePoolOptions {
        &self.options
    }

    /// Waits for the turn of a case on an attached edge.
    pub(super) async fn turn(&self, case: &CaseFacts) -> Option<OwnedMutexGuard<()>> {
        let is_short = matches!(self.options.target, Target::Attached(_)) && case.takes.is_zero();
        if is_short { Some(Arc::clone(&self.short).lock_owned().await) } else { None }
    }

    /// Waits for a job, behind the exclusive cases: few of them run at the same time, so they take longest together.
    pub(super) async fn job(&self, jobs: &Arc<Semaphore>, exclusive: bool) -> OwnedSemaphorePermit {
        let _next = if exclusive { None } else { Some(self.next.lock().await) };
        Arc::clone(jobs).acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Reserves an edge, shared with other cases or exclusively. Waits until one is free.
    pub(super) async fn reserve(&self, setup: Setup, exclusive: bool) -> Reservation {
        let pool = self.pool(setup);
        let permit = match (self.options.starts_edges(), exclusive) {
            (true, false) => Permit::Shared,
            (true, true) => Permit::Exclusive(
                Arc::clone(&pool.exclusive).acquire_owned().await.expect("the semaphore is never closed"),
            ),
            (false, false) => Permit::AttachedShared(Arc::clone(&pool.attached).read_owned().await),
            (false, true) => Permit::AttachedExclusive(Arc::clone(&pool.attached).write_owned().await),
        };
        Reservation { pool, permit }
    }

    /// Leases the reserved edge, and starts it if it does not run.
    pub(super) async fn lease(&self, reservation: Reservation) -> Result<Lease, LeaseError> {
        let Reservation { pool, permit } = reservation;
        let instance = match permit {
            Permit::Exclusive(_) => self.idle(&pool).await?,
            _ => self.shared(&pool).await?,
        };
        Ok(Lease { instance, pool, permit })
    }

    /// Leases an edge with the standard settings that other cases may share.
    pub(super) async fn lease_standard(&self) -> Result<Lease, LeaseError> {
        self.lease(self.reserve(Setup::Standard, false).await).await
    }

    /// Ends all edges in parallel, although interrupted cases still hold some.
    pub(super) async fn end(&self) {
        let instances: Vec<_> =
            self.started.lock().iter().filter_map(|started| started.instance.upgrade()).collect();
        join_all(instances.iter().map(|instance| instance.edge.end())).await;
    }

    /// The cases and steps of the run that sent requests to the edge of this case before it did.
    pub(super) fn senders_before(&self, case: &str) -> Vec<String> {
        let started = self.started.lock().clone();
        let all = started.iter().rev().map(|started| started.context.traffic.senders());
        let own = all.filter_map(|mut senders| {
            senders.truncate(senders.iter().position(|sender| sender == case)?);
            Some(senders)
        });
        own.into_iter().next().unwrap_or_default()
    }

    /// Number of requests to all edges so far.
    pub(super) fn exchanges(&self) -> usize {
        self.started.lock().iter().map(|started| started.context.traffic.count()).sum()
    }

    /// What each edge did. The first call, after the last request, reads it.
    pub(super) fn records(&self, read: impl Fn(&Started) -> EdgeRecord) -> &[EdgeRecord] {
        self.records.get_or_init(|| self.started.lock().iter().map(read).collect())
    }

    /// The edges that run and that no case uses.
    pub(super) async fn running(&self) -> Vec<Arc<EdgeInstance>> {
        let pools: Vec<_> = self.pools.lock().values().cloned().collect();
        let mut instances = Vec::new();
        for pool in pools {
            instances.extend(pool.idle.lock().iter().cloned());
            instances.extend(pool.shared.lock().await.iter().flatten().cloned());
        }
        let gone = self.is_gone() || self.hung.get().is_some();
        instances.retain(|instance| !gone && instance.edge.exited().is_none());
        instances
    }

    /// Stops all edges in parallel.
    pub(super) async fn stop(&self) {
        self.note_exits();
        let pools = std::mem::take(&mut *self.pools.lock());
        let mut instances = Vec::new();
        for pool in pools.into_values() {
            instances.append(&mut pool.idle.lock());
            instances.extend(pool.shared.lock().await.take().and_then(Result::ok));
        }
        let stops = instances.into_iter().filter_map(Arc::into_inner).map(|instance| instance.edge.stop());
        join_all(stops).await;
    }

    async fn idle(&self, pool: &SetupPool) -> Result<Arc<EdgeInstance>, LeaseError> {
        let idle = pool.idle.lock().pop();
        match idle {
            Some(instance) if !self.note_exit(&instance) => Ok(instance),
            _ => self.start_edge(pool.setup).await,
        }
    }

    async fn shared(&self, pool: &SetupPool) -> Result<Arc<EdgeInstance>, LeaseError> {
        let mut shared = pool.shared.lock().await;
        match shared.as_ref() {
            Some(Ok(instance)) if !self.note_exit(instance) => return Ok(Arc::clone(instance)),
            // An edge that failed to start would fail again for the next case.
            Some(Err(why)) => return Err(LeaseError::Start(Arc::clone(why))),
            _ => {}
        }
        match self.start_edge(pool.setup).await {
            Ok(instance) => {
                *shared = Some(Ok(Arc::clone(&instance)));
                Ok(instance)
            }
            Err(LeaseError::Start(why)) => {
                *shared = Some(Err(Arc::clone(&why)));
                Err(LeaseError::Start(why))
            }
            Err(other) => Err(other),
        }
    }

    /// Records the exit of an edge that ended by itself: a death that no case reports fails the run. Whether it did.
    pub(super) fn note_exit(&self, instance: &EdgeInstance) -> bool {
        let exit = instance.edge.exited();
        let ended = exit.is_some();
        self.exited.lock().extend(exit.map(|exit| (Arc::clone(&instance.liveness), exit)));
        ended
    }

    /// Whether an attached edge died and did not come back.
    pub(super) fn is_gone(&self) -> bool {
        self.attached.lock().is_gone()
    }

    /// Records the edges that exited while no case used them.
    fn note_exits(&self) {
        for instance in self.started.lock().iter().filter_map(|started| started.instance.upgrade()) {
            self.note_exit(&instance);
        }
    }

    /// Deaths of edges that no case reports, after the last case.
    pub(super) async fn unreported_deaths(&self) -> Vec<String> {
        self.note_exits();
        let exited = std::mem::take(&mut *self.exited.lock());
        for (liveness, exit) in &exited {
            liveness
                .declare(TargetState::Replaced(DeathEvidence::Exit(exit.status.to_string().into())))
                .await;
        }
        let attached = Arc::clone(&self.attached.lock());
        let hung = self.hung.get().cloned();
        let all = exited.into_iter().map(|(liveness, _)| liveness).chain([attached]).chain(hung);
        all.filter_map(|liveness| liveness.unreported_death())
            .map(|text| self.options.redactor.redact(&format!("the edge: {text}")).into_owned())
            .collect()
    }

    /// The silence of a launched edge that hangs.
    pub(super) async fn hung(&self, case: &CaseFacts) -> Option<Arc<Death>> {
        self.hung.get()?.begin(case).await.err()
    }

    /// Begins a case on an edge that edgeproof does not embed. The error is the death of an attached edge, or of a
    /// launched one that hangs.
    pub(super) async fn begin(
        &self,
        instance: &EdgeInstance,
        case: &CaseFacts,
    ) -> Option<Result<CaseRun, Arc<Death>>> {
        match self.options.target {
            Target::Embedded(_) => None,
            Target::Launched(_) => {
                let begun = instance.liveness.begin(case).await;
                if instance.liveness.is_gone() {
                    self.hung.get_or_init(|| Arc::clone(&instance.liveness));
                }
                Some(begun)
            }
            Target::Attached(_) => Some(begin(&self.attached, case).await),
        }
    }

    /// Starts an edge that no pool keeps.
    pub(super) async fn start_edge(&self, setup: Setup) -> Result<Arc<EdgeInstance>, LeaseError> {
        let options = &self.options;
        let mut reserved_port = None;
        let (service, settings) = match &options.upstream {
            EdgeUpstream::MockPerEdge => {
                let service = options.start_service(None).await?;
                let mut url = service.url();
                if setup == Setup::PortClosed {
                    let port = HeldPort::bind().map_err(|why| LeaseError::Service(why.to_string()))?;
                    url = format!("https://localhost:{}", port.addr().port());
                    reserved_port = Some(port);
                }
                let settings = setup.settings(&options.credentials, &options.files, &url);
                let settings = settings.map_err(|why| LeaseError::Files(why.to_string()))?;
                (Some(Arc::new(service)), Some(settings))
            }
            EdgeUpstream::MockAt { settings, .. } => (self.fixed_service.clone(), Some(settings.clone())),
            EdgeUpstream::Foreign { .. } => (None, None),
        };
        let given = settings.clone().unwrap_or_default();
        let edge = options.target.start(&given).await.map_err(|why| LeaseError::Start(Arc::new(why)))?;
        let origin = match &options.upstream {
            EdgeUpstream::Foreign { origin, .. } => origin.clone(),
            _ => given.allowed_origin.clone().filter(|_| !setup.is_origin_open()),
        };
        let license = given.license.as_ref().filter(|_| !setup.has_other_license());
        let faults = match &options.target {
            Target::Embedded(embedded) => embedded.faults().cloned(),
            _ => None,
        };
        let context = EdgeTarget {
            spec: Arc::clone(&options.spec),
            faults,
            traffic: Traffic::default(),
            endpoint: edge.endpoint().clone(),
            service,
            elsewhere: self.unused_service.clone(),
            process: edge.pid(),
            log: edge.log().cloned(),
            credentials: Arc::clone(&options.credentials),
            redactor: Arc::clone(&options.redactor),
            license: license.map(|license| license.expose().to_owned()),
            settings: settings.clone(),
            origin,
        };
        let context = Arc::new(context);
        let settings = match &options.upstream {
            EdgeUpstream::MockAt { reported, .. } => Some((**reported).clone()),
            _ => settings,
        };
        let instance = Arc::new(EdgeInstance {
            edge,
            setup,
            settings,
            context: Arc::clone(&context),
            liveness: Liveness::new(),
            _reserved_port: reserved_port,
        });
        let running = Arc::downgrade(&instance);
        self.started.lock().push(Started { setup, settings: given, context, instance: running });
        Ok(instance)
    }

    fn pool(&self, setup: Setup) -> Arc<SetupPool> {
        let mut pools = self.pools.lock();
        let new = || Arc::new(SetupPool::new(setup, self.options.max_exclusive));
        let pool = pools.entry(setup).or_insert_with(new);
        Arc::clone(pool)
    }
}

impl EdgeInstance {
    /// A context for requests of this case, or of this step of the run.
    pub(super) fn case_context(
        &self,
        case: &str,
        level: CaseLevel,
        exclusive: bool,
        timeout: Duration,
    ) -> EdgeCaseContext {
        let sender = Sender { case: case.into(), level, marker: next_marker() };
        let mut context = EdgeCaseContext::new(Arc::clone(&self.context), sender, timeout);
        context.state.exclusive = exclusive;
        context
    }
}
