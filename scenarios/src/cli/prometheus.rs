use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use edgeproof_cli::Failure;
use edgeproof_http::{Limits, ListenerProtocol, Server};
use edgeproof_reports::load::Ledger;
use http::{Method, Response, StatusCode, header};
use http_body_util::Full;
use parking_lot::Mutex;
use tokio::net::TcpListener;

use crate::engine::RunProgress;
use crate::measure::{Codes, Histogram, OutcomeSeries};

/// Serves running figures in the Prometheus text format. Dropping it stops the server.
pub(super) struct Metrics {
    server: Server,
    text: Arc<Mutex<String>>,
    routes: Vec<String>,
    codes: Codes,
}

const PATH: &str = "/metrics";
const RESPONSE: &str = "Time from the intended start to the end of a request, less the delay of the load generator. A request without an answer \
                        counts at its age.";
/// Powers of ten of the upper bounds of the buckets (µs): 1, 2 and 5 times each, up to 100 s. They are the same in every
/// process, so that shards add up.
const POWERS: std::ops::Range<u32> = 2..8;

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
        let text: Arc<Mutex<String>> = Arc::default();
        let shown = Arc::clone(&text);
        let answer = move |request: http::Request<_>, _| {
            let response = answer(request.method(), request.uri().path(), &shown.lock());
            async move { Ok::<_, Infallible>(response) }
        };
        let server = Server::start(listener, ListenerProtocol::Plain, Limits::default(), answer);
        Ok(Self { server: server.map_err(fault)?, text, routes, codes })
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Publishes the progress.
    pub(super) fn publish(&self, progress: RunProgress<'_>) {
        let text = write(progress, &self.routes, &self.codes);
        *self.text.lock() = text;
    }
}

/// `text` at `/metrics`, for GET and HEAD. The server removes the body of a HEAD answer.
fn answer(method: &Method, path: &str, text: &str) -> Response<Full<Bytes>> {
    let (status, body) = match (path, method) {
        (PATH, &Method::GET | &Method::HEAD) => (StatusCode::OK, text.to_owned()),
        (PATH, _) => (StatusCode::METHOD_NOT_ALLOWED, "use GET\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, format!("the metrics are at {PATH}\n")),
    };
    let kind = match status {
        StatusCode::OK => "text/plain; version=0.0.4; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    let mut response = Response::builder().status(status).header(header::CONTENT_TYPE, kind);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response = response.header(header::ALLOW, "GET, HEAD");
    }
    response.body(Full::new(Bytes::from(body))).expect("the header fields are valid")
}

fn write(progress: RunProgress<'_>, routes: &[String], codes: &Codes) -> String {
    let of = progress.recorded;
    let labels = |series: &OutcomeSeries| {
        let route = routes.get(usize::from(series.route.0)).map_or("", String::as_str);
        let (route, outcome) = (escaped(route), escaped(&codes.label(series.outcome)));
        format!("route=\"{route}\",outcome=\"{outcome}\",expected=\"{}\"", series.expected)
    };
    let mut out = String::new();
    let requests = of.series.iter().map(|series| (labels(series), series.response.count() as f64));
    family(&mut out, "requests_total", "counter", "Measured requests.", requests);
    for (name, help, times) in [
        ("response", RESPONSE, (|series| &series.response) as fn(&OutcomeSeries) -> &Histogram),
        ("service", "Time from sending to the end of a request.", |series| &series.service),
    ] {
        histograms(&mut out, name, help, of.series.iter().map(|series| (labels(series), times(series))));
    }
    for (name, help, times) in [
        ("lateness", "Delay by the load generator of operations with a free connection.", &of.lateness),
        ("generator_delay", "Delay added by the load generator.", &of.delay),
        ("time_to_verdict", "Time from the start of a session to its verdict.", &of.verdict.answered),
        ("connect", "Set-up time of a connection, without TLS.", &of.connects),
        ("tls", "Duration of a TLS handshake.", &of.tls),
    ] {
        histograms(&mut out, name, help, [(String::new(), times)]);
    }
    let Ledger { answered, failed, dropped, open, without_verdict, .. } = of.ledger;
    let ends = [("answered", answered), ("failed", failed), ("dropped", dropped), ("open", open)];
    let ends = ends.map(|(end, count)| (format!("fate=\"{end}\""), count as f64));
    family(&mut out, "operations_total", "counter", "Measured operations by their end.", ends);
    let RunProgress { released, begun, .. } = progress;
    for (name, help, count) in [
        ("due_total", "Operations that were due, warm-up included.", released),
        ("begun_total", "Started operations, warm-up included.", begun),
        ("sent_bytes_total", "Sent bytes of HTTP.", of.bytes_sent),
        ("received_bytes_total", "Received bytes of HTTP.", of.bytes_received),
        ("sessions_without_verdict_total", "Sessions that got no verdict.", without_verdict),
    ] {
        family(&mut out, name, "counter", help, [(String::new(), count as f64)]);
    }
    for (name, help, value) in [
        ("asked_operations_per_second", "Planned rate of operations.", progress.asked),
        ("in_flight_operations", "Running operations.", Some(progress.in_flight() as f64)),
        ("waiting_operations", "Operations that wait for a free user.", Some(progress.waiting() as f64)),
    ] {
        if let Some(value) = value {
            family(&mut out, name, "gauge", help, [(String::new(), value)]);
        }
    }
    out
}

/// Writes the samples of a metric: their labels and values.
fn family(
    out: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    samples: impl IntoIterator<Item = (String, f64)>,
) {
    header(out, name, kind, help);
    samples.into_iter().for_each(|(labels, value)| sample(out, name, "", &labels, value));
}

/// Writes histograms of times with their labels.
fn histograms<'a>(
    out: &mut String,
    name: &str,
    help: &str,
    all: impl IntoIterator<Item = (String, &'a Histogram)>,
) {
    let name = format!("{name}_seconds");
    header(out, &name, "histogram", help);
    for (labels, times) in all {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut bucket = |le: &str, count: u64| {
            sample(out, &name, "_bucket", &format!("{labels}{comma}le=\"{le}\""), count as f64);
        };
        let bounds = POWERS.flat_map(|power| [1, 2, 5].map(|times| times * 10_u64.pow(power)));
        for bound in bounds.chain([10_u64.pow(POWERS.end)]) {
            bucket(&(bound as f64 / 1e6).to_string(), times.up_to(bound));
        }
        bucket("+Inf", times.count());
        sample(out, &name, "_sum", &labels, times.mean() * times.count() as f64 / 1e6);
        sample(out, &name, "_count", &labels, times.count() as f64);
    }
}

// Writing to a string cannot fail.
fn header(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP edgeproof_{name} {help}\n# TYPE edgeproof_{name} {kind}");
}

fn sample(out: &mut String, name: &str, part: &str, labels: &str, value: f64) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = writeln!(out, "edgeproof_{name}{part}{labels} {value}");
}

/// A label value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use edgeproof_fixtures::spec::{Spec, Version};
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
            unrelayed: false,
            due: Duration::ZERO,
            observed: Duration::from_micros(us),
            delay: Duration::ZERO,
            service: Duration::from_micros(us),
            waited: false,
            lateness: None,
            waiting: None,
            measured: true,
        };
        for us in times {
            measurements.record(&sample(RequestOutcome::Answer { status: 200, code: Code::Plain }, *us));
        }
        measurements.record(&sample(RequestOutcome::Failed(RequestFailure::Timeout), 2_000_000));
        measurements.ledger =
            Ledger { scheduled: 10, answered: times.len() as u64, failed: 1, ..Ledger::default() };
        let progress = RunProgress {
            at: Duration::from_secs(1),
            end: Duration::from_secs(2),
            asked: Some(12.5),
            recorded: &measurements,
            released: 10,
            begun: 7,
        };
        write(progress, &["POST /v1/\"x\"".to_owned()], &Codes::new(&Spec::builtin(Version::Current)))
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
