//! Admin port over HTTP: its documentation, its refusals, and the effects of its commands.
#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

use std::collections::HashSet;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{LicenseForm, ReadTokenForm};
use edgeproof_http::{Answer, Body, Draft, NoAnswer, ServerAddress, send};
use edgeproof_mock::admin::{Admin, AdminOptions, ENDPOINTS, TokenRedactor};
use edgeproof_mock::{Listen, MockService, ServiceOptions};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

const LIMIT: Duration = Duration::from_secs(20);
const DOCUMENTATION: &str = include_str!("../../src/admin/README.md");

struct Bench {
    service: Arc<MockService>,
    admin: Admin,
    port: ServerAddress,
    endpoint: ServerAddress,
}

impl Bench {
    async fn start() -> Self {
        let plain = Some(Listen::At(([127, 0, 0, 1], 0).into()));
        let service =
            MockService::start_with(ServiceOptions { plain, ..ServiceOptions::default() }).await.unwrap();
        let service = Arc::new(service);
        let options = AdminOptions {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            edge: None,
            names: Vec::new(),
            seed: 7,
            redactor: Arc::new(TokenRedactor::new(service.credentials())),
        };
        let admin = Admin::start(Arc::clone(&service), options).unwrap();
        let port = ServerAddress::resolve(&Url::parse(&admin.url()).unwrap(), None).await.unwrap();
        let url = format!("http://{}", service.plain_addr().unwrap());
        let endpoint = ServerAddress::resolve(&Url::parse(&url).unwrap(), None).await.unwrap();
        Self { service, admin, port, endpoint }
    }

    async fn command(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut draft = Draft::new(method, path);
        if !body.is_empty() {
            draft = draft.body(Body::Sized(body.to_owned().into()));
        }
        let answer = send(&self.port, &draft, LIMIT).await.reply.unwrap();
        assert_eq!(answer.headers["content-type"], "application/json");
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    /// Answer to a command that succeeds.
    async fn succeeds(&self, method: &str, path: &str, body: &str) -> Value {
        let (status, answer) = self.command(method, path, body).await;
        assert!((200..300).contains(&status), "{method} {path} {body}: {answer}");
        answer
    }

    async fn post(&self) -> Result<Answer, NoAnswer> {
        let token = self.service.credentials().license(LicenseForm::Valid);
        let draft = Draft::new("POST", "/v1/relay").header("authorization", &format!("Bearer {token}"));
        send(&self.endpoint, &draft.body(Body::Sized("{}".into())), LIMIT).await.reply
    }

    async fn poll(&self, reference: &str) -> Result<Answer, NoAnswer> {
        let token = self.service.credentials().read_token(ReadTokenForm::Valid);
        let draft = Draft::new("GET", &format!("/v1/verdict/{reference}"));
        send(&self.endpoint, &draft.header("authorization", &format!("Bearer {token}")), LIMIT).await.reply
    }

    async fn keys(&self) -> Result<Answer, NoAnswer> {
        send(&self.endpoint, &Draft::new("GET", "/.well-known/browser-verdict-jwks.json"), LIMIT).await.reply
    }
}

/// The lines of the documentation's shell blocks.
fn documented() -> Vec<&'static str> {
    let blocks = DOCUMENTATION.split("```sh\n").skip(1);
    blocks.flat_map(|block| block.split("```").next().unwrap().lines()).collect()
}

/// A request that a line of the documentation sends.
#[derive(Debug)]
struct DocumentedRequest {
    method: &'static str,
    target: &'static str,
    body: &'static str,
}

impl DocumentedRequest {
    /// Reads `curl -X METHOD "$ADMIN/path" -d 'body'`, also inside of `NAME=$(…)`.
    fn read(line: &'static str) -> Option<Self> {
        let (_, options) = line.split_once("curl ")?;
        let (before, rest) = options.split_once("\"$ADMIN").unwrap();
        let (target, after) = rest.split_once('"').unwrap();
        let body = after.split_once(" -d '").map_or("", |(_, body)| body.strip_suffix('\'').unwrap());
        let usual = if body.is_empty() { "GET" } else { "POST" };
        let method = before.split_once("-X ").map_or(usual, |(_, method)| method.trim());
        Some(Self { method, target, body })
    }

    fn all() -> Vec<Self> {
        let requests: Vec<_> = documented().into_iter().filter_map(Self::read).collect();
        assert_eq!(requests.len(), DOCUMENTATION.matches("$ADMIN/").count(), "each address is in a request");
        requests
    }
}

/// Without a shell: each request, and the value that the one variable holds.
#[tokio::test]
async fn documented_requests_succeed_in_order() {
    let bench = Bench::start().await;
    let mut old = String::new();
    for DocumentedRequest { method, target, body } in DocumentedRequest::all() {
        let answer = bench.succeeds(method, &target.replace("$OLD", &old), body).await;
        if (method, target) == ("GET", "/seal-key") {
            old = answer["kid"].as_str().unwrap().to_owned();
        }
    }
}

#[ignore = "needs curl: just test-browser"]
#[tokio::test(flavor = "multi_thread")]
async fn documented_lines_work_in_order() {
    let bench = Bench::start().await;
    let mut script = String::from(
        "set -eu\ncurl() { command curl --silent --show-error --fail-with-body --max-time 20 \"$@\"; }\n",
    );
    for line in documented().into_iter().skip(1) {
        script.push_str(line);
        script.push('\n');
    }
    let url = bench.admin.url();
    let run = move || Command::new("sh").args(["-c", &script]).env("ADMIN", url).output().unwrap();
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let curls = documented().iter().filter(|line| line.starts_with("curl")).count();
    assert_eq!(text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), curls);
}

#[test]
fn every_endpoint_is_documented() {
    let of = |request: &DocumentedRequest| {
        let path = request.target.split('?').next().unwrap();
        (request.method, path.replace("/scripts/1", "/scripts/{id}").replace("$OLD", "{kid}"))
    };
    let documented_endpoints: HashSet<_> = DocumentedRequest::all().iter().map(of).collect();
    for (method, path, _) in ENDPOINTS {
        assert!(documented_endpoints.contains(&(method, path.to_owned())), "{method} {path} is undocumented");
    }
}

#[tokio::test]
async fn script_with_skip_and_count_answers_the_second_post() {
    let bench = Bench::start().await;
    let script = r#"{"match":"relay","skip":1,"count":1,"answer":{"status":503,"body":{"error":"busy"}}}"#;
    let created = bench.succeeds("POST", "/scripts", script).await;
    assert_eq!((&created["id"], &created["requests"]), (&json!(1), &json!(0)));
    let mut answers = Vec::new();
    for _ in 0..3 {
        let answer = bench.post().await.unwrap();
        answers.push((answer.status, String::from_utf8(answer.body.to_vec()).unwrap()));
    }
    assert_eq!(answers[1], (503, r#"{"error":"busy"}"#.to_owned()));
    // The usual answer to a client without a certificate.
    assert_eq!((answers[0].0, &answers[0]), (401, &answers[2]));
    let scripts = bench.succeeds("GET", "/scripts", "").await;
    assert_eq!(scripts["scripts"][0]["requests"], 2, "the script ended after the second request");
}

#[tokio::test]
async fn ended_script_uncovers_an_older_one() {
    let bench = Bench::start().await;
    bench.succeeds("POST", "/scripts", r#"{"match":"verdicts","answer":{"status":500}}"#).await;
    bench.succeeds("POST", "/scripts", r#"{"match":"verdicts","count":1,"answer":{"status":501}}"#).await;
    let statuses = [bench.poll("a").await, bench.poll("a").await].map(|answer| answer.unwrap().status);
    assert_eq!(statuses, [501, 500]);
    bench.succeeds("DELETE", "/scripts/1", "").await;
    assert_eq!(bench.poll("a").await.unwrap().status, 404);
    for gone in ["/scripts/1", "/scripts/x"] {
        let (status, _) = bench.command("DELETE", gone, "").await;
        assert_eq!(status, 404);
    }
}

#[tokio::test]
async fn connection_faults_break_connections() {
    let bench = Bench::start().await;
    let cut = bench.succeeds("POST", "/scripts", r#"{"match":"keys","fault":{"close_after":100}}"#).await;
    assert_eq!(cut["script"]["fault"]["close_after"], 100);
    assert!(
        bench.keys().await.is_err_and(|why| matches!(why, NoAnswer::Closed | NoAnswer::NotHttp(_)))
            || !bench.keys().await.unwrap().complete
    );
    bench.succeeds("POST", "/scripts", r#"{"match":{"verdict":"a b"},"fault":"reset"}"#).await;
    assert_eq!(bench.poll("a%20b").await.unwrap_err(), NoAnswer::Reset);
    assert_eq!(bench.poll("other").await.unwrap().status, 404);
}

#[tokio::test]
async fn same_seed_gives_the_same_random_faults() {
    let bench = Bench::start().await;
    let run = async || {
        let script = r#"{"match":"verdicts","chance":0.5,"count":12,"fault":"close"}"#;
        assert_eq!(bench.succeeds("POST", "/scripts", script).await["seed"], 7);
        let mut closed = Vec::new();
        for _ in 0..12 {
            closed.push(bench.poll("a").await.is_err());
        }
        bench.succeeds("DELETE", "/scripts", "").await;
        closed
    };
    let first = run().await;
    assert!(first.contains(&true) && first.contains(&false));
    assert_eq!(run().await, first);
}

#[tokio::test]
async fn clock_sessions_and_keys_follow_commands() {
    let bench = Bench::start().await;
    bench.succeeds("POST", "/clock", r#"{"stop":true}"#).await;
    bench.succeeds("POST", "/sessions", r#"{"ref":"order 4711","decision":"deny","confidence":0.4}"#).await;
    let verdict: Value = serde_json::from_slice(&bench.poll("order%204711").await.unwrap().body).unwrap();
    assert_eq!((&verdict["decision"], &verdict["confidence"]), (&json!("deny"), &json!(0.4)));
    bench.succeeds("POST", "/clock", r#"{"advance":"2m1s"}"#).await;
    assert_eq!(bench.poll("order%204711").await.unwrap().status, 404);
    let clock = bench.succeeds("POST", "/clock", r#"{"set":"2030-01-31T12:00:00Z"}"#).await;
    assert_eq!(clock["now"], "2030-01-31T12:00:00.000Z");
    bench.succeeds("POST", "/reset", "").await;
    assert_eq!(bench.succeeds("GET", "/clock", "").await["offset_ms"], 0);

    let kid = bench.succeeds("POST", "/keys/rotate", "").await["kid"].clone();
    let keys: Value = serde_json::from_slice(&bench.keys().await.unwrap().body).unwrap();
    assert_eq!((keys["keys"].as_array().unwrap().len(), &keys["keys"][1]["kid"]), (2, &kid));
    let before = bench.succeeds("GET", "/seal-key", "").await;
    assert_ne!(bench.succeeds("POST", "/seal-key/rotate", "").await["kid"], before["kid"]);
    let path = format!("/seal-key/{}", before["kid"].as_str().unwrap());
    bench.succeeds("DELETE", &path, "").await;
    assert_eq!(bench.command("DELETE", &path, "").await.0, 400);
}

#[tokio::test]
async fn faults_make_checks_fail_until_reset() {
    let bench = Bench::start().await;
    let body = r#"{"license_check":"license-keys-missing","read_token_check":"read-token-check-fails"}"#;
    let faults = bench.succeeds("PUT", "/faults", body).await;
    assert_eq!(faults["verdict_delay"], "0s");
    assert_eq!(bench.succeeds("GET", "/faults", "").await, faults);
    let reason = |answer: Result<Answer, NoAnswer>| {
        serde_json::from_slice::<Value>(&answer.unwrap().body).unwrap()["error"].clone()
    };
    assert_eq!(reason(bench.post().await), "license_not_configured");
    assert_eq!(reason(bench.poll("a").await), "verify_error");
    bench.succeeds("POST", "/reset", "").await;
    assert_eq!(bench.poll("a").await.unwrap().status, 404);
    assert_eq!(bench.succeeds("GET", "/faults", "").await["license_check"], Value::Null);
}

#[tokio::test]
async fn journal_shows_requests_without_secrets() {
    let bench = Bench::start().await;
    bench.post().await.unwrap();
    bench.poll("order%204711").await.unwrap();
    let token = bench.service.credentials().read_token(ReadTokenForm::Valid);
    let query = Draft::new("GET", &format!("/v1/verdict/a?token={token}"));
    send(&bench.endpoint, &query, LIMIT).await.reply.unwrap();
    let journal = bench.succeeds("GET", "/journal", "").await;
    let text = journal.to_string();
    for secret in [bench.service.credentials().license(LicenseForm::Valid), token] {
        assert!(!text.contains(&secret[30..60]), "{text}");
    }
    let entries = journal["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &journal["next"]), (3, &json!(3)));
    let of = |entry: &Value| {
        [&entry["endpoint"], &entry["status"], &entry["row"], &entry["cause"]].map(Clone::clone)
    };
    assert_eq!(
        of(&entries[0]),
        [json!("relay"), json!(401), json!("relay.401.client-cert-required"), json!("certificate-missing")]
    );
    assert_eq!(
        of(&entries[1]),
        [json!("verdict"), json!(404), json!("verdict.404.pending"), json!("reference-unknown")]
    );
    assert!(
        entries[1]["headers"]["authorization"][0].as_str().unwrap().starts_with("Bearer [read-token valid ")
    );
    assert_eq!(entries[0]["body"], "{}");
    let part = bench.succeeds("GET", "/journal?since=1&limit=1", "").await;
    assert_eq!((&part["entries"][0]["number"], &part["next"]), (&json!(1), &json!(2)));
    bench.succeeds("DELETE", "/journal", "").await;
    let after = bench.succeeds("GET", "/journal", "").await;
    assert_eq!(after, json!({ "entries": [], "next": 3 }));
}

#[rstest]
#[case::rebinding(&[("Host", "attacker.example")], "foreign_host")]
#[case::page(&[("Origin", "http://localhost:3000")], "foreign_origin")]
#[case::form(&[("Sec-Fetch-Site", "cross-site")], "foreign_origin")]
#[tokio::test]
async fn request_of_a_foreign_page_has_no_effect(#[case] fields: &[(&str, &str)], #[case] error: &str) {
    let bench = Bench::start().await;
    bench.service.clock().stop();
    let time = bench.service.clock().now();
    let host =
        if fields[0].0 == "Host" { String::new() } else { format!("Host: {}\r\n", bench.admin.addr()) };
    let fields: String = fields.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
    let body = r#"{"advance":"2m"}"#;
    let request = format!(
        "POST /clock HTTP/1.1\r\n{host}{fields}Content-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(bench.admin.addr()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    tokio::time::timeout(LIMIT, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains(error), "{answer}");
    assert!(!answer.to_lowercase().contains("access-control-allow"), "{answer}");
    assert_eq!(bench.service.clock().now(), time);
}

#[rstest]
#[case("GET", "/nowhere", "", 404, "GET / lists the paths")]
#[case("PATCH", "/clock", "", 405, "this path accepts GET, POST")]
#[case("POST", "/clock", "", 400, "the body is missing")]
#[case("POST", "/clock", r#"{"advance":"2m","set":"2030-01-01T00:00:00Z"}"#, 400, "give exactly one of")]
#[case("POST", "/clock", r#"{"advance":"soon"}"#, 400, "invalid duration \"soon\"")]
#[case("POST", "/clock", r#"{"forward":"2m"}"#, 400, "unknown field `forward`")]
#[case("POST", "/sessions", r#"{"ref":""}"#, 400, "\"ref\" is empty")]
#[case("POST", "/sessions", r#"{"ref":"a","confidence":2}"#, 400, "not between 0 and 1")]
#[case("PUT", "/faults", r#"{"license_check":"expired"}"#, 400, "this check has license-check-unknown")]
#[case("GET", "/journal?from=1", "", 400, "use since=NUMBER")]
#[case("GET", "/clock?x", "", 400, "takes no query")]
#[case("POST", "/reset", "[]", 400, "takes no body")]
#[tokio::test]
async fn invalid_command_is_refused(
    #[case] method: &str,
    #[case] path: &str,
    #[case] body: &str,
    #[case] status: u16,
    #[case] why: &str,
) {
    let bench = Bench::start().await;
    let (refused, body) = bench.command(method, path, body).await;
    assert_eq!(refused, status, "{body}");
    assert!(body["message"].as_str().unwrap().contains(why), "{body}");
}

#[tokio::test]
async fn bodies_and_scripts_are_bounded() {
    let bench = Bench::start().await;
    let (status, body) = bench.command("POST", "/scripts", &" ".repeat(1024 * 1024 + 1)).await;
    assert_eq!((status, &body["error"]), (413, &json!("payload_too_large")));
    for _ in 0..1000 {
        bench.succeeds("POST", "/scripts", r#"{"match":"keys","fault":"close"}"#).await;
    }
    let (status, body) = bench.command("POST", "/scripts", r#"{"match":"keys","fault":"close"}"#).await;
    assert_eq!((status, &body["error"]), (409, &json!("too_many_scripts")));
}

#[tokio::test]
async fn dropped_admin_port_ends_its_scripts() {
    let bench = Bench::start().await;
    bench.succeeds("POST", "/scripts", r#"{"match":"verdicts","answer":{"status":500}}"#).await;
    let addr = bench.admin.addr();
    let Bench { service, admin, .. } = bench;
    admin.stop().await;
    // A child that another test forks has a copy of the listener until it runs its program.
    // The system resets connections to the copy then.
    let refused = async {
        while let Ok(mut queued) = TcpStream::connect(addr).await {
            let _ = queued.read(&mut [0]).await;
        }
    };
    tokio::time::timeout(LIMIT, refused).await.expect("nobody listens any more");
    assert!(Arc::into_inner(service).is_some(), "nobody else holds the service any more");
}
