use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::client::conn::{TrySendError, http2};
use parking_lot::Mutex;

use super::connection::{ConnectError, Connector, RequestSender};
use super::outbound_body::OutboundBody;
use super::socket::SocketProbe;
use super::upstream::UpstreamOptions;

/// Maximum number of idle HTTP/1.1 connections; others are closed after their request.
const MAX_IDLE: usize = 128;

/// Idle timeout of a connection. After it, a middlebox may have dropped the connection's state.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Connection pool of the service: one HTTP/1.1 connection per request under way, one HTTP/2 connection for all.
///
/// hyper-util's pool returns a connection that the peer closed until its runtime notices. A request that went out on
/// such a connection must not be sent again. This pool asks the operating system first.
pub(super) struct ConnectionPool {
    connector: Connector,
    keep_alive: bool,
    reconnects: bool,
    replaces_closed: bool,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    /// Latest last. The latest is used first, so that the others reach their idle timeout.
    http1: Vec<Http1Connection>,
    http2: Option<Http2Connection>,
    /// Whether the pool ever opened a connection.
    connected: bool,
}

struct Http1Connection {
    sender: http1::SendRequest<OutboundBody>,
    probe: SocketProbe,
    idle_since: Instant,
}

struct Http2Connection {
    sender: http2::SendRequest<OutboundBody>,
    probe: SocketProbe,
    /// One clone per request under way.
    requests: Arc<()>,
    last_used: Instant,
}

/// Connection for one request.
pub(super) struct PooledConnection {
    sender: RequestSender,
    probe: SocketProbe,
    /// Whether it served a request before.
    pub(super) reused: bool,
    _request: Option<Arc<()>>,
}

impl ConnectionPool {
    pub(super) fn new(connector: Connector, options: &UpstreamOptions) -> Self {
        let UpstreamOptions { keep_alive, reconnects, replaces_closed, .. } = *options;
        Self { connector, keep_alive, reconnects, replaces_closed, state: Mutex::default() }
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Returns an idle connection that the operating system reports as open, or opens one.
    pub(super) async fn acquire(&self) -> Result<PooledConnection, ConnectError> {
        if let Some(connection) = self.state.lock().take(self.replaces_closed)? {
            return Ok(connection);
        }
        if std::mem::replace(&mut self.state.lock().connected, true) && !self.reconnects {
            return Err(io::Error::from(io::ErrorKind::NotConnected).into());
        }
        let (sender, probe) = self.connector.connect().await?;
        let request = match &sender {
            RequestSender::Http1(_) => None,
            RequestSender::Http2(_) if !self.keep_alive => None,
            RequestSender::Http2(sender) => {
                let requests = Arc::new(());
                let request = Arc::clone(&requests);
                let (sender, probe) = (sender.clone(), probe.clone());
                let connection = Http2Connection { sender, probe, requests, last_used: Instant::now() };
                self.state.lock().http2 = Some(connection);
                Some(request)
            }
        };
        Ok(PooledConnection { sender, probe, reused: false, _request: request })
    }

    /// Takes a connection back whose answer was read to the end.
    pub(super) fn release(self: &Arc<Self>, connection: PooledConnection) {
        let RequestSender::Http1(mut sender) = connection.sender else { return };
        if !self.keep_alive {
            return;
        }
        let (pool, probe) = (Arc::clone(self), connection.probe);
        let release = async move {
            // The answer can end before the request is written completely.
            if sender.ready().await.is_ok() {
                pool.state.lock().keep(Http1Connection { sender, probe, idle_since: Instant::now() });
            }
        };
        let mut release = Box::pin(release);
        // Usually done at once, so that the next request finds the connection.
        if release.as_mut().now_or_never().is_none() {
            tokio::spawn(release);
        }
    }
}

impl PoolState {
    /// Takes an idle connection, if there is one. Fails on a closed one unless `replaces_closed`.
    fn take(&mut self, replaces_closed: bool) -> io::Result<Option<PooledConnection>> {
        if let Some(connection) = self.http2.as_mut().filter(|connection| connection.is_usable()) {
            connection.last_used = Instant::now();
            return Ok(Some(PooledConnection {
                sender: RequestSender::Http2(connection.sender.clone()),
                probe: connection.probe.clone(),
                reused: true,
                _request: Some(Arc::clone(&connection.requests)),
            }));
        }
        if self.http2.take().is_some() && !replaces_closed {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        while let Some(Http1Connection { sender, probe, idle_since }) = self.http1.pop() {
            if idle_since.elapsed() < IDLE_TIMEOUT && sender.is_ready() && probe.is_quiet() {
                return Ok(Some(PooledConnection {
                    sender: RequestSender::Http1(sender),
                    probe,
                    reused: true,
                    _request: None,
                }));
            }
            if !replaces_closed {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
        }
        Ok(None)
    }

    fn keep(&mut self, connection: Http1Connection) {
        if self.http1.len() < MAX_IDLE {
            self.http1.push(connection);
        }
    }
}

impl Http2Connection {
    fn is_usable(&self) -> bool {
        let idle = Arc::strong_count(&self.requests) == 1;
        // Unread bytes mean the end only on an idle connection: answers arrive at any time.
        let open = if idle {
            self.last_used.elapsed() < IDLE_TIMEOUT && self.probe.is_quiet()
        } else {
            self.probe.is_open()
        };
        self.sender.is_ready() && open
    }
}

impl PooledConnection {
    pub(super) fn is_http2(&self) -> bool {
        matches!(self.sender, RequestSender::Http2(_))
    }

    /// Sends a request. The error contains the request if no byte of it was written; only then a retry is safe.
    pub(super) async fn send(
        &mut self,
        request: Request<OutboundBody>,
    ) -> Result<Response<Incoming>, TrySendError<Request<OutboundBody>>> {
        match &mut self.sender {
            RequestSender::Http1(sender) => sender.try_send_request(request).await,
            RequestSender::Http2(sender) => sender.try_send_request(request).await,
        }
    }
}
