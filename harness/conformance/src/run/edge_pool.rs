use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, Redactor};
use edgeproof_fixtures::spec::{Profile, Spec};
use futures_util::future::join_all;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock, Semaphore};

use crate::cases::EdgeContext;
use crate::target::{RunningEdge, Setup, StartError, Target};
use edgeproof_launch::HeldPort;
use edgeproof_mock::{MockService, ReplyShape, ServiceOptions};

/// All edges of a run, each with a mock service of its own behind it, started when a case first needs them.
pub struct EdgePool {
    options: Arc<EdgePoolOptions>,
    pools: Mutex<HashMap<Setup, Arc<SetupPool>>>,
    elsewhere: Arc<MockService>,
    /// The one service behind an edge that others started.
    listening: Option<Arc<MockService>>,
}

/// What a edge_pool is made from.
pub struct EdgePoolOptions {
    /// The interface.
    pub spec: Arc<Spec>,
    /// How the mock service behaves at open points.
    pub profile: Profile,
    /// How the mock service words a refusal.
    pub shape: ReplyShape,
    /// The credentials of the run.
    pub credentials: Arc<Credentials>,
    /// The same as files.
    pub files: CredentialFiles,
    /// Where edges come from.
    pub target: Target,
    /// What stands behind them.
    pub behind: EdgeUpstream,
    /// Knows all secrets of the run.
    pub redactor: Arc<Redactor>,
    /// Edges with the same settings that are used one case at a time, at most.
    pub spare: usize,
}

/// What stands behind the edges.
#[derive(Debug, Clone)]
pub enum EdgeUpstream {
    /// A mock service for each edge, on a port that the system gives.
    Each,
    /// One mock service on this address, for an edge that was started with these settings.
    Listening(SocketAddr, EdgeSettings),
    /// Nothing of ours; the origin that the edge allows, where it is known. And whether that is wanted so.
    Nothing(Option<String>, bool),
}

/// A place on an edge that may not have been started yet.
pub struct Reservation {
    pool: Arc<SetupPool>,
    hold: Hold,
}

/// An edge that a case may use until it is dropped.
pub struct Lease {
    /// The edge with its service.
    pub instance: Arc<EdgeInstance>,
    pool: Arc<SetupPool>,
    hold: Hold,
}

/// One edge and what stands behind it.
pub struct EdgeInstance {
    /// The edge.
    pub edge: RunningEdge,
    /// What it was started with; nothing is known of one that others started.
    pub settings: Option<EdgeSettings>,
    /// What cases see of it.
    pub context: Arc<EdgeContext>,
    // Its port stays taken as long as the edge is told that the service is there.
    _held: Option<HeldPort>,
}

/// Edges with the same settings.
struct SetupPool {
    setup: Setup,
    /// The one that cases share; or why there is none.
    shared: tokio::sync::Mutex<Option<Result<Arc<EdgeInstance>, Arc<StartError>>>>,
    /// Those that are used one case at a time.
    spare: Mutex<Vec<Arc<EdgeInstance>>>,
    places: Arc<Semaphore>,
    /// For an edge that exists only once.
    only: Arc<RwLock<()>>,
}

#[expect(dead_code, reason = "held for what their drop gives back")]
enum Hold {
    Shared,
    Spare(OwnedSemaphorePermit),
    OnlyShared(OwnedRwLockReadGuard<()>),
    OnlyAlone(OwnedRwLockWriteGuard<()>),
}

/// Why a case gets no edge.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LeaseError {
    /// The edge did not start.
    #[error(transparent)]
    Start(#[from] Arc<StartError>),
    /// The mock service did not start; what the system said.
    #[error("start the mock service: {0}")]
    Service(String),
}

impl miette::Diagnostic for LeaseError {
    /// What the edge wrote last, and what to do.
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        match self {
            Self::Start(why) => why.help(),
            Self::Service(_) => None,
        }
    }
}

impl EdgePool {
    /// A edge_pool without edges yet. Fails where the mock service cannot listen.
    pub async fn new(options: EdgePoolOptions) -> Result<Self, LeaseError> {
        let options = Arc::new(options);
        let elsewhere = Arc::new(options.service(None).await?);
        // A port that is in use is found before anything runs.
        let listening = match &options.behind {
            EdgeUpstream::Listening(address, _) => Some(Arc::new(options.service(Some(*address)).await?)),
            EdgeUpstream::Each | EdgeUpstream::Nothing(..) => None,
        };
        Ok(Self { options, pools: Mutex::default(), elsewhere, listening })
    }

    /// Whether edges can be started with other settings.
    pub fn starts_edges(&self) -> bool {
        matches!(self.options.behind, EdgeUpstream::Each)
    }

    /// What the edge_pool is made from.
    pub fn options(&self) -> &EdgePoolOptions {
        &self.options
    }

    /// A place on an edge: one that is shared with others, or one for itself. Waits for it.
    pub async fn reserve(&self, setup: Setup, alone: bool) -> Reservation {
        let pool = self.pool(setup);
        let hold = match (self.starts_edges(), alone) {
            (true, false) => Hold::Shared,
            (true, true) => Hold::Spare(
                Arc::clone(&pool.places).acquire_owned().await.expect("the semaphore is never closed"),
            ),
            (false, false) => Hold::OnlyShared(Arc::clone(&pool.only).read_owned().await),
            (false, true) => Hold::OnlyAlone(Arc::clone(&pool.only).write_owned().await),
        };
        Reservation { pool, hold }
    }

    /// The edge of a place, started if need be.
    pub async fn lease(&self, place: Reservation) -> Result<Lease, LeaseError> {
        let Reservation { pool, hold } = place;
        let instance = match hold {
            Hold::Spare(_) => self.spare(&pool).await?,
            _ => self.shared(&pool).await?,
        };
        Ok(Lease { instance, pool, hold })
    }

    /// Ends all edges and services, those with much to do side by side.
    pub async fn stop(self) {
        let pools = self.pools.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut instances = Vec::new();
        for pool in pools.into_values() {
            instances.append(&mut pool.spare());
            instances.extend(pool.shared.lock().await.take().and_then(Result::ok));
        }
        let stops = instances.into_iter().filter_map(Arc::into_inner).map(|instance| async move {
            instance.edge.stop().await;
        });
        join_all(stops).await;
    }

    async fn spare(&self, pool: &SetupPool) -> Result<Arc<EdgeInstance>, LeaseError> {
        let waiting = pool.spare().pop();
        match waiting {
            Some(instance) if instance.edge.exited().is_none() => Ok(instance),
            _ => Ok(Arc::new(self.start(pool.setup).await?)),
        }
    }

    async fn shared(&self, pool: &SetupPool) -> Result<Arc<EdgeInstance>, LeaseError> {
        let mut shared = pool.shared.lock().await;
        match shared.as_ref() {
            Some(Ok(instance)) if instance.edge.exited().is_none() => return Ok(Arc::clone(instance)),
            // One that did not start once does not start for the next case either.
            Some(Err(why)) => return Err(LeaseError::Start(Arc::clone(why))),
            _ => {}
        }
        match self.start(pool.setup).await {
            Ok(instance) => {
                let instance = Arc::new(instance);
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

    async fn start(&self, setup: Setup) -> Result<EdgeInstance, LeaseError> {
        let options = &self.options;
        let (service, settings, held) = match &options.behind {
            EdgeUpstream::Each => {
                let service = options.service(None).await?;
                let held = (setup == Setup::PortClosed)
                    .then(HeldPort::bind)
                    .transpose()
                    .map_err(|why| LeaseError::Service(why.to_string()))?;
                let url = held
                    .as_ref()
                    .map_or(service.url(), |held| format!("https://localhost:{}", held.addr().port()));
                let settings = setup.settings(&options.credentials, &options.files, &url);
                (Some(Arc::new(service)), Some(settings), held)
            }
            EdgeUpstream::Listening(_, settings) => (self.listening.clone(), Some(settings.clone()), None),
            EdgeUpstream::Nothing(..) => (None, None, None),
        };
        let given = settings.clone().unwrap_or_default();
        let edge = options.target.start(&given).await.map_err(|why| LeaseError::Start(Arc::new(why)))?;
        let origin = match &options.behind {
            EdgeUpstream::Nothing(origin, _) => origin.clone(),
            _ => given.allowed_origin.clone(),
        };
        let context = EdgeContext {
            finished: parking_lot::Mutex::default(),
            endpoint: edge.endpoint().clone(),
            service,
            elsewhere: Some(Arc::clone(&self.elsewhere)),
            log: edge.log().cloned(),
            credentials: Arc::clone(&options.credentials),
            redactor: Arc::clone(&options.redactor),
            license: given.license.as_ref().map(|license| license.expose().to_owned()),
            origin,
        };
        Ok(EdgeInstance { edge, settings, context: Arc::new(context), _held: held })
    }

    fn pool(&self, setup: Setup) -> Arc<SetupPool> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = pools.entry(setup).or_insert_with(|| {
            Arc::new(SetupPool {
                setup,
                shared: tokio::sync::Mutex::default(),
                spare: Mutex::default(),
                places: Arc::new(Semaphore::new(self.options.spare.max(1))),
                only: Arc::default(),
            })
        });
        Arc::clone(pool)
    }
}

impl Lease {
    /// Gives the edge back. `sound`: it works as it did; otherwise the next case gets another one, where there can be one.
    pub fn give_back(self, sound: bool) {
        if matches!(self.hold, Hold::Spare(_)) && sound {
            self.pool.spare().push(self.instance);
        }
    }

    /// Ends the edge, so that it writes all that it has to write; where it is not ours to end, or others use it, it
    /// lives on.
    pub async fn end(self) {
        if let Some(instance) = Arc::into_inner(self.instance) {
            instance.edge.stop().await;
        }
    }

    /// Whether nobody else uses the edge.
    pub fn is_alone(&self) -> bool {
        matches!(self.hold, Hold::Spare(_) | Hold::OnlyAlone(_))
    }
}

impl SetupPool {
    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<Arc<EdgeInstance>>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EdgePoolOptions {
    async fn service(&self, address: Option<SocketAddr>) -> Result<MockService, LeaseError> {
        let mut options = ServiceOptions::new(Arc::clone(&self.spec), Arc::clone(&self.credentials));
        options.profile = self.profile.clone();
        options.reply_shape = self.shape.clone();
        if let Some(address) = address {
            options.listener = address.into();
        }
        MockService::start_with(options).await.map_err(|why| LeaseError::Service(why.to_string()))
    }
}
