use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{Credentials, MintOptions, Role};
use edgeproof_fixtures::spec::{Profile, Spec, Version};
use edgeproof_http::Limits;

use crate::clock::Clock;
use crate::decision::ReplyShape;
use crate::fault_hooks::{NoServiceFaults, ServiceFaultHooks};
use crate::journal::Observer;
use crate::listener::{Listen, ListenerMode};

/// Settings of a mock service.
#[derive(Debug)]
pub struct ServiceOptions {
    /// Version of the interface.
    pub spec: Arc<Spec>,
    /// Behaviour at the points that the interface leaves open (default: the reference profile).
    pub profile: Profile,
    /// Server certificate, client authority, and the keys that verify licenses and read tokens.
    pub credentials: Arc<Credentials>,
    /// Where the service listens (default: a free port of the loopback interface).
    pub listener: Listen,
    /// Protocol of the listener (default: TLS).
    pub mode: ListenerMode,
    /// Body of a refusal (default: the profile's).
    pub reply_shape: ReplyShape,
    /// Limits of a connection.
    pub limits: Limits,
    /// Capacity of the journal, in requests (default: 4,096). The journal also holds at most 72 MiB.
    pub journal: usize,
    /// Second address, without TLS, for backends that accept no CA file (default: none).
    pub plain: Option<Listen>,
    /// Clock of the service.
    pub clock: Clock,
    /// Time between the acceptance of a collection and its verdict (default: zero).
    pub verdict_delay: Duration,
    /// Capacity for sessions (default: 100,000). A new session evicts the oldest one.
    pub sessions: usize,
    /// Enables [magic values](crate::magic) (default: off).
    pub magic: bool,
    /// Verifies collections on the runtime's blocking threads, for a single-threaded runtime (default: on the thread of
    /// the connection).
    pub verify_on_blocking_threads: bool,
    /// Callback for each finished request.
    pub observer: Option<Observer>,
    /// Fault hooks; no-op outside mutation runs.
    pub hooks: Arc<dyn ServiceFaultHooks>,
}

/// Limit of a request head, in bytes: a read token of 100 KB gets an answer.
const HEAD_BYTES: usize = 256 * 1024;

impl ServiceOptions {
    /// Defaults for these tables and credentials: the reference profile, and TLS on a free port of the loopback
    /// interface.
    pub fn new(spec: Arc<Spec>, credentials: Arc<Credentials>) -> Self {
        Self {
            profile: spec.profile().clone(),
            credentials,
            listener: free_port(),
            mode: ListenerMode::Tls(Role::ServiceServer),
            reply_shape: ReplyShape::from_profile(spec.profile()),
            limits: Limits { head_bytes: HEAD_BYTES, ..Limits::default() },
            journal: 4096,
            plain: None,
            clock: Clock::default(),
            verdict_delay: Duration::ZERO,
            sessions: 100_000,
            magic: false,
            verify_on_blocking_threads: false,
            observer: None,
            hooks: Arc::new(NoServiceFaults),
            spec,
        }
    }

    /// Adds a second address without TLS, on a free port of the loopback interface.
    #[must_use]
    pub fn with_plain_address(self) -> Self {
        Self { plain: Some(free_port()), ..self }
    }
}

impl Default for ServiceOptions {
    /// The current version of the interface, with fresh credentials.
    fn default() -> Self {
        let credentials =
            Credentials::mint(&MintOptions::default()).expect("the default options name a valid host");
        Self::new(Arc::new(Spec::builtin(Version::Current)), Arc::new(credentials))
    }
}

fn free_port() -> Listen {
    Listen::At((Ipv4Addr::LOCALHOST, 0).into())
}
