use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{Credentials, VerifiedTokens};
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::Limits;
use parking_lot::Mutex;

use super::{ReplayStore, ServiceFaults, SessionStore};
use crate::clock::Clock;
use crate::decision::ReplyShape;
use crate::fault_hooks::ServiceFaultHooks;
use crate::journal::Journal;
use crate::keys::KeyStore;
use crate::magic::Magic;
use crate::options::ServiceOptions;
use crate::route::Router;
use crate::scripts::Registry;

/// Lifetime of verdicts in a version without a limit: longer than any run, and an end of tokens that makes sense.
const UNLIMITED: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// State that all requests of a mock service share.
pub(crate) struct ServiceState {
    pub(crate) journal: Arc<Journal>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) clock: Clock,
    pub(crate) sessions: SessionStore,
    pub(crate) replays: ReplayStore,
    pub(crate) keys: KeyStore,
    /// Magic values, if they are enabled.
    pub(crate) magic: Option<Magic>,
    pub(crate) spec: Arc<Spec>,
    pub(crate) profile: Profile,
    pub(crate) credentials: Arc<Credentials>,
    /// Licenses and read tokens with valid signatures.
    pub(crate) tokens: VerifiedTokens,
    pub(crate) reply_shape: ReplyShape,
    pub(crate) router: Router,
    pub(crate) limits: Limits,
    pub(crate) verifies_on_blocking_threads: bool,
    pub(crate) hooks: Arc<dyn ServiceFaultHooks>,
    /// Lifetime of a verdict (8).
    pub(crate) verdict_lifetime: Duration,
    /// Read tokens that a test revoked.
    pub(crate) revoked: Mutex<HashSet<String>>,
    faults: Mutex<ServiceFaults>,
}

/// Verified tokens that the service keeps (maximum), in at most about 20 MiB.
const TOKENS: NonZeroUsize = NonZeroUsize::new(4096).expect("4096 is not zero");

impl ServiceState {
    /// State for these options.
    pub(crate) fn new(options: &ServiceOptions) -> Self {
        let ServiceOptions { spec, profile, credentials, .. } = options;
        let verdict_lifetime = spec.limit("limit.verdict-age").unwrap_or(UNLIMITED);
        let verdict_lifetime = options.hooks.verdict_lasts(verdict_lifetime);
        // A retired key verifies the last verdict that it signed, and a cached key set may still contain it.
        let retirement = verdict_lifetime.saturating_add(profile.keys_max_age);
        Self {
            journal: Arc::new(Journal::new(options.journal, options.observer.clone())),
            magic: options.magic.then(|| Magic::of(spec)),
            registry: Arc::default(),
            clock: options.clock.clone(),
            sessions: SessionStore::new(options.sessions, verdict_lifetime),
            replays: ReplayStore::new(profile.replay_window, profile.replay_entries),
            keys: KeyStore::new(
                credentials.verdict_keys().clone(),
                credentials.seal_keys().clone(),
                retirement,
            ),
            router: Router::new(spec),
            reply_shape: options.reply_shape.clone(),
            limits: options.limits,
            verifies_on_blocking_threads: options.verify_on_blocking_threads,
            hooks: Arc::clone(&options.hooks),
            verdict_lifetime,
            revoked: Mutex::default(),
            faults: Mutex::new(ServiceFaults {
                verdict_delay: options.verdict_delay,
                ..ServiceFaults::default()
            }),
            spec: Arc::clone(spec),
            profile: profile.clone(),
            credentials: Arc::clone(credentials),
            tokens: VerifiedTokens::new(TOKENS),
        }
    }

    pub(crate) fn faults(&self) -> ServiceFaults {
        *self.faults.lock()
    }

    pub(crate) fn change_faults(&self, change: impl FnOnce(&mut ServiceFaults)) {
        change(&mut self.faults.lock());
    }
}
