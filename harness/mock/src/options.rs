use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{Credentials, MintOptions, Role};
use edgeproof_fixtures::spec::{Profile, Spec, Version};
use edgeproof_http::Limits;

use crate::clock::Clock;
use crate::decision::ReplyShape;
use crate::fault_hooks::{NoFaults, ServiceFaultHooks};
use crate::journal::Observer;
use crate::listener::{Listen, ListenerMode};

/// How a mock service is set up.
#[derive(Debug)]
pub struct ServiceOptions {
    /// The interface that it keeps.
    pub spec: Arc<Spec>,
    /// What it does where the interface shows nothing.
    pub profile: Profile,
    /// Its server certificate, the client authority, and the keys that licenses are verified with.
    pub credentials: Arc<Credentials>,
    /// Where it listens.
    pub listener: Listen,
    /// What its listener shows.
    pub mode: ListenerMode,
    /// Body of its refusals.
    pub reply_shape: ReplyShape,
    /// What connections may cost.
    pub limits: Limits,
    /// Arrivals that its journal keeps, of 72 MiB in all.
    pub journal: usize,
    /// A second address, where it serves the same without TLS: for backends that cannot be told an authority.
    pub plain: Option<Listen>,
    /// Its time.
    pub clock: Clock,
    /// From the acceptance of a collection to its verdict.
    pub verdict_delay: Duration,
    /// SessionStore that it keeps; the oldest goes first.
    pub sessions: usize,
    /// Whether [magic values](crate::magic) bring about their rows.
    pub magic: bool,
    /// Told of every request when it is finished.
    pub observer: Option<Observer>,
    /// Where it does other than it should: none but for deviations, which prove that the cases notice.
    pub hooks: Arc<dyn ServiceFaultHooks>,
}

/// Bytes of a head: so much that a read token of 100 KB is answered, and not cut off.
const HEAD_BYTES: usize = 256 * 1024;

impl ServiceOptions {
    /// As the tables' reference profile says, with TLS on a free port of the loopback interface.
    pub fn new(spec: Arc<Spec>, credentials: Arc<Credentials>) -> Self {
        Self {
            profile: spec.profile().clone(),
            credentials,
            listener: Listen::At((Ipv4Addr::LOCALHOST, 0).into()),
            mode: ListenerMode::Tls(Role::ServiceServer),
            reply_shape: ReplyShape::from_profile(spec.profile()),
            limits: Limits { head_bytes: HEAD_BYTES, ..Limits::default() },
            journal: 4096,
            plain: None,
            clock: Clock::default(),
            verdict_delay: Duration::ZERO,
            sessions: 100_000,
            magic: false,
            observer: None,
            hooks: Arc::new(NoFaults),
            spec,
        }
    }
}

impl Default for ServiceOptions {
    /// The current interface, with credentials of its own.
    fn default() -> Self {
        let credentials =
            Credentials::mint(&MintOptions::default()).expect("the default options name a valid host");
        Self::new(Arc::new(Spec::builtin(Version::Current)), Arc::new(credentials))
    }
}
