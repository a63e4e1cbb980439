use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::{Mutex, MutexGuard};
use rustls::ProtocolVersion;
use rustls_pki_types::CertificateDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::either::Either;

use super::grammar::RequestLog;
use super::limits::Limits;
use super::listener_protocol::ListenerProtocol;
use super::stream_control::{ControlledStream, StreamControl};

/// Client side of a connection, as a handler sees it.
#[derive(Debug)]
pub struct Peer {
    /// Address of the client.
    pub addr: SocketAddr,
    /// Client certificate chain, leaf first; empty without client authentication.
    pub certificates: Arc<[CertificateDer<'static>]>,
    /// Result of the TLS handshake; `None` without TLS.
    pub tls: Option<TlsFacts>,
    /// Number of the connection on its listener, from 0.
    pub connection: u64,
    /// Control over the byte stream below hyper.
    pub control: StreamControl,
    /// Number of requests so far.
    requests: AtomicUsize,
    tasks: Tasks,
}

/// Result of a TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsFacts {
    /// TLS version.
    pub version: ProtocolVersion,
    /// ALPN selected `h2`.
    pub http2: bool,
}

impl Peer {
    /// Counts a request, and yields its number on the connection, from 0.
    pub fn count_request(&self) -> usize {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// Spawns a task that ends with the connection at the latest. The connection stays open until the task ends:
    /// for upgraded streams, and for reads after the answer.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }
}

/// Serves one connection until it ends: its stream, the client's address, and its number.
pub(super) async fn serve<H, F, B, E>(
    (tcp, addr, connection): (TcpStream, SocketAddr, u64),
    protocol: ListenerProtocol,
    limits: Limits,
    violations: Option<RequestLog>,
    handler: H,
    drain: watch::Receiver<bool>,
) where
    H: Fn(Request<Incoming>, Arc<Peer>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, E>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
    // Otherwise a small answer waits for the acknowledgement of the previous one.
    let _ = tcp.set_nodelay(true);
    let (io, certificates, tls) = match protocol {
        ListenerProtocol::Garbage => return blurt(tcp, GARBAGE, limits.handshake).await,
        ListenerProtocol::Closes | ListenerProtocol::Refuses => {
            return blurt(tcp, b"", limits.handshake).await;
        }
        ListenerProtocol::Plain => (Either::Left(tcp), Arc::default(), None),
        ListenerProtocol::Tls(config) => {
            let handshake = TlsAcceptor::from(config).accept(tcp);
            // rustls sends the alert for a failed handshake; a timeout just closes.
            let Ok(Ok(stream)) = tokio::time::timeout(limits.handshake, handshake).await else { return };
            let session = stream.get_ref().1;
            let certificates = session.peer_certificates().unwrap_or_default();
            let certificates = certificates.iter().map(|der| der.clone().into_owned()).collect();
            let facts = TlsFacts {
                version: session.protocol_version().unwrap_or(ProtocolVersion::Unknown(0)),
                http2: session.alpn_protocol() == Some(b"h2"),
            };
            (Either::Right(Box::new(stream)), certificates, Some(facts))
        }
    };
    let is_http2 = tls.is_some_and(|tls| tls.http2);
    let check = violations.filter(|_| !is_http2).map(|log| log.of_connection(connection));
    let (stream, control) = ControlledStream::new(io, check);
    let tasks = Tasks::default();
    let ended = EndTasks(tasks.clone());
    let peer = Arc::new(Peer {
        addr,
        certificates,
        tls,
        connection,
        control,
        requests: AtomicUsize::new(0),
        tasks: tasks.clone(),
    });
    let service = service_fn(move |request| handler(request, Arc::clone(&peer)));
    let io = TokioIo::new(stream);
    // ALPN decides the HTTP version, so the HTTP/2 preface needs no detection.
    if is_http2 {
        let served = http2::Builder::new(tasks.clone())
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .serve_connection(io, service);
        drive(served, http2::Connection::graceful_shutdown, drain).await;
    } else {
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_buf_size(limits.head_bytes)
            .half_close(true)
            .title_case_headers(limits.title_case)
            .serve_connection(io, service)
            .with_upgrades();
        drive(served, http1::UpgradeableConnection::graceful_shutdown, drain).await;
    }
    tasks.finished().await;
    drop(ended);
}

/// Bytes that are neither TLS nor HTTP.
const GARBAGE: &[u8] = b"\x00\xff\xfe<<< neither TLS nor HTTP >>>\r\n\x00\x01\x02\r\n\r\n";

/// Drives a connection; when the server stops, lets requests in flight finish.
async fn drive<C, T, E>(connection: C, finish: impl FnOnce(Pin<&mut C>), mut drain: watch::Receiver<bool>)
where
    C: Future<Output = Result<T, E>>,
{
    let mut connection = pin!(connection);
    tokio::select! {
        biased;
        // The client judges how a connection ended.
        _ = connection.as_mut() => return,
        _ = drain.wait_for(|drain| *drain) => {}
    }
    finish(connection.as_mut());
    let _ = connection.await;
}

/// Waits for the client's first bytes, sends `bytes`, shuts the stream down, and waits for the client's end.
/// Closing a connection with unread input would reset it.
async fn blurt(mut tcp: TcpStream, bytes: &[u8], limit: Duration) {
    let mut scratch = vec![0; 4096];
    let conversation = async {
        if !bytes.is_empty() && tcp.read(&mut scratch).await? == 0 {
            return Ok(());
        }
        tcp.write_all(bytes).await?;
        tcp.shutdown().await?;
        while tcp.read(&mut scratch).await? > 0 {}
        io::Result::Ok(())
    };
    // Closes the connection of a client that stays.
    let _ = tokio::time::timeout(limit, conversation).await;
}

/// Tasks of one connection: HTTP/2 requests and tasks of handlers.
#[derive(Debug, Clone, Default)]
struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    async fn finished(&self) {
        loop {
            let mut tasks = std::mem::take(&mut *self.lock());
            if tasks.is_empty() {
                return;
            }
            while tasks.join_next().await.is_some() {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.lock()
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
{
    fn execute(&self, task: F) {
        self.spawn(async {
            task.await;
        });
    }
}

/// Aborts the tasks of a dropped connection.
struct EndTasks(Tasks);

impl Drop for EndTasks {
    fn drop(&mut self) {
        self.0.lock().abort_all();
    }
}
