use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use edgeproof_http::{Limits, ListenerProtocol, Server};
use http::{HeaderValue, Method, Response, StatusCode, header};
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

const PATH: &str = "/metrics";
/// Upper bounds of the buckets (µs). They are the same in every process, so that shards add up.
const BOUNDS: [u64; 19] = [
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
];

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
        let server =
            Server::start(listener, ListenerProtocol::Plain, Limits::default(), move |request, _| {
                let response = answer(request.method(), request.uri().path(), &shown.lock());
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

/// `text` at `/metrics`, for GET and HEAD. The server removes the body of a HEAD answer.
fn answer(method: &Method, path: &str, text: &str) -> Response<Full<Bytes>> {
    let (status, body) = match (path, method) {
        (PATH, &Method::GET | &Method::HEAD) => (StatusCode::OK, text.to_owned()),
        (PATH, _) => (StatusCode::METHOD_NOT_ALLOWED, "use GET\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, format!("the metrics are at {PATH}\n")),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let kind = match status {
        StatusCode::OK => "text/plain; version=0.0.4; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

fn write(progress: RunProgress<'_>, routes: &[String], codes: &Codes) -> String {
    let measurements = progress.measurements;
    let mut out = String::new();
    let labels: Vec<String> = measurements
        .series
        .iter()
        .map(|series| {
            let route = routes.get(usize::from(series.route.0)).map_or("", String::as_str);
            let outcome = codes.label(series.outcome);
            format!(
                "route=\"{}\",outcome=\"{}\",expected=\"{}\"",
                escaped(route),
                escaped(&outcome),
                series.expected
            )
        })
        .collect();
    let each = || labels.iter().map(String::as_str).zip(&measurements.series);
    let requests = each().map(|(labels, series)| (labels, series.response.count()));
    counters(&mut out, "edgeproof_requests_total", "Measured requests.", requests);
    histograms(
        &mut out,
        "edgeproof_response_seconds",
        "Time from the intended start to the end of a request, less the delay of the load generator. A request without an \
         answer counts at its age.",
        each().map(|(labels, series)| (labels, &series.response)),
    );
    histograms(
        &mut out,
        "edgeproof_service_seconds",
        "Time from sending to the end of a request.",
        each().map(|(labels, series)| (labels, &series.service)),
    );
    for (name, help, times) in [
        (
            "edgeproof_lateness_seconds",
            "Delay of operations that had a free connection, added by the load generator.",
            &measurements.lateness,
        ),
        ("edgeproof_generator_delay_seconds", "Delay added by the load generator.", &measurements.delay),
        (
            "edgeproof_time_to_verdict_seconds",
            "Time from the start of a session to its verdict.",
            &measurements.verdict,
        ),
        ("edgeproof_connect_seconds", "Set-up time of a connection, without TLS.", &measurements.connects),
        ("edgeproof_tls_seconds", "Duration of a TLS handshake.", &measurements.tls),
    ] {
        histograms(&mut out, name, help, std::iter::once(("", times)));
    }
    let ledger = progress.ledger;
    let ends = [
        ("fate=\"answered\"", ledger.answered),
        ("fate=\"failed\"", ledger.failed),
        ("fate=\"dropped\"", ledger.dropped),
        ("fate=\"open\"", ledger.open),
    ];
    counters(&mut out, "edgeproof_operations_total", "Measured operations by their end.", ends);
    let one = |count: u64| std::iter::once(("", count));
    for (name, help, count) in [
        ("edgeproof_due_total", "Operations that were due, warm-up included.", progress.released),
        ("edgeproof_begun_total", "Started operations, warm-up included.", progress.begun),
        (
            "edgeproof_sessions_without_verdict_total",
            "Sessions that expected a verdict and got none.",
            ledger.without_verdict,
        ),
        ("edgeproof_sent_bytes_total", "Sent bytes of HTTP.", measurements.bytes_sent),
        ("edgeproof_received_bytes_total", "Received bytes of HTTP.", measurements.bytes_received),
    ] {
        counters(&mut out, name, help, one(count));
    }
    if let Some(asked) = progress.asked {
        gauge(&mut out, "edgeproof_asked_operations_per_second", "Planned rate of operations.", asked);
    }
    gauge(&mut out, "edgeproof_in_flight_operations", "Running operations.", progress.in_flight() as f64);
    gauge(
        &mut out,
        "edgeproof_waiting_operations",
        "Operations that are due and wait for a free user.",
        progress.waiting() as f64,
    );
    out
}

fn header(out: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn gauge(out: &mut String, name: &str, help: &str, value: f64) {
    header(out, name, help, "gauge");
    let _ = writeln!(out, "{name} {value}");
}

fn counters<'a>(out: &mut String, name: &str, help: &str, each: impl IntoIterator<Item = (&'a str, u64)>) {
    header(out, name, help, "counter");
    for (labels, count) in each {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(out, "{name}{labels} {count}");
    }
}

fn histograms<'a>(
    out: &mut String,
    name: &str,
    help: &str,
    each: impl IntoIterator<Item = (&'a str, &'a Histogram)>,
) {
    header(out, name, help, "histogram");
    for (labels, times) in each {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut bucket = |le: &str, count: u64| {
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{le}\"}} {count}");
        };
        for bound in BOUNDS {
            bucket(&(bound as f64 / 1e6).to_string(), times.up_to(bound));
        }
        bucket("+Inf", times.count());
        let total = times.mean() * times.count() as f64 / 1e6;
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(out, "{name}_sum{labels} {total}\n{name}_count{labels} {}", times.count());
    }
}

/// A label value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use edgeproof_reports::load::Ledger;
    use rstest::rstest;

    use super::*;
    use crate::measure::{Code, LoadMeasurements, RequestFailure, RequestOutcome, RouteId, Sample};

    #[rstest]
    #[case(Method::GET, "/metrics", 200)]
    #[case(Method::HEAD, "/metrics", 200)]
    #[case(Method::POST, "/metrics", 405)]
    #[case(Method::GET, "/", 404)]
    #[case(Method::GET, "/metrics/", 404)]
    #[case(Method::POST, "/other", 404)]
    fn only_metrics_are_served(#[case] method: Method, #[case] path: &str, #[case] status: u16) {
        let response = answer(&method, path, "x 1\n");
        assert_eq!(response.status(), status);
        assert_eq!(response.headers().contains_key(header::ALLOW), status == 405);
    }

    /// `times`: µs of answered requests. One more request times out after 2 s.
    fn text(times: &[u64]) -> String {
        let mut measurements = LoadMeasurements::default();
        let sample = |outcome, us| Sample {
            route: RouteId(0),
            outcome,
            expected: outcome.is_answer(),
            due: Duration::ZERO,
            observed: Duration::from_micros(us),
            delay: Duration::ZERO,
            service: Duration::from_micros(us),
            waited: false,
            measured: true,
        };
        for us in times {
            measurements.record(&sample(RequestOutcome::Answer { status: 200, code: Code::Plain }, *us));
        }
        measurements.record(&sample(RequestOutcome::Failed(RequestFailure::Timeout), 2_000_000));
        let ledger = Ledger { scheduled: 10, answered: times.len() as u64, failed: 1, ..Ledger::default() };
        let progress = RunProgress {
            at: Duration::from_secs(1),
            end: Duration::from_secs(2),
            asked: Some(12.5),
            measurements: &measurements,
            ledger: &ledger,
            warm_up: &Ledger::default(),
            released: 10,
            begun: 7,
            draining: false,
        };
        write(progress, &["POST /v1/\"x\"".to_owned()], &Codes::default())
    }

    fn value(text: &str, series: &str) -> String {
        let line = text.lines().find(|line| line.starts_with(series) && !line.starts_with('#'));
        line.unwrap_or_else(|| panic!("{series} is missing in {text}"))
            .rsplit(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    }

    #[test]
    fn histograms_are_cumulative_and_labelled() {
        let text = text(&[90, 150, 3_000]);
        let labels = "route=\"POST /v1/\\\"x\\\"\",outcome=\"200\",expected=\"true\"";
        let bucket =
            |le: &str| value(&text, &format!("edgeproof_response_seconds_bucket{{{labels},le=\"{le}\"}}"));
        let found = ["0.0001", "0.0002", "0.002", "0.005", "100", "+Inf"].map(bucket);
        assert_eq!(found, ["1", "2", "2", "3", "3", "3"]);
        let sum: f64 = value(&text, &format!("edgeproof_response_seconds_sum{{{labels}}}")).parse().unwrap();
        assert!((sum - 0.00324).abs() < 0.00001, "{sum}");
        assert_eq!(value(&text, &format!("edgeproof_response_seconds_count{{{labels}}}")), "3");
        let timed_out = "edgeproof_response_seconds_bucket{route=\"POST /v1/\\\"x\\\"\",outcome=\"timed out\",expected=\"false\",";
        assert_eq!(value(&text, &format!("{timed_out}le=\"1\"}}")), "0");
        assert_eq!(value(&text, &format!("{timed_out}le=\"+Inf\"}}")), "1");
    }

    #[test]
    fn gauges_show_asked_running_and_waiting_operations() {
        let text = text(&[90, 150]);
        assert_eq!(value(&text, "edgeproof_asked_operations_per_second"), "12.5");
        assert_eq!(value(&text, "edgeproof_in_flight_operations"), "4");
        assert_eq!(value(&text, "edgeproof_waiting_operations"), "3");
        assert_eq!(value(&text, "edgeproof_operations_total{fate=\"failed\"}"), "1");
    }

    /// Every process has the same series bounds, so a sum over shards is the histogram of the whole run.
    #[test]
    fn shards_add_up() {
        let (one, other) = (text(&[90, 150]), text(&[3_000, 40_000]));
        let whole = text(&[90, 150, 3_000, 40_000]);
        let buckets = |text: &str| -> Vec<(String, u64)> {
            text.lines()
                .filter(|line| {
                    line.starts_with("edgeproof_response_seconds_bucket{") && line.contains("\"200\"")
                })
                .map(|line| line.rsplit_once(' ').unwrap())
                .map(|(series, count)| (series.to_owned(), count.parse().unwrap()))
                .collect()
        };
        let sums: Vec<(String, u64)> = buckets(&one)
            .into_iter()
            .zip(buckets(&other))
            .map(|((series, one), (same, other))| {
                assert_eq!(series, same);
                (series, one + other)
            })
            .collect();
        assert_eq!(sums, buckets(&whole));
    }
}
