//! The admin port, over HTTP: what its documentation prints, what it refuses, and what commands do to the service.
#![expect(clippy::unwrap_used, reason = "what a helper of a test cannot have fails the test")]

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
use tokio::net::TcpListener;
use url::Url;

const LIMIT: Duration = Duration::from_secs(20);
const DOCUMENTATION: &str = include_str!("../src/admin/README.md");

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

    /// A command that is obeyed.
    async fn obeyed(&self, method: &str, path: &str, body: &str) -> Value {
        let (status, told) = self.command(method, path, body).await;
        assert!((200..300).contains(&status), "{method} {path} {body}: {told}");
        told
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

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_lines_work_one_after_the_other() {
    let bench = Bench::start().await;
    let mut script =
        String::from("set -eu\ncurl() { command curl --silent --show-error --fail-with-body \"$@\"; }\n");
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
    let mut seen = HashSet::new();
    for line in
        documented().into_iter().filter_map(|line| line.split("$ADMIN").nth(1).map(|rest| (line, rest)))
    {
        let (line, rest) = line;
        let method = match line.split_once("-X ") {
            Some((_, rest)) => rest.split(' ').next().unwrap(),
            None if line.contains(" -d ") => "POST",
            None => "GET",
        };
        let path = rest.split(['"', '?']).next().unwrap();
        let path = path.replace("/scripts/1", "/scripts/{id}").replace("$OLD", "{kid}");
        seen.insert((method, path));
    }
    for (method, path, _) in ENDPOINTS {
        assert!(seen.contains(&(method, path.to_owned())), "{method} {path} has no line");
    }
}

#[tokio::test]
async fn the_second_post_gets_503() {
    let bench = Bench::start().await;
    let script = r#"{"match":"relay","skip":1,"count":1,"answer":{"status":503,"body":{"error":"busy"}}}"#;
    let told = bench.obeyed("POST", "/scripts", script).await;
    assert_eq!((&told["id"], &told["requests"]), (&json!(1), &json!(0)));
    let mut answers = Vec::new();
    for _ in 0..3 {
        let answer = bench.post().await.unwrap();
        answers.push((answer.status, String::from_utf8(answer.body.to_vec()).unwrap()));
    }
    assert_eq!(answers[1], (503, r#"{"error":"busy"}"#.to_owned()));
    // The usual answer to who presents no certificate.
    assert_eq!((answers[0].0, &answers[0]), (401, &answers[2]));
    let scripts = bench.obeyed("GET", "/scripts", "").await;
    assert_eq!(scripts["scripts"][0]["requests"], 2, "it was over then");
}

#[tokio::test]
async fn a_script_that_is_over_lets_an_older_one_be() {
    let bench = Bench::start().await;
    bench.obeyed("POST", "/scripts", r#"{"match":"verdicts","answer":{"status":500}}"#).await;
    bench.obeyed("POST", "/scripts", r#"{"match":"verdicts","count":1,"answer":{"status":501}}"#).await;
    let statuses = [bench.poll("a").await, bench.poll("a").await].map(|answer| answer.unwrap().status);
    assert_eq!(statuses, [501, 500]);
    bench.obeyed("DELETE", "/scripts/1", "").await;
    assert_eq!(bench.poll("a").await.unwrap().status, 404);
    let (status, _) = bench.command("DELETE", "/scripts/1", "").await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn faults_break_connections() {
    let bench = Bench::start().await;
    let cut = bench.obeyed("POST", "/scripts", r#"{"match":"keys","fault":{"close_after":100}}"#).await;
    assert_eq!(cut["script"]["fault"]["close_after"], 100);
    assert!(
        bench.keys().await.is_err_and(|why| matches!(why, NoAnswer::Closed | NoAnswer::NotHttp(_)))
            || !bench.keys().await.unwrap().complete
    );
    bench.obeyed("POST", "/scripts", r#"{"match":{"verdict":"a b"},"fault":"reset"}"#).await;
    assert_eq!(bench.poll("a%20b").await.unwrap_err(), NoAnswer::Reset);
    assert_eq!(bench.poll("other").await.unwrap().status, 404);
}

#[tokio::test]
async fn random_faults_come_from_the_seed() {
    let bench = Bench::start().await;
    let run = async || {
        let script = r#"{"match":"verdicts","chance":0.5,"count":12,"fault":"close"}"#;
        assert_eq!(bench.obeyed("POST", "/scripts", script).await["seed"], 7);
        let mut closed = Vec::new();
        for _ in 0..12 {
            closed.push(bench.poll("a").await.is_err());
        }
        bench.obeyed("DELETE", "/scripts", "").await;
        closed
    };
    let first = run().await;
    assert!(first.contains(&true) && first.contains(&false));
    assert_eq!(run().await, first);
}

#[tokio::test]
async fn time_sessions_and_keys_are_commanded() {
    let bench = Bench::start().await;
    bench.obeyed("POST", "/clock", r#"{"stop":true}"#).await;
    bench.obeyed("POST", "/sessions", r#"{"ref":"order 4711","decision":"deny","confidence":0.4}"#).await;
    let verdict: Value = serde_json::from_slice(&bench.poll("order%204711").await.unwrap().body).unwrap();
    assert_eq!((&verdict["decision"], &verdict["confidence"]), (&json!("deny"), &json!(0.4)));
    bench.obeyed("POST", "/clock", r#"{"advance":"2m1s"}"#).await;
    assert_eq!(bench.poll("order%204711").await.unwrap().status, 404);
    let clock = bench.obeyed("POST", "/clock", r#"{"set":"2030-01-31T12:00:00Z"}"#).await;
    assert_eq!(clock["now"], "2030-01-31T12:00:00.000Z");
    bench.obeyed("POST", "/reset", "").await;
    assert_eq!(bench.obeyed("GET", "/clock", "").await["offset_ms"], 0);

    let kid = bench.obeyed("POST", "/keys/rotate", "").await["kid"].clone();
    let keys: Value = serde_json::from_slice(&bench.keys().await.unwrap().body).unwrap();
    assert_eq!((keys["keys"].as_array().unwrap().len(), &keys["keys"][1]["kid"]), (2, &kid));
    let before = bench.obeyed("GET", "/seal-key", "").await;
    assert_ne!(bench.obeyed("POST", "/seal-key/rotate", "").await["kid"], before["kid"]);
    let path = format!("/seal-key/{}", before["kid"].as_str().unwrap());
    bench.obeyed("DELETE", &path, "").await;
    assert_eq!(bench.command("DELETE", &path, "").await.0, 400);
}

#[tokio::test]
async fn checks_fail_as_commanded() {
    let bench = Bench::start().await;
    let faults = r#"{"license_check":"license-keys-missing","read_token_check":"read-token-check-fails"}"#;
    let told = bench.obeyed("PUT", "/faults", faults).await;
    assert_eq!(told["verdict_delay"], "0s");
    assert_eq!(bench.obeyed("GET", "/faults", "").await, told);
    let reason = |answer: Result<Answer, NoAnswer>| {
        serde_json::from_slice::<Value>(&answer.unwrap().body).unwrap()["error"].clone()
    };
    assert_eq!(reason(bench.post().await), "license_not_configured");
    assert_eq!(reason(bench.poll("a").await), "verify_error");
    bench.obeyed("POST", "/reset", "").await;
    assert_eq!(bench.poll("a").await.unwrap().status, 404);
    assert_eq!(bench.obeyed("GET", "/faults", "").await["license_check"], Value::Null);
}

#[tokio::test]
async fn the_journal_tells_what_arrived_without_secrets() {
    let bench = Bench::start().await;
    bench.post().await.unwrap();
    bench.poll("order%204711").await.unwrap();
    let token = bench.service.credentials().read_token(ReadTokenForm::Valid);
    let query = Draft::new("GET", &format!("/v1/verdict/a?token={token}"));
    send(&bench.endpoint, &query, LIMIT).await.reply.unwrap();
    let journal = bench.obeyed("GET", "/journal", "").await;
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
    let part = bench.obeyed("GET", "/journal?since=1&limit=1", "").await;
    assert_eq!((&part["entries"][0]["number"], &part["next"]), (&json!(1), &json!(2)));
    bench.obeyed("DELETE", "/journal", "").await;
    let after = bench.obeyed("GET", "/journal", "").await;
    assert_eq!(after, json!({ "entries": [], "next": 3 }));
}

#[rstest]
#[case::rebinding(&[("Host", "attacker.example")], "foreign_host")]
#[case::page(&[("Origin", "http://localhost:3000")], "foreign_origin")]
#[case::form(&[("Sec-Fetch-Site", "cross-site")], "foreign_origin")]
#[tokio::test]
async fn foreign_pages_command_nothing(#[case] fields: &[(&str, &str)], #[case] error: &str) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
    let mut stream = tokio::net::TcpStream::connect(bench.admin.addr()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains(error), "{answer}");
    assert!(!answer.to_lowercase().contains("access-control-allow"), "{answer}");
    assert_eq!(bench.service.clock().now(), time);
}

#[rstest]
#[case("GET", "/nowhere", "", 404, "GET / lists what there is")]
#[case("PATCH", "/clock", "", 405, "this path takes GET, POST")]
#[case("POST", "/clock", "", 400, "a body in JSON is needed")]
#[case("POST", "/clock", r#"{"advance":"2m","set":"2030-01-01T00:00:00Z"}"#, 400, "say one of")]
#[case("POST", "/clock", r#"{"advance":"soon"}"#, 400, "\"soon\" is no time span")]
#[case("POST", "/clock", r#"{"forward":"2m"}"#, 400, "unknown field `forward`")]
#[case("POST", "/sessions", r#"{"ref":""}"#, 400, "\"ref\" is empty")]
#[case("POST", "/sessions", r#"{"ref":"a","confidence":2}"#, 400, "not between 0 and 1")]
#[case("PUT", "/faults", r#"{"license_check":"expired"}"#, 400, "there is license-check-unknown")]
#[case("GET", "/journal?from=1", "", 400, "there is ?since=NUMBER")]
#[case("GET", "/clock?x", "", 400, "takes no query")]
#[case("POST", "/reset", "{}", 400, "takes no body")]
#[tokio::test]
async fn mistakes_are_told(
    #[case] method: &str,
    #[case] path: &str,
    #[case] body: &str,
    #[case] status: u16,
    #[case] why: &str,
) {
    let bench = Bench::start().await;
    let (told, body) = bench.command(method, path, body).await;
    assert_eq!(told, status, "{body}");
    assert!(body["message"].as_str().unwrap().contains(why), "{body}");
}

#[tokio::test]
async fn bodies_and_scripts_are_bounded() {
    let bench = Bench::start().await;
    let (status, told) = bench.command("POST", "/scripts", &" ".repeat(1024 * 1024 + 1)).await;
    assert_eq!((status, &told["error"]), (413, &json!("payload_too_large")));
    for _ in 0..1000 {
        bench.obeyed("POST", "/scripts", r#"{"match":"keys","fault":"close"}"#).await;
    }
    let (status, told) = bench.command("POST", "/scripts", r#"{"match":"keys","fault":"close"}"#).await;
    assert_eq!((status, &told["error"]), (409, &json!("too_many_scripts")));
}

#[tokio::test]
async fn it_stops_with_its_scripts() {
    let bench = Bench::start().await;
    bench.obeyed("POST", "/scripts", r#"{"match":"verdicts","answer":{"status":500}}"#).await;
    let addr = bench.admin.addr();
    let Bench { service, admin, .. } = bench;
    admin.stop().await;
    // A child that another test forks has a copy of the listener until it runs its program.
    let refused = async { while tokio::net::TcpStream::connect(addr).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(20), refused).await.expect("nobody listens any more");
    assert!(Arc::into_inner(service).is_some(), "nobody else holds the service any more");
}
