use std::sync::Arc;

use edgeproof_targets::StartError;
use parking_lot::Mutex;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock, Semaphore};

use super::pool::EdgeInstance;
use crate::cases::Setup;

/// A reserved edge, which may not have started yet.
pub(super) struct Reservation {
    pub(super) pool: Arc<SetupPool>,
    pub(super) permit: Permit,
}

/// An edge that a case may use until the lease is dropped.
pub(super) struct Lease {
    pub(super) instance: Arc<EdgeInstance>,
    pub(super) pool: Arc<SetupPool>,
    pub(super) permit: Permit,
}

impl Lease {
    /// Returns the edge to the pool if it still runs and is `reusable`; otherwise stops it, so that it writes its buffered
    /// log. A shared or attached edge keeps running.
    pub(super) async fn finish(self, reusable: bool) {
        if !matches!(self.permit, Permit::Exclusive(_)) {
            return;
        }
        if reusable && self.instance.edge.exited().is_none() {
            self.pool.idle.lock().push(self.instance);
        } else if let Some(instance) = Arc::into_inner(self.instance) {
            instance.edge.stop().await;
        }
    }

    /// Whether no other case uses the edge.
    pub(super) fn is_exclusive(&self) -> bool {
        matches!(self.permit, Permit::Exclusive(_) | Permit::AttachedExclusive(_))
    }
}

/// Edges with the same settings.
pub(super) struct SetupPool {
    pub(super) setup: Setup,
    /// The edge that cases share, or why it did not start.
    pub(super) shared: tokio::sync::Mutex<Option<Result<Arc<EdgeInstance>, Arc<StartError>>>>,
    /// Idle edges for exclusive leases.
    pub(super) idle: Mutex<Vec<Arc<EdgeInstance>>>,
    pub(super) exclusive: Arc<Semaphore>,
    /// Guards an attached edge, which exists only once.
    pub(super) attached: Arc<RwLock<()>>,
}

#[expect(dead_code, reason = "held for what their drop releases")]
pub(super) enum Permit {
    Shared,
    Exclusive(OwnedSemaphorePermit),
    AttachedShared(OwnedRwLockReadGuard<()>),
    AttachedExclusive(OwnedRwLockWriteGuard<()>),
}

impl SetupPool {
    /// A pool without edges. `max_exclusive`: most edges that are leased exclusively at the same time.
    pub(super) fn new(setup: Setup, max_exclusive: usize) -> Self {
        Self {
            setup,
            shared: tokio::sync::Mutex::default(),
            idle: Mutex::default(),
            exclusive: Arc::new(Semaphore::new(max_exclusive.max(1))),
            attached: Arc::default(),
        }
    }
}
