use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use edgeproof_http::{Limits, ListenerProtocol, Server};
use http::{HeaderValue, Response, header};
use http_body_util::Full;
use parking_lot::Mutex;
use tokio::net::TcpListener;

use crate::engine::RunProgress;
use crate::measure::{Codes, Histogram};
use edgeproof_cli::Failure;

/// Serves running figures in the Prometheus text format. Dropping it stops the server.
pub(super) struct Metrics {
    server: Server,
    text: Arc<Mutex<String>>,
    routes: Vec<String>,
    codes: Codes,
}

const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

impl Metrics {
    pub(super) async fn serve(
        address: SocketAddr,
        routes: Vec<String>,
        codes: Codes,
    ) -> Result<Self, Failure> {
        let advice = "give another address; port 0 selects a free port";
        let fault =
            |why: std::io::Error| Failure::usage(format!("cannot serve metrics on {address}: {why}"), advice);
        let listener = TcpListener::bind(address).await.map_err(fault)?;
        let text = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&text);
        let server = Server::start(listener, ListenerProtocol::Plain, Limits::default(), move |_, _| {
            let body = Bytes::from(shown.lock().clone());
            let mut response = Response::new(Full::new(body));
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            async move { Ok::<_, Infallible>(response) }
        })
        .map_err(fault)?;
        Ok(Self { server, text, routes, codes })
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// A callback that publishes the progress.
    pub(super) fn sink(&self) -> impl Fn(RunProgress<'_>) + Send + Sync + use<> {
        let (text, routes, codes) = (Arc::clone(&self.text), self.routes.clone(), self.codes.clone());
        move |progress| {
            let new = write(progress, &routes, &codes);
            *text.lock() = new;
        }
    }
}

fn write(progress: RunProgress<'_>, routes: &[String], codes: &Codes) -> String {
    let mut out = String::new();
    let mut summary = |name: &str, help: &str, times: &Histogram| {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} summary");
        for quantile in QUANTILES {
            let _ =
                writeln!(out, "{name}{{quantile=\"{quantile}\"}} {}", times.value_at(quantile) as f64 / 1e6);
        }
        let total = times.mean() * times.count() as f64 / 1e6;
        let _ = writeln!(out, "{name}_sum {total}\n{name}_count {}", times.count());
    };
    let response = progress.measurements.sum(None, |series| &series.response);
    summary("edgeproof_response_seconds", "Time from the intended start to the end of a request.", &response);
    summary(
        "edgeproof_lateness_seconds",
        "Delay added by the load generator.",
        &progress.measurements.lateness,
    );
    if progress.measurements.verdict.count() > 0 {
        summary(
            "edgeproof_time_to_verdict_seconds",
            "Time from the start of a session to its verdict.",
            &progress.measurements.verdict,
        );
    }
    let _ = writeln!(
        out,
        "# HELP edgeproof_requests_total Measured requests.\n# TYPE edgeproof_requests_total counter"
    );
    for series in &progress.measurements.series {
        let route = routes.get(usize::from(series.route.0)).map_or("", String::as_str);
        let _ = writeln!(
            out,
            "edgeproof_requests_total{{route=\"{route}\",outcome=\"{}\",expected=\"{}\"}} {}",
            codes.label(series.outcome),
            series.expected,
            series.response.count()
        );
    }
    let ledger = progress.ledger;
    let _ = writeln!(
        out,
        "# HELP edgeproof_operations_total Measured operations.\n# TYPE edgeproof_operations_total counter"
    );
    for (name, count) in [
        ("answered", ledger.answered),
        ("failed", ledger.failed),
        ("dropped", ledger.dropped),
        ("open", ledger.open),
    ] {
        let _ = writeln!(out, "edgeproof_operations_total{{fate=\"{name}\"}} {count}");
    }
    let _ = writeln!(
        out,
        "# HELP edgeproof_begun_total Started operations, warm-up included.\n# TYPE edgeproof_begun_total counter"
    );
    let _ = writeln!(out, "edgeproof_begun_total {}", progress.begun);
    out
}
