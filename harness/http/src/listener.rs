use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::connection::{self, Peer};
use super::grammar::{RequestLog, RequestViolation};
use super::limits::Limits;
use super::listener_protocol::ListenerProtocol;

/// HTTP/1.1 and HTTP/2 server on one TCP listener, with or without TLS. Dropping it closes everything immediately.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    orders: mpsc::Sender<Order>,
    accepted: Arc<AtomicU64>,
    violations: RequestLog,
    accepting: AbortHandle,
}

enum Order {
    Close(oneshot::Sender<()>),
    ListenerProtocol(ListenerProtocol, oneshot::Sender<io::Result<()>>),
    Stop(Duration),
}

impl Server {
    /// Serves `listener` and passes each request to `handler`. An error of the handler closes an HTTP/1.1
    /// connection or resets an HTTP/2 stream. Needs a tokio runtime.
    pub fn start<H, F, B, E>(
        listener: TcpListener,
        protocol: ListenerProtocol,
        limits: Limits,
        handler: H,
    ) -> io::Result<Self>
    where
        H: Fn(Request<Incoming>, Arc<Peer>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, E>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
    {
        let addr = listener.local_addr()?;
        let mut port = Port::Open(listener);
        port.set_open(!matches!(protocol, ListenerProtocol::Refuses))?;
        let (orders, received) = mpsc::channel(1);
        let accepted = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&accepted);
        let violations = RequestLog::default();
        let log = limits.checks_requests.then(|| violations.clone());
        let open = move |tcp, addr, protocol, drain| {
            let number = counter.fetch_add(1, Ordering::Relaxed);
            connection::serve((tcp, addr, number), protocol, limits, log.clone(), handler.clone(), drain)
        };
        let accepting = tokio::spawn(accept(port, protocol, limits, received, open)).abort_handle();
        Ok(Self { addr, orders, accepted, violations, accepting })
    }

    /// Address of the listener.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Number of accepted connections, also of those without a request.
    pub fn connections_accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Rules of HTTP/1 that requests broke, also unreadable ones; the first few thousand. Empty unless the limits ask for it.
    pub fn violations(&self) -> Vec<RequestViolation> {
        self.violations.all()
    }

    /// Closes all connections, idle or busy, and continues to listen. Returns when they are closed.
    pub async fn close_connections(&self) {
        let (done, closed) = oneshot::channel();
        self.order(Order::Close(done), closed).await;
    }

    /// Closes all connections and uses `protocol` for new ones. Fails if the port cannot be closed or opened again.
    pub async fn set_protocol(&self, protocol: ListenerProtocol) -> io::Result<()> {
        let (done, closed) = oneshot::channel();
        self.order(Order::ListenerProtocol(protocol, done), closed).await.unwrap_or(Ok(()))
    }

    /// Stops listening, lets requests in flight finish within `grace`, then closes the remaining connections.
    pub async fn stop(self, grace: Duration) {
        if self.orders.send(Order::Stop(grace)).await.is_ok() {
            // The accept task drops its receiver when all connections are closed.
            self.orders.closed().await;
        }
    }

    /// None: the accept task has ended, because the runtime ends.
    async fn order<T>(&self, order: Order, done: oneshot::Receiver<T>) -> Option<T> {
        self.orders.send(order).await.ok()?;
        done.await.ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Port of a server.
enum Port {
    /// It accepts connections.
    Open(TcpListener),
    /// It refuses them. The socket keeps the port from other programs.
    Closed(TcpSocket),
    /// It could neither be closed nor opened.
    Lost(SocketAddr),
}

impl Port {
    /// Never returns while the port is closed.
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        match self {
            Self::Open(listener) => listener.accept().await,
            Self::Closed(_) | Self::Lost(_) => std::future::pending().await,
        }
    }

    /// A program that another thread starts has a copy of the listener for a moment, so the port can be taken that long.
    async fn set_open_in_time(&mut self, is_open: bool) -> io::Result<()> {
        let began = Instant::now();
        loop {
            match self.set_open(is_open) {
                Err(why) if why.kind() == io::ErrorKind::AddrInUse && began.elapsed() < TAKEN => {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                result => return result,
            }
        }
    }

    fn set_open(&mut self, is_open: bool) -> io::Result<()> {
        let addr = match self {
            Self::Open(listener) => listener.local_addr()?,
            Self::Closed(socket) => socket.local_addr()?,
            Self::Lost(addr) => *addr,
        };
        *self = match (std::mem::replace(self, Self::Lost(addr)), is_open) {
            (Self::Open(listener), false) => {
                drop(listener);
                Self::Closed(bound(addr)?)
            }
            (Self::Closed(socket), true) => Self::Open(socket.listen(BACKLOG)?),
            (Self::Lost(_), false) => Self::Closed(bound(addr)?),
            (Self::Lost(_), true) => Self::Open(bound(addr)?.listen(BACKLOG)?),
            (port, _) => port,
        };
        Ok(())
    }
}

/// A socket that holds the port and does not listen.
fn bound(addr: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of an earlier listener may still be closing.
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    Ok(socket)
}

/// How long a port may be taken that was closed just now.
const TAKEN: Duration = Duration::from_secs(1);

/// Connections that wait to be accepted, as in [`TcpListener::bind`].
const BACKLOG: u32 = 1024;

async fn accept<O, F>(
    mut port: Port,
    mut protocol: ListenerProtocol,
    limits: Limits,
    mut orders: mpsc::Receiver<Order>,
    open: O,
) where
    O: Fn(TcpStream, SocketAddr, ListenerProtocol, watch::Receiver<bool>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let (drain, draining) = watch::channel(false);
    let grace = loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(Order::Close(done)) => {
                    connections.shutdown().await;
                    let _ = done.send(());
                }
                Some(Order::ListenerProtocol(other, done)) => {
                    connections.shutdown().await;
                    let is_open = !matches!(other, ListenerProtocol::Refuses);
                    protocol = other;
                    let _ = done.send(port.set_open_in_time(is_open).await);
                }
                Some(Order::Stop(grace)) => break grace,
                None => return,
            },
            Some(_) = connections.join_next() => {}
            accepted = port.accept(), if connections.len() < limits.connections => match accepted {
                Ok((tcp, addr)) => {
                    connections.spawn(open(tcp, addr, protocol.clone(), draining.clone()));
                }
                // Out of file descriptors, or the client left: retry after a pause.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
        }
    };
    drop(port);
    drain.send_replace(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, finished).await.is_err() {
        connections.shutdown().await;
    }
    // `orders` goes out of scope last, so `stop` returns when every connection is closed.
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn port_that_is_taken_for_a_moment_is_held() {
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = other.local_addr().unwrap();
        let mut port = Port::Lost(addr);
        assert!(port.set_open(false).is_err_and(|why| why.kind() == io::ErrorKind::AddrInUse));
        let (closed, ()) = tokio::join!(port.set_open_in_time(false), async { drop(other) });
        assert!(closed.is_ok() && matches!(port, Port::Closed(_)), "{closed:?}");
        assert!(port.set_open(true).is_ok() && matches!(port, Port::Open(_)));
    }
}
