use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::client::conn::{TrySendError, http2};

use super::connect::{ConnectError, Connector, Sender};
use super::outgoing::Outgoing;
use super::socket::Watch;

/// Connections kept for later requests; further ones are closed when their request is done.
const MOST_IDLE: usize = 128;

/// How long a connection may idle: after that, something between here and the service may have forgotten it.
const LONGEST_IDLE: Duration = Duration::from_secs(60);

/// Connections to the service: one for each HTTP/1.1 request under way, one for all over HTTP/2.
///
/// Of our own, because the pool of hyper-util hands out a connection that the peer has closed as long as its runtime
/// has not noticed, and a request that went out on such a connection must not be sent again. Here the system is asked
/// first.
pub(super) struct Pool {
    pub(super) connector: Connector,
    upkeep: Upkeep,
    kept: Mutex<Kept>,
}

/// How a pool treats its connections.
#[derive(Debug, Clone, Copy)]
pub(super) struct Upkeep {
    /// They are kept for later requests.
    pub(super) keeps: bool,
    /// There is more than one in its life.
    pub(super) reconnects: bool,
}

#[derive(Default)]
struct Kept {
    /// The latest at the end: it is used first, so that the others grow old.
    http1: Vec<Idle>,
    http2: Option<Shared>,
    /// There was a connection.
    connected: bool,
}

struct Idle {
    sender: http1::SendRequest<Outgoing>,
    watch: Watch,
    since: Instant,
}

struct Shared {
    sender: http2::SendRequest<Outgoing>,
    watch: Watch,
    /// A clone for each request under way.
    users: Arc<()>,
    since: Instant,
}

/// A connection for one request.
pub(super) struct PooledConnection {
    sender: Sender,
    watch: Watch,
    /// It has served a request before.
    pub(super) reused: bool,
    _user: Option<Arc<()>>,
}

impl Pool {
    pub(super) fn new(connector: Connector, upkeep: Upkeep) -> Self {
        Self { connector, upkeep, kept: Mutex::default() }
    }

    /// A connection that is open as far as the system knows, or a new one.
    pub(super) async fn lease(&self) -> Result<PooledConnection, ConnectError> {
        if let Some(lease) = self.kept().take() {
            return Ok(lease);
        }
        if std::mem::replace(&mut self.kept().connected, true) && !self.upkeep.reconnects {
            return Err(io::Error::from(io::ErrorKind::NotConnected).into());
        }
        let (sender, watch) = self.connector.connect().await?;
        let user = match &sender {
            Sender::Http1(_) => None,
            Sender::Http2(_) if !self.upkeep.keeps => None,
            Sender::Http2(sender) => {
                let users = Arc::new(());
                let user = Arc::clone(&users);
                let (sender, watch) = (sender.clone(), watch.clone());
                self.kept().http2 = Some(Shared { sender, watch, users, since: Instant::now() });
                Some(user)
            }
        };
        Ok(PooledConnection { sender, watch, reused: false, _user: user })
    }

    /// Takes a connection back after its answer was read to the end.
    pub(super) fn give_back(self: &Arc<Self>, lease: PooledConnection) {
        let Sender::Http1(mut sender) = lease.sender else { return };
        if !self.upkeep.keeps {
            return;
        }
        let (pool, watch) = (Arc::clone(self), lease.watch);
        let idle = async move {
            // Not before the request was written to its end as well.
            if sender.ready().await.is_ok() {
                pool.kept().keep(Idle { sender, watch, since: Instant::now() });
            }
        };
        let mut idle = Box::pin(idle);
        // Mostly it is idle by now, and the next request shall find it.
        if idle.as_mut().now_or_never().is_none() {
            tokio::spawn(idle);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Upkeep {
    fn default() -> Self {
        Self { keeps: true, reconnects: true }
    }
}

impl Kept {
    fn take(&mut self) -> Option<PooledConnection> {
        if let Some(shared) = self.http2.as_mut().filter(|shared| shared.is_usable()) {
            shared.since = Instant::now();
            return Some(PooledConnection {
                sender: Sender::Http2(shared.sender.clone()),
                watch: shared.watch.clone(),
                reused: true,
                _user: Some(Arc::clone(&shared.users)),
            });
        }
        self.http2 = None;
        while let Some(Idle { sender, watch, since }) = self.http1.pop() {
            if since.elapsed() < LONGEST_IDLE && sender.is_ready() && watch.is_quiet() {
                return Some(PooledConnection {
                    sender: Sender::Http1(sender),
                    watch,
                    reused: true,
                    _user: None,
                });
            }
        }
        None
    }

    fn keep(&mut self, idle: Idle) {
        if self.http1.len() < MOST_IDLE {
            self.http1.push(idle);
        }
    }
}

impl Shared {
    fn is_usable(&self) -> bool {
        let idle = Arc::strong_count(&self.users) == 1;
        // With requests under way, frames come at any time.
        let fit = if idle {
            self.since.elapsed() < LONGEST_IDLE && self.watch.is_quiet()
        } else {
            self.watch.is_open()
        };
        self.sender.is_ready() && fit
    }
}

impl PooledConnection {
    pub(super) fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    /// Sends a request. The error holds it if nothing of it was written: only then may it be sent elsewhere.
    pub(super) async fn send(
        &mut self,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Outgoing>>> {
        match &mut self.sender {
            Sender::Http1(sender) => sender.try_send_request(request).await,
            Sender::Http2(sender) => sender.try_send_request(request).await,
        }
    }
}
