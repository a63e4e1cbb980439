use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_http::{Limits, ListenerProtocol, Server};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_body_util::{BodyExt, Full};
use tokio::net::TcpListener;

/// A server that accepts and counts every request and stalls by the clock. The wait of a request follows from
/// arithmetic, so it checks the generator's figures.
///
/// It is not the mock service: that has no delays by the clock, and costs more CPU than the generator at
/// 10,000 requests per second.
pub struct StallingServer {
    server: Server,
    state: Arc<StallState>,
}

/// The stalls: at the beginning of each period the server does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallPattern {
    /// Time from one stall to the next.
    pub period: Duration,
    /// Length of a stall.
    pub time: Duration,
}

struct StallState {
    stalls: Option<StallPattern>,
    started: OnceLock<Instant>,
    requests: AtomicU64,
}

/// Largest number of connections.
const CONNECTIONS: usize = 4096;

impl StallingServer {
    /// Starts it on a free local port, without TLS.
    pub async fn start(stalls: Option<StallPattern>) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let state = Arc::new(StallState { stalls, started: OnceLock::new(), requests: AtomicU64::new(0) });
        let limits = Limits { connections: CONNECTIONS, ..Limits::default() };
        let answering = Arc::clone(&state);
        let server = Server::start(listener, ListenerProtocol::Plain, limits, move |request, _| {
            let state = Arc::clone(&answering);
            async move {
                // The generator gave up a body that ends early.
                let _ = request.into_body().collect().await;
                state.requests.fetch_add(1, Ordering::Relaxed);
                state.stall().await;
                let mut response = Response::new(Full::new(Bytes::from_static(br#"{"ok":true}"#)));
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                Ok::<_, Infallible>(response)
            }
        })?;
        Ok(Self { server, state })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.addr())
    }

    /// Starts the clock of the stalls.
    pub fn begin(&self, started: Instant) {
        let _ = self.state.started.set(started);
    }

    /// Requests that arrived.
    pub fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }
}

impl StallPattern {
    /// The wait of a request that arrives at this time.
    pub fn wait(&self, at: Duration) -> Duration {
        let into = Duration::from_nanos((at.as_nanos() % self.period.as_nanos()) as u64);
        self.time.saturating_sub(into)
    }

    /// The wait that this share of evenly spaced requests does not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        let stalled = self.time.as_secs_f64() / self.period.as_secs_f64();
        self.time.mul_f64(((share - (1.0 - stalled)) / stalled).clamp(0.0, 1.0))
    }
}

impl StallState {
    async fn stall(&self) {
        let (Some(stalls), Some(started)) = (&self.stalls, self.started.get()) else { return };
        let wait = stalls.wait(started.elapsed());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_wait_for_the_end_of_a_stall() {
        let stalls = StallPattern { period: Duration::from_secs(2), time: Duration::from_secs(1) };
        let ms = Duration::from_millis;
        assert_eq!(
            [0, 300, 1000, 1999, 2300].map(|at| stalls.wait(ms(at)).as_millis()),
            [1000, 700, 0, 0, 700]
        );
        assert_eq!(
            [0.4, 0.5, 0.75, 0.9, 1.0].map(|share| stalls.quantile(share).as_millis()),
            [0, 0, 500, 800, 1000]
        );
    }
}
