use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fmt, io};

use edgeproof_fixtures::credentials::Credentials;
use edgeproof_fixtures::seal::{Collection, SealPublicKey};
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::{ListenerProtocol, RequestViolation, Server};
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

/// A running mock service. Dropping it closes all connections.
///
/// It refuses a request with the row of the tables that applies, unless a [`Script`] replaces the answer. Every `POST`
/// is a relayed collection, whatever its path is and whichever header holds the license.
///
/// A test of a long poll moves the [`Clock`] instead of waiting:
///
/// ```
/// use std::time::Duration;
/// use edgeproof_fixtures::credentials::ReadTokenForm;
/// use edgeproof_mock::{MockService, NewSession, Ready, ServiceEndpoint};
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let service = MockService::start().await?;
/// let read_token = service.credentials().read_token(ReadTokenForm::Valid);
/// service.add_session(NewSession::new("order 4711").ready(Ready::After(Duration::from_secs(60))));
///
/// let address = service.plain_addr().expect("`start` opens an address without TLS");
/// let backend = tokio::spawn(get(address, "/v1/verdict/order%204711?waitMs=30000", read_token));
/// service.polls().wait_for(|waiting| *waiting == 1).await.expect("the service runs");
/// service.clock().advance(Duration::from_secs(60));
///
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
    /// It closed idle connections.
    closed: AtomicBool,
}

/// Time for requests in flight when a mock service stops.
const GRACE: Duration = Duration::from_secs(2);

impl MockService {
    /// Starts a mock service with defaults: the current interface, fresh credentials, TLS at [`Self::url`] and plain
    /// HTTP at [`Self::plain_url`]. It accepts connections when this returns.
    pub async fn start() -> io::Result<Self> {
        Self::start_with(ServiceOptions::default().with_plain_address()).await
    }

    /// Starts a mock service with these options. Fails if the address is in use, or if a loaded certificate does not
    /// match its key.
    pub async fn start_with(options: ServiceOptions) -> io::Result<Self> {
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
        Ok(Self { server, plain, state, mode: Mutex::new(mode), closed: AtomicBool::new(false) })
    }

    /// Stops listening, waits up to two seconds for requests in flight, and closes all connections. Waiting polls get
    /// their answer at once.
    pub async fn stop(self) {
        self.state.sessions.close();
        let plain = async {
            if let Some(plain) = self.plain {
                plain.stop(GRACE).await;
            }
        };
        tokio::join!(self.server.stop(GRACE), plain);
    }

    /// Address of the listener.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Base URL, as in an edge's `SERVICE_URL`, with the host name `localhost`.
    pub fn url(&self) -> String {
        let scheme = if *self.mode.lock() == ListenerMode::PlainHttp { "http" } else { "https" };
        format!("{scheme}://localhost:{}", self.addr().port())
    }

    /// Second address, without TLS.
    pub fn plain_addr(&self) -> Option<SocketAddr> {
        self.plain.as_ref().map(Server::addr)
    }

    /// Base URL of the second address, with its IP address.
    pub fn plain_url(&self) -> Option<String> {
        self.plain_addr().map(|addr| format!("http://{addr}"))
    }

    /// Licenses, read tokens, certificates and keys.
    pub fn credentials(&self) -> &Arc<Credentials> {
        &self.state.credentials
    }

    /// Tables of the interface.
    pub fn spec(&self) -> &Arc<Spec> {
        &self.state.spec
    }

    /// Behaviour at the points that the interface leaves open.
    pub fn profile(&self) -> &Profile {
        &self.state.profile
    }

    /// Body of a refusal to an edge.
    pub fn reply_shape(&self) -> &ReplyShape {
        &self.state.reply_shape
    }

    /// Clock of the service; tests move it.
    pub fn clock(&self) -> &Clock {
        &self.state.clock
    }

    /// Registers a script until the returned guard is dropped. Where several scripts match a request, one for a marker
    /// or a reference precedes one for all requests, and a later one precedes an earlier one.
    ///
    /// # Panics
    /// If the script has no reply, or a reply that HTTP cannot express.
    pub fn script(&self, on: Match, script: Script) -> Scripted {
        self.state.registry.add(on, script)
    }

    /// Switches the listener to another mode. Closes the open connections; later handshakes resume no TLS session.
    pub async fn set_mode(&self, mode: ListenerMode) -> io::Result<()> {
        let protocol = protocol(mode, &self.state.credentials, &self.state.profile)?;
        self.closed.store(true, Ordering::Relaxed);
        self.server.set_protocol(protocol).await?;
        *self.mode.lock() = mode;
        Ok(())
    }

    /// Current mode of the listener.
    pub fn mode(&self) -> ListenerMode {
        *self.mode.lock()
    }

    /// Makes license checks fail; `None` restores them.
    pub fn set_outage(&self, outage: Option<Outage>) {
        self.state.change_faults(|faults| faults.outage = outage);
    }

    /// Makes read token checks fail; `None` restores them.
    pub fn set_read_outage(&self, outage: Option<ReadOutage>) {
        self.state.change_faults(|faults| faults.read_outage = outage);
    }

    /// Sets the time between the acceptance of a collection and its verdict, for collections accepted from now on.
    pub fn set_verdict_delay(&self, delay: Duration) {
        self.state.change_faults(|faults| faults.verdict_delay = delay);
    }

    /// Faults and delays that are set now.
    pub(crate) fn faults(&self) -> ServiceFaults {
        self.state.faults()
    }

    /// Sets all faults and delays at once.
    pub(crate) fn set_faults(&self, faults: ServiceFaults) {
        self.state.change_faults(|current| *current = faults);
    }

    /// Adds a session. It replaces a session with the same reference and license, and wakes polls that wait for its
    /// verdict.
    pub fn add_session(&self, session: NewSession) {
        let license_id = session.license_id.clone();
        let license_id = license_id.as_deref().unwrap_or_else(|| self.state.credentials.license_id());
        self.state.sessions.add(session, license_id, self.state.clock.now());
    }

    /// Removes all sessions with this reference.
    pub fn remove_session(&self, reference: &str) {
        self.state.sessions.remove(reference);
    }

    /// Refuses this read token as revoked, until [`Self::restore_token`] or [`Self::reset`].
    pub fn revoke_token(&self, token: &str) {
        self.state.revoked.lock().insert(token.to_owned());
    }

    /// Ends [`Self::revoke_token`].
    pub fn restore_token(&self, token: &str) {
        self.state.revoked.lock().remove(token);
    }

    /// Number of requests that wait for a verdict, as a channel.
    pub fn polls(&self) -> watch::Receiver<usize> {
        self.state.sessions.waiting()
    }

    /// Signs verdicts with another key from now on, and returns its id: the key announced last, or a fresh one.
    ///
    /// The previous key stays in the key set for seven minutes by the clock. By then no verdict that it signed and no
    /// cached key set is valid.
    pub fn rotate_keys(&self) -> String {
        self.state.keys.rotate(self.state.clock.now())
    }

    /// Publishes a fresh key that signs nothing before the next rotation, and returns its id.
    pub fn announce_key(&self) -> String {
        self.state.keys.announce()
    }

    /// Key that current collectors seal to.
    pub fn seal_key(&self) -> SealPublicKey {
        self.state.keys.seal().current().clone()
    }

    /// A collection as a page posts it in this version of the interface: sealed to the current key, or as plain JSON
    /// before there were seals (9.3).
    pub fn posted_form(&self, collection: &Collection) -> Vec<u8> {
        if self.state.spec.seals_collections() {
            collection.seal(&self.seal_key())
        } else {
            collection.to_json().into_bytes()
        }
    }

    /// Creates a new key for collectors to seal to. Older keys stay accepted until they are retired.
    pub fn rotate_seal_key(&self) -> SealPublicKey {
        self.state.keys.rotate_seal()
    }

    /// Refuses collections sealed to this key from now on. False for the current key and for unknown keys.
    pub fn retire_seal_key(&self, key_id: &str) -> bool {
        self.state.keys.retire_seal(key_id)
    }

    /// Deletes sessions, accepted collections and the journal; ends outages, delays and revocations; sets the clock to
    /// real time. Keys and scripts stay.
    pub fn reset(&self) {
        self.set_faults(ServiceFaults::default());
        self.state.revoked.lock().clear();
        self.state.sessions.clear();
        self.state.replays.clear();
        self.state.journal.clear();
        self.state.clock.set_offset(0);
    }

    /// Deletes the journal. The numbers of requests continue.
    pub fn clear_journal(&self) {
        self.state.journal.clear();
    }

    /// Recorded requests, oldest first.
    pub fn journal(&self) -> Vec<Arrival> {
        self.arrivals_since(0)
    }

    /// Rules of HTTP/1 that requests broke, also those that cannot be read. Empty unless the options' limits ask for it.
    pub fn violations(&self) -> Vec<RequestViolation> {
        let plain = self.plain.iter().flat_map(Server::violations);
        self.server.violations().into_iter().chain(plain).collect()
    }

    /// Number of the next request: a mark for [`Self::arrivals_since`].
    pub fn mark(&self) -> u64 {
        self.state.journal.next()
    }

    /// Recorded requests from a mark on.
    pub fn arrivals_since(&self, mark: u64) -> Vec<Arrival> {
        self.state.journal.since(mark)
    }

    /// Waits until the requests from a mark on are finished, or `limit` is over, and returns them.
    pub async fn finished_since(&self, mark: u64, limit: Duration) -> Vec<Arrival> {
        self.state.journal.finished_since(mark, limit).await
    }

    /// Recorded requests from a mark on that no script matched.
    pub fn unclaimed_since(&self, mark: u64) -> Vec<Arrival> {
        self.state.journal.unclaimed_since(mark)
    }

    /// Number of accepted connections, including those without a TLS handshake or a request.
    pub fn connections_accepted(&self) -> u64 {
        let plain = self.plain.as_ref().map_or(0, Server::connections_accepted);
        self.server.connections_accepted() + plain
    }

    /// Whether it closed idle connections since the last call, so that a client may still hold them.
    pub fn take_closed(&self) -> bool {
        self.closed.swap(false, Ordering::Relaxed)
    }

    /// Closes all connections, like an idle timeout, and continues to listen. They are closed when this returns.
    pub async fn close_connections(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.server.close_connections().await;
        if let Some(plain) = &self.plain {
            plain.close_connections().await;
        }
    }
}

impl fmt::Debug for MockService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockService").field("url", &self.url()).finish_non_exhaustive()
    }
}
