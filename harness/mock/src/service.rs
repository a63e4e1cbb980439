use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use edgeproof_fixtures::credentials::Credentials;
use edgeproof_fixtures::seal::{Collection, SealPublicKey};
use edgeproof_fixtures::spec::{Profile, Spec, Version};
use edgeproof_http::{ListenerProtocol, Server};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::decision::{Outage, ReadOutage, ReplyShape};
use crate::http;
use crate::journal::Arrival;
use crate::listener::{ListenerMode, bind, protocol};
use crate::options::ServiceOptions;
use crate::scripts::{Match, Script, Scripted};
use crate::state::{NewSession, ServiceFaults, ServiceState};

/// The service, as a mock: it takes collections from edges, gives verdicts to backends, and publishes its key set. It
/// judges license, client certificate, collection and read token for real, answers the row of the tables that applies,
/// or does what a [`Script`] says; and it records what arrives. What is posted is a relayed collection, whatever its path
/// is and whichever header holds the license. Dropping it ends everything at once.
///
/// A backend under test polls `/v1/verdict/{sessionRef}` below [`MockService::url`]:
///
/// ```
/// use std::time::Duration;
/// use edgeproof_fixtures::credentials::ReadTokenForm;
/// use edgeproof_mock::{ServiceEndpoint, ListenerMode, MockService, NewSession, Ready, ServiceOptions};
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let options = ServiceOptions { mode: ListenerMode::PlainHttp, ..ServiceOptions::default() };
/// let service = MockService::start(options).await?;
/// let read_token = service.credentials().read_token(ReadTokenForm::Valid);
///
/// // A session whose verdict takes a minute: no test has to wait that long.
/// service.add_session(NewSession::new("order 4711").ready(Ready::After(Duration::from_secs(60))));
/// let backend = tokio::spawn(get(service.addr(), "/v1/verdict/order%204711?waitMs=30000", read_token));
/// service.polls().wait_for(|waiting| *waiting == 1).await.expect("the service runs");
/// service.clock().advance(Duration::from_secs(60));
/// let answer = backend.await??;
/// assert!(answer.starts_with("HTTP/1.1 200 OK"));
/// assert!(answer.contains(r#"{"ref":"order 4711","decision":"allow""#));
/// assert_eq!(service.journal()[0].endpoint, ServiceEndpoint::Verdict);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// #
/// # async fn get(addr: std::net::SocketAddr, path: &str, token: String) -> std::io::Result<String> {
/// #     use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// #     let mut stream = tokio::net::TcpStream::connect(addr).await?;
/// #     let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
/// #     stream.write_all(format!("{head}Authorization: Bearer {token}\r\n\r\n").as_bytes()).await?;
/// #     let mut answer = String::new();
/// #     stream.read_to_string(&mut answer).await?;
/// #     Ok(answer)
/// # }
/// ```
pub struct MockService {
    server: Server,
    plain: Option<Server>,
    state: Arc<ServiceState>,
    mode: Mutex<ListenerMode>,
}

/// Time for requests in flight when a mock service stops.
const GRACE: Duration = Duration::from_secs(2);

impl MockService {
    /// Starts it. It answers when this returns. Fails if the address is taken, or if a loaded certificate doesn't
    /// belong to its key.
    pub async fn start(options: ServiceOptions) -> io::Result<Self> {
        let state = Arc::new(ServiceState::new(&options));
        let ServiceOptions { listener, plain, mode, limits, .. } = options;
        let listener = bind(listener).await?;
        let plain = match plain {
            Some(listen) => Some(bind(listen).await?),
            None => None,
        };
        let serve = |listener, protocol| {
            let state = Arc::clone(&state);
            Server::start(listener, protocol, limits, move |request, peer| {
                http::handle(Arc::clone(&state), request, peer)
            })
        };
        let server = serve(listener, protocol(mode, &state.credentials, &state.profile)?)?;
        let plain = plain.map(|listener| serve(listener, ListenerProtocol::Plain)).transpose()?;
        Ok(Self { server, plain, state, mode: Mutex::new(mode) })
    }

    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Its address as `SERVICE_URL` holds it, by the name `localhost`.
    pub fn url(&self) -> String {
        let scheme = if *self.mode.lock() == ListenerMode::PlainHttp { "http" } else { "https" };
        format!("{scheme}://localhost:{}", self.addr().port())
    }

    /// The second address, without TLS.
    pub fn plain_addr(&self) -> Option<SocketAddr> {
        self.plain.as_ref().map(Server::addr)
    }

    /// What it was set up with: its licenses, read tokens and certificates.
    pub fn credentials(&self) -> &Arc<Credentials> {
        &self.state.credentials
    }

    /// The interface that it keeps.
    pub fn spec(&self) -> &Arc<Spec> {
        &self.state.spec
    }

    /// What it does where the interface shows nothing.
    pub fn profile(&self) -> &Profile {
        &self.state.profile
    }

    /// Body of its refusals to edges.
    pub fn reply_shape(&self) -> &ReplyShape {
        &self.state.reply_shape
    }

    /// Its time, to be moved.
    pub fn clock(&self) -> &Clock {
        &self.state.clock
    }

    /// Registers a script for some requests. Of several that are for a request, one that is for less goes before one for
    /// all, and a later one before an earlier one. It ends when the guard is dropped.
    ///
    /// # Panics
    /// If the script has no reply, or one that can't be said in HTTP.
    pub fn script(&self, on: Match, script: Script) -> Scripted {
        self.state.registry.add(on, script)
    }

    /// Shows something else to whoever connects. Ends the open connections; no TLS session of theirs is resumed.
    pub async fn set_mode(&self, mode: ListenerMode) -> io::Result<()> {
        let protocol = protocol(mode, &self.state.credentials, &self.state.profile)?;
        *self.mode.lock() = mode;
        self.server.set_protocol(protocol).await;
        Ok(())
    }

    /// What it shows to whoever connects.
    pub fn mode(&self) -> ListenerMode {
        *self.mode.lock()
    }

    /// Lets license checks fail for a reason of the service's own, or be as usual.
    pub fn set_outage(&self, outage: Option<Outage>) {
        self.state.change_faults(|faults| faults.outage = outage);
    }

    /// Lets read token checks fail for a reason of the service's own, or be as usual.
    pub fn set_read_outage(&self, outage: Option<ReadOutage>) {
        self.state.change_faults(|faults| faults.read_outage = outage);
    }

    /// Lets so much time pass between the acceptance of a collection, from now on, and its verdict.
    pub fn set_verdict_delay(&self, delay: Duration) {
        self.state.change_faults(|faults| faults.verdict_delay = delay);
    }

    /// Adds a session. It takes the place of one with the same reference under the same license; who waits for
    /// its verdict gets it as soon as it is there.
    pub fn add_session(&self, session: NewSession) {
        let license_id = session.license_id.clone();
        let license_id = license_id.as_deref().unwrap_or_else(|| self.state.credentials.license_id());
        self.state.sessions.add(session, license_id, self.state.clock.now());
    }

    /// How many requests wait for a verdict now, as it changes.
    pub fn polls(&self) -> watch::Receiver<usize> {
        self.state.sessions.waiting()
    }

    /// Signs verdicts with a new key from now on: the one that was announced last, or else one of its own. Yields its id.
    /// The key before it stays in the key set until neither a verdict that it signed is found nor a key set of that time
    /// may be kept: seven minutes, by the clock.
    pub fn rotate_keys(&self) -> String {
        self.state.keys.rotate(self.state.clock.now())
    }

    /// Publishes a new key that signs nothing before the next rotation. Yields its id.
    pub fn announce_key(&self) -> String {
        self.state.keys.announce()
    }

    /// The key that up-to-date collectors seal to.
    pub fn seal_key(&self) -> SealPublicKey {
        self.state.keys.seal().current().clone()
    }

    /// A collection as a page of this version of the interface posts it: sealed to the current key, or, before there were
    /// seals (9.3), as it is.
    pub fn posted_form(&self, collection: &Collection) -> Vec<u8> {
        match self.state.spec.version() {
            Version::Current => collection.seal(&self.seal_key()),
            Version::PreSeal => collection.to_json().into_bytes(),
        }
    }

    /// Lets up-to-date collectors seal to a new key. Those sealed to keys before it are accepted until these are retired.
    pub fn rotate_seal_key(&self) -> SealPublicKey {
        self.state.keys.rotate_seal()
    }

    /// Accepts no collection any more that is sealed to this key. False for the current key, and for unknown ones.
    pub fn retire_seal_key(&self, key_id: &str) -> bool {
        self.state.keys.retire_seal(key_id)
    }

    /// Forgets sessions, accepted collections and the journal; ends outages and delays; lets the clock show the time.
    /// Keys and scripts stay as they are.
    pub fn reset(&self) {
        self.state.change_faults(|faults| *faults = ServiceFaults::default());
        self.state.sessions.clear();
        self.state.replays.clear();
        self.state.journal.clear();
        self.state.clock.set_offset(0);
    }

    /// Forgets what arrived. The numbers go on.
    pub fn clear_journal(&self) {
        self.state.journal.clear();
    }

    /// What arrived, as far as it is kept, in its order.
    pub fn journal(&self) -> Vec<Arrival> {
        self.arrivals_since(0)
    }

    /// The number that the next arrival gets: a mark for [`Self::arrivals_since`].
    pub fn mark(&self) -> u64 {
        self.state.journal.next()
    }

    /// What arrived from a mark on, as far as it is kept.
    pub fn arrivals_since(&self, mark: u64) -> Vec<Arrival> {
        self.state.journal.since(mark)
    }

    /// What arrived from a mark on that no script was for.
    pub fn unclaimed_since(&self, mark: u64) -> Vec<Arrival> {
        let mut arrivals = self.arrivals_since(mark);
        arrivals.retain(|arrival| !arrival.claimed);
        arrivals
    }

    /// How many connections were accepted, with or without TLS or a request on them.
    pub fn connections_accepted(&self) -> u64 {
        let plain = self.plain.as_ref().map_or(0, Server::connections_accepted);
        self.server.connections_accepted() + plain
    }

    /// Ends all connections, as if they had been idle too long, and goes on listening. They are closed when this
    /// returns.
    pub async fn close_connections(&self) {
        self.server.close_connections().await;
        if let Some(plain) = &self.plain {
            plain.close_connections().await;
        }
    }

    /// Stops listening, lets requests in flight finish for two seconds at most, and ends. Who waits for a verdict is
    /// answered at once.
    pub async fn stop(self) {
        self.state.sessions.close();
        let plain = async {
            if let Some(plain) = self.plain {
                plain.stop(GRACE).await;
            }
        };
        tokio::join!(self.server.stop(GRACE), plain);
    }
}

impl fmt::Debug for MockService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockService").field("url", &self.url()).finish_non_exhaustive()
    }
}
