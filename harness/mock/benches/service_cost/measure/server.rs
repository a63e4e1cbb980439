//! The measured servers, each on a thread of its own.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;

use bytes::Bytes;
use edgeproof_http::Limits;
use edgeproof_mock::{ListenerMode, MockService, ServiceOptions};
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{oneshot, watch};

use super::polls;

/// A server on a thread and a core of its own. Dropping it ends the thread.
pub(crate) struct MeasuredServer<S> {
    pub(crate) addr: SocketAddr,
    pub(crate) service: S,
    runtime: Handle,
    /// The thread ends when this is dropped.
    _running: oneshot::Sender<()>,
}

impl<S: Send + 'static> MeasuredServer<S> {
    /// Starts a server. It listens when this returns.
    fn start<F>(serve: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = (SocketAddr, S)>,
    {
        let (running, stopped) = oneshot::channel();
        let (ready, started) = mpsc::channel();
        std::thread::spawn(move || {
            pin_to(1);
            Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
                let (addr, service) = serve().await;
                ready.send((addr, service, Handle::current())).unwrap();
                // An error means that the server was dropped.
                let _ = stopped.await;
            });
        });
        let (addr, service, runtime) = started.recv().unwrap();
        Self { addr, service, runtime, _running: running }
    }

    /// CPU time of the server's thread (s).
    pub(crate) async fn cpu(&self) -> f64 {
        self.runtime.spawn(async { thread_cpu() }).await.unwrap()
    }
}

/// The mock service.
pub(crate) fn mock(mode: ListenerMode) -> MeasuredServer<MockService> {
    MeasuredServer::start(async move || {
        let options = ServiceOptions { mode, ..ServiceOptions::default() };
        let limits = Limits { connections: polls::COUNT * 2, ..options.limits };
        let service = MockService::start_with(ServiceOptions { limits, ..options }).await.unwrap();
        (service.addr(), service)
    })
}

/// A bare hyper server that answers every request with a constant, as soon as its signal is true.
pub(crate) fn bare(signal: bool, body: impl Into<Bytes>) -> MeasuredServer<watch::Sender<bool>> {
    let body = body.into();
    MeasuredServer::start(async move || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (sender, signal) = watch::channel(signal);
        tokio::spawn(async move {
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                tcp.set_nodelay(true).unwrap();
                let (signal, body) = (signal.clone(), body.clone());
                let service = service_fn(move |request| answer(request, signal.clone(), body.clone()));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(tcp), service));
            }
        });
        (addr, sender)
    })
}

async fn answer(
    request: Request<Incoming>,
    mut signal: watch::Receiver<bool>,
    body: Bytes,
) -> Result<Response<Full<Bytes>>, Infallible> {
    request.into_body().collect().await.unwrap();
    // An error means that the server was dropped.
    let _ = signal.wait_for(|signal| *signal).await;
    let response = Response::builder().header(CONTENT_TYPE, "application/json");
    Ok(response.body(Full::new(body)).unwrap())
}

/// CPU time of this thread (s).
pub(crate) fn thread_cpu() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Pins this thread to a core, if there are several.
pub(crate) fn pin_to(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    // An error means a single core.
    let _ = sched_setaffinity(None, &cores);
}
