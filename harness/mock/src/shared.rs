use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use edgeproof_fixtures::credentials::{Credentials, Role};
use edgeproof_fixtures::spec::{CertificateRefusal, Fact, Profile, Spec};

use super::clock::Clock;
use super::facts::Outage;
use super::fault_hooks::ServiceFaultHooks;
use super::journal::Journal;
use super::key_store::KeyStore;
use super::registry::Registry;
use super::replay::Replays;
use super::reply_shape::ReplyShape;
use super::route::Paths;
use super::script::ListenerMode;
use super::service::ServiceOptions;
use super::sessions::Sessions;
use super::verdict_facts::ReadOutage;
use crate::magic::Magic;
use edgeproof_http::{ClientAuth, server_config};
use edgeproof_http::{Limits, ListenerProtocol};

/// What all requests of a mock service share.
pub(super) struct Shared {
    pub(super) journal: Arc<Journal>,
    pub(super) registry: Arc<Registry>,
    pub(super) clock: Clock,
    pub(super) sessions: Sessions,
    pub(super) replays: Replays,
    pub(super) keys: KeyStore,
    /// Where magic values are heeded.
    pub(super) magic: Option<Magic>,
    pub(super) spec: Arc<Spec>,
    pub(super) profile: Profile,
    pub(super) credentials: Arc<Credentials>,
    pub(super) reply_shape: ReplyShape,
    pub(super) paths: Paths,
    pub(super) limits: Limits,
    pub(super) hooks: Arc<dyn ServiceFaultHooks>,
    /// Age up to which a verdict is found (8).
    pub(super) verdict_lasts: Duration,
    /// How long a key set may be kept at most (8), where the tables say so.
    pub(super) key_set_lasts: Option<Duration>,
    faults: Mutex<Faults>,
}

/// What is wrong with the service, or slow.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Faults {
    pub(super) outage: Option<Outage>,
    pub(super) read_outage: Option<ReadOutage>,
    /// From the acceptance of a collection to its verdict.
    pub(super) verdict_delay: Duration,
}

impl Shared {
    /// Sets everything up but the sockets.
    pub(super) fn new(options: &ServiceOptions) -> Self {
        let ServiceOptions { spec, profile, credentials, .. } = options;
        let verdict_lasts = limit(spec, "limit.verdict-age").unwrap_or(Duration::MAX);
        let verdict_lasts = options.hooks.verdict_lasts(verdict_lasts);
        let key_set_lasts = limit(spec, "limit.key-set-cache");
        // What a key signed last is found so long, and a key set without it may be kept so long.
        let keeps = verdict_lasts.saturating_add(profile.keys_max_age);
        Self {
            journal: Arc::new(Journal::new(options.journal).observed(options.observer.clone())),
            magic: options.magic.then(|| Magic::of(spec)),
            registry: Arc::default(),
            clock: options.clock.clone(),
            sessions: Sessions::new(options.sessions, verdict_lasts),
            replays: Replays::new(profile.replay_window, profile.replay_entries),
            keys: KeyStore::new(credentials.verdict_keys().clone(), credentials.seal_keys().clone(), keeps),
            paths: Paths::of(spec),
            reply_shape: options.reply_shape.clone(),
            limits: options.limits,
            hooks: Arc::clone(&options.hooks),
            verdict_lasts,
            key_set_lasts,
            faults: Mutex::new(Faults { verdict_delay: options.verdict_delay, ..Faults::default() }),
            spec: Arc::clone(spec),
            profile: profile.clone(),
            credentials: Arc::clone(credentials),
        }
    }

    pub(super) fn faults(&self) -> Faults {
        *self.lock_faults()
    }

    pub(super) fn change_faults(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.lock_faults());
    }

    /// What a mode shows to whoever connects. Fails if a loaded certificate doesn't belong to its key.
    pub(super) fn protocol(&self, mode: ListenerMode) -> io::Result<ListenerProtocol> {
        let role = match mode {
            ListenerMode::Tls(role) => role,
            ListenerMode::PlainHttp => return Ok(ListenerProtocol::Plain),
            ListenerMode::Garbage => return Ok(ListenerProtocol::Garbage),
            ListenerMode::Closes => return Ok(ListenerProtocol::Closes),
        };
        let certificate = self.credentials.certificate(role);
        let clients = match self.profile.certificate_refusal {
            CertificateRefusal::Answer => ClientAuth::AnyOrNone,
            CertificateRefusal::Handshake => {
                ClientAuth::From(self.credentials.certificate(Role::ClientAuthority).der())
            }
        };
        let config = server_config(certificate.chain_der(), certificate.key_der(), clients);
        config.map(ListenerProtocol::Tls).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("serve TLS as {role}: {error}"))
        })
    }

    /// A panic elsewhere leaves nothing half done in here.
    fn lock_faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A limit in seconds.
fn limit(spec: &Spec, id: &str) -> Option<Duration> {
    match spec.row(id)?.fact {
        Fact::Limit { value: Some(seconds), .. } => Some(Duration::from_secs(seconds)),
        _ => None,
    }
}
