use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use std::{fmt, io};

use fixtures::credentials::{Credentials, MintOptions, Role};
use fixtures::spec::{CertificateRefusal, Profile, Spec, Version};
use tokio::net::TcpListener;

use super::arrival::Arrival;
use super::decide::{Decision, decide};
use super::facts::{Facts, Outage, Seen};
use super::journal::{Journal, Recording};
use super::listener::{Front, Limits, Server};
use super::registry::{Registry, Scripted};
use super::relay;
use super::reply_shape::ReplyShape;
use super::script::{Facade, Match, Script};
use super::tls::{ClientAuth, server_config};

/// The service that an edge relays to, as a mock: it verifies license and client certificate and answers the row of the
/// tables that applies, or does what a [`Script`] says; and it records what arrives. It takes any path and any
/// header. Dropping it ends everything at once.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// use harness::mock::{MockService, ServiceOptions};
///
/// let service = MockService::start(ServiceOptions::default()).await?;
/// // Let the edge under test relay to `service.url()`, post a collection to it, then:
/// let arrivals = service.journal();
/// # Ok(()) }
/// ```
pub struct MockService {
    server: Server,
    shared: Arc<Shared>,
    facade: Mutex<Facade>,
}

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
    pub facade: Facade,
    /// Body of its refusals.
    pub reply_shape: ReplyShape,
    /// What connections may cost.
    pub limits: Limits,
    /// Arrivals that its journal keeps; of their bodies 64 MiB in all.
    pub journal: usize,
}

/// Where a mock service listens.
#[derive(Debug)]
pub enum Listen {
    /// On this address; port 0 lets the system choose.
    At(SocketAddr),
    /// On this socket.
    On(TcpListener),
}

/// What all requests share.
pub(super) struct Shared {
    pub(super) journal: Arc<Journal>,
    pub(super) registry: Arc<Registry>,
    spec: Arc<Spec>,
    profile: Profile,
    credentials: Arc<Credentials>,
    reply_shape: ReplyShape,
    outage: Mutex<Option<Outage>>,
}

/// Time for requests in flight when a mock service stops.
const GRACE: Duration = Duration::from_secs(2);

impl ServiceOptions {
    /// As the tables' reference profile says, with TLS on a free port of the loopback interface.
    pub fn new(spec: Arc<Spec>, credentials: Arc<Credentials>) -> Self {
        Self {
            profile: spec.profile().clone(),
            credentials,
            listener: Listen::At((Ipv4Addr::LOCALHOST, 0).into()),
            facade: Facade::Tls(Role::ServiceServer),
            reply_shape: ReplyShape::from_profile(spec.profile()),
            limits: Limits::default(),
            journal: 4096,
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

impl From<SocketAddr> for Listen {
    fn from(addr: SocketAddr) -> Self {
        Self::At(addr)
    }
}

impl From<TcpListener> for Listen {
    fn from(listener: TcpListener) -> Self {
        Self::On(listener)
    }
}

impl MockService {
    /// Starts it. It answers when this returns. Fails if the address is taken, or if a loaded certificate doesn't
    /// belong to its key.
    pub async fn start(options: ServiceOptions) -> io::Result<Self> {
        let listener = match options.listener {
            Listen::On(listener) => listener,
            Listen::At(addr) => TcpListener::bind(addr)
                .await
                .map_err(|error| io::Error::new(error.kind(), format!("listen on {addr}: {error}")))?,
        };
        let shared = Arc::new(Shared {
            journal: Arc::new(Journal::new(options.journal)),
            registry: Arc::default(),
            spec: options.spec,
            profile: options.profile,
            credentials: options.credentials,
            reply_shape: options.reply_shape,
            outage: Mutex::default(),
        });
        let front = shared.front(options.facade)?;
        let requests = Arc::clone(&shared);
        let server = Server::start(listener, front, options.limits, move |request, peer| {
            relay::handle(Arc::clone(&requests), request, peer)
        })?;
        Ok(Self { server, shared, facade: Mutex::new(options.facade) })
    }

    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Its address as `SERVICE_URL` holds it, by the name `localhost`.
    pub fn url(&self) -> String {
        let scheme = if *lock(&self.facade) == Facade::PlainHttp { "http" } else { "https" };
        format!("{scheme}://localhost:{}", self.addr().port())
    }

    /// Registers a script for some requests. Of several that are for a request, one with a marker goes before one for
    /// everything, and a later one before an earlier one. It ends when the guard is dropped.
    ///
    /// # Panics
    /// If the script has no reply, or one that can't be said in HTTP.
    pub fn script(&self, on: Match, script: Script) -> Scripted {
        self.shared.registry.add(on, script)
    }

    /// Shows something else to whoever connects. Ends the open connections; no TLS session of theirs is resumed.
    pub async fn set_facade(&self, facade: Facade) -> io::Result<()> {
        let front = self.shared.front(facade)?;
        *lock(&self.facade) = facade;
        self.server.set_front(front).await;
        Ok(())
    }

    /// What it shows to whoever connects.
    pub fn facade(&self) -> Facade {
        *lock(&self.facade)
    }

    /// Lets license checks fail for a reason of the service's own, or be as usual.
    pub fn set_outage(&self, outage: Option<Outage>) {
        *lock(&self.shared.outage) = outage;
    }

    /// What arrived, as far as it is kept, in its order.
    pub fn journal(&self) -> Vec<Arrival> {
        self.arrivals_since(0)
    }

    /// The number that the next arrival gets: a mark for [`Self::arrivals_since`].
    pub fn mark(&self) -> u64 {
        self.shared.journal.next()
    }

    /// What arrived from a mark on, as far as it is kept.
    pub fn arrivals_since(&self, mark: u64) -> Vec<Arrival> {
        self.shared.journal.since(mark)
    }

    /// What arrived from a mark on that no script was for.
    pub fn unclaimed_since(&self, mark: u64) -> Vec<Arrival> {
        let mut arrivals = self.arrivals_since(mark);
        arrivals.retain(|arrival| !arrival.claimed);
        arrivals
    }

    /// How many connections were accepted, with or without TLS or a request on them.
    pub fn connections_accepted(&self) -> u64 {
        self.server.connections_accepted()
    }

    /// Ends all connections, as if they had been idle too long, and goes on listening. They are closed when this
    /// returns.
    pub async fn close_connections(&self) {
        self.server.close_connections().await;
    }

    /// Stops listening, lets requests in flight finish for two seconds at most, and ends.
    pub async fn stop(self) {
        self.server.stop(GRACE).await;
    }
}

impl fmt::Debug for MockService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockService").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Shared {
    /// What the mock service answers to a request that no script is for.
    pub(super) fn decide(&self, recording: &Recording) -> Decision {
        let entry = recording.entry();
        let seen = Seen {
            target: entry.target(),
            headers: entry.headers(),
            client_certificates: entry.client_certificates(),
            body: recording.body(),
            body_length: recording.length(),
        };
        let outage = *lock(&self.outage);
        let facts = Facts::of(seen, &self.credentials, outage, SystemTime::now());
        decide(&self.spec, &self.profile, &self.reply_shape, &facts)
    }

    fn front(&self, facade: Facade) -> io::Result<Front> {
        let role = match facade {
            Facade::Tls(role) => role,
            Facade::PlainHttp => return Ok(Front::Plain),
            Facade::Garbage => return Ok(Front::Garbage),
            Facade::Closes => return Ok(Front::Closes),
        };
        let certificate = self.credentials.certificate(role);
        let clients = match self.profile.certificate_refusal {
            CertificateRefusal::Answer => ClientAuth::AnyOrNone,
            CertificateRefusal::Handshake => {
                ClientAuth::From(self.credentials.certificate(Role::ClientAuthority).der())
            }
        };
        let config = server_config(certificate.chain_der(), certificate.key_der(), clients);
        config.map(Front::Tls).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("serve TLS as {role}: {error}"))
        })
    }
}

/// A panic elsewhere leaves nothing half done in here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
