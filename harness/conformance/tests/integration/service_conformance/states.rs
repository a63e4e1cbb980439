//! Somebody else's service is proven like our own: its state hook makes what the embedded run makes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Mutex;

use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{MockServer, Request, Respond, ResponseTemplate, matchers};

use super::program::{Run, conformance, program};
use crate::limited;
use crate::mock_program::Mock;

/// Our mock as somebody else's service, with its admin port as state hook.
struct Foreign {
    mock: Mock,
    service: String,
    admin: String,
    settings: PathBuf,
}

impl Foreign {
    fn start() -> Self {
        let any = "127.0.0.1:0";
        let addresses = ["--listen", any, "--plain", any, "--edge", any, "--admin", any, "--json"];
        let mut mock = Mock::start(&addresses);
        let ready = mock.ready();
        let text = |name: &str| ready[name].as_str().unwrap_or_else(|| panic!("{ready}")).to_owned();
        let (service, admin, settings) = (text("plain"), text("admin"), text("settings").into());
        Self { mock, service, admin, settings }
    }

    fn token(&self, kind: &str, form: &str) -> String {
        let mut command = program();
        command.args(["mint", kind, "--form", form, "--settings"]).arg(&self.settings);
        let output = limited::output(&mut command);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs `service` or `keys` on it, with all inputs and this hook.
    fn run(&self, part: &str, hook: &str, more: &[&str]) -> Run {
        let license = self.token("license", "valid");
        let mut arguments = vec![part, "--base-url", &self.service, "--state-url", hook];
        match part {
            "keys" => arguments.extend(["--keys-url", &self.service]),
            _ => arguments.extend(["--license", &license]),
        }
        arguments.extend(more);
        let tokens =
            ["valid", "other-license", "revoked", "expired"].map(|form| self.token("read-token", form));
        let names = ["READ_TOKEN", "READ_TOKEN_OTHER", "READ_TOKEN_REVOKED", "READ_TOKEN_EXPIRED"];
        let environment: Vec<_> = names.into_iter().zip(tokens.iter().map(String::as_str)).collect();
        super::program::conformance_with(&arguments, &environment)
    }

    fn hook(&self) -> String {
        format!("{}/state", self.admin)
    }

    fn stop(self) {
        self.mock.stop();
    }
}

fn outcomes(run: &Run) -> BTreeMap<String, String> {
    let cases = run.report["cases"].as_array().unwrap_or_else(|| panic!("{}{}", run.out, run.err)).iter();
    let text = |case: &Value, name: &str| case[name].as_str().unwrap().to_owned();
    cases.map(|case| (text(case, "id"), text(case, "outcome"))).collect()
}

#[rstest]
#[case::service("service")]
#[case::keys("keys")]
fn foreign_mock_is_proven_like_the_embedded_one(#[case] part: &str) {
    let foreign = Foreign::start();
    let run = foreign.run(part, &foreign.hook(), &["--waits"]);
    let embedded = conformance(&[part, "--waits"], None);
    // The plain address has no HTTP/2.
    let without = |run: &Run| {
        let mut outcomes = outcomes(run);
        outcomes.retain(|id, _| !id.contains("http2"));
        outcomes
    };
    let (run, embedded) = (without(&run), without(&embedded));
    let differ: Vec<_> = run.iter().filter(|(id, outcome)| embedded.get(*id) != Some(outcome)).collect();
    assert!(differ.is_empty() && run.len() == embedded.len(), "{differ:?}");
    foreign.stop();
}

/// A state hook that answers by itself for some states, and hands on the others.
struct Without {
    admin: String,
    off: Vec<&'static str>,
    answer: u16,
}

impl Respond for Without {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let wanted: Value = serde_json::from_slice(&request.body).unwrap();
        let is_off = |off: &&str| match *off {
            "age" => wanted["age"].as_u64().is_some_and(|age| age > 0),
            "license" => wanted["license"] == "other",
            state => wanted["state"] == state,
        };
        if self.off.iter().any(is_off) {
            return ResponseTemplate::new(self.answer);
        }
        hand_on(&self.admin, &request.body)
    }
}

/// The answer of the mock's admin port.
fn hand_on(admin: &str, body: &[u8]) -> ResponseTemplate {
    let host = admin.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST /state HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
    ResponseTemplate::new(status).set_body_string(body)
}

/// Freedoms of a correct service.
#[derive(Clone, Copy)]
enum Freedom {
    /// It makes its own references.
    OwnReferences,
    /// A session has one verdict at most.
    NotRenewed,
}

/// The state hook of a service with a freedom.
struct Free {
    admin: String,
    freedom: Freedom,
    /// Sessions with a verdict, or the number of references so far.
    judged: Mutex<BTreeSet<String>>,
}

impl Respond for Free {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut wanted: Value = serde_json::from_slice(&request.body).unwrap();
        let state = wanted["state"].as_str().unwrap().to_owned();
        let session = format!("{} {}", wanted["license"], wanted["ref"]);
        let mut judged = self.judged.lock().unwrap();
        match (self.freedom, state.as_str()) {
            (Freedom::OwnReferences, "verdict" | "pending") => {
                let number = judged.len();
                judged.insert(format!("own {number}"));
                let own = format!("0192-{number:08x}-session");
                wanted["ref"] = own.clone().into();
                let _done = hand_on(&self.admin, wanted.to_string().as_bytes());
                return ResponseTemplate::new(200).set_body_json(json!({ "ref": own }));
            }
            (Freedom::NotRenewed, "verdict") if !judged.insert(session.clone()) => {
                return ResponseTemplate::new(200);
            }
            (Freedom::NotRenewed, "gone") => {
                judged.retain(|known| !known.ends_with(&wanted["ref"].to_string()));
            }
            _ => {}
        }
        hand_on(&self.admin, &request.body)
    }
}

#[rstest]
#[case::own_references(Freedom::OwnReferences)]
#[case::not_renewed(Freedom::NotRenewed)]
#[tokio::test(flavor = "multi_thread")]
async fn correct_service_conforms_with_each_freedom(#[case] freedom: Freedom) {
    let foreign = Foreign::start();
    let server = MockServer::start().await;
    let hook = Free { admin: foreign.admin.clone(), freedom, judged: Mutex::default() };
    wiremock::Mock::given(matchers::any()).respond_with(hook).mount(&server).await;
    for part in ["service", "keys"] {
        let run = foreign.run(part, &server.uri(), &["--strict"]);
        assert_eq!(run.exit, 0, "{}", run.out);
        let own =
            |id: &String| run.case(id)["because"].as_str().unwrap().contains("with the given reference");
        assert_eq!(
            run.ended("not-applicable").iter().any(own),
            matches!(freedom, Freedom::OwnReferences),
            "{}",
            run.out
        );
    }
    foreign.stop();
}

#[rstest]
#[case(&[
    ("age", "the state verdict with an age"),
    ("pending", "the state pending"),
    ("revoke", "the states revoke and restore"),
    ("collection", "the state collection"),
])]
#[case(&[
    ("license", "the state verdict with another license"),
    ("gone", "the state gone"),
    ("later", "the state later"),
    ("outage", "the state outage"),
])]
#[case(&[
    ("restore", "the states revoke and restore"),
    ("credential", "the state credential"),
    ("waiting", "the state waiting"),
])]
#[tokio::test(flavor = "multi_thread")]
async fn unsupported_state_makes_its_cases_not_applicable(#[case] off: &[(&'static str, &str)]) {
    let foreign = Foreign::start();
    let server = MockServer::start().await;
    let hook = Without {
        admin: foreign.admin.clone(),
        off: off.iter().map(|(state, _)| *state).collect(),
        answer: 501,
    };
    wiremock::Mock::given(matchers::any()).respond_with(hook).mount(&server).await;
    let run = foreign.run("service", &server.uri(), &["--exclude", "vary.*"]);
    assert_eq!(run.exit, 0, "{}", run.out);
    let missing = run.ended("not-applicable");
    let because: Vec<&str> = missing.iter().map(|id| run.case(id)["because"].as_str().unwrap()).collect();
    for (_, input) in off {
        assert!(because.iter().any(|because| because.contains(input)), "{input}: {missing:?}");
        assert!(run.out.contains(input), "the last line counts them: {}", run.out);
    }
    let is_allowed =
        |because: &&str| off.iter().any(|(_, input)| because.contains(input)) || because.contains("--waits");
    assert!(because.iter().all(is_allowed), "{because:?}");
    assert!(run.ended("not-run").is_empty() && run.ended("fail").is_empty(), "{}", run.out);
    foreign.stop();
}

/// A hook that answers with this.
async fn answering(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    wiremock::Mock::given(matchers::any()).respond_with(answer).mount(&server).await;
    server
}

fn check_failure(run: &Run, exit: i32, texts: &[&str]) {
    assert_eq!(run.exit, exit, "{}{}", run.out, run.err);
    let shown = format!("{}{}", run.out, run.err).replace('│', " ");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in texts {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[rstest]
#[case::error(ResponseTemplate::new(500).set_body_string("no database"), &["it answered 500 \"no database\"", r#"{"state":"verdict""#])]
#[case::garbage(ResponseTemplate::new(200).set_body_string("done!"), &["it answered \"done!\"", "an object of JSON"])]
#[case::credential(ResponseTemplate::new(401), &["it answered 401 nothing", "expected 200 or 501"])]
#[tokio::test(flavor = "multi_thread")]
async fn hook_that_fails_exits_3_with_one_message(#[case] answer: ResponseTemplate, #[case] texts: &[&str]) {
    let foreign = Foreign::start();
    let server = answering(answer).await;
    check_failure(&foreign.run("service", &server.uri(), &[]), 3, texts);
    foreign.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_that_hangs_exits_3() {
    let foreign = Foreign::start();
    let server = answering(ResponseTemplate::new(200).set_delay(std::time::Duration::from_secs(60))).await;
    check_failure(&foreign.run("service", &server.uri(), &[]), 3, &["within 10 seconds"]);
    foreign.stop();
}

#[test]
fn hook_that_is_not_there_exits_3() {
    let foreign = Foreign::start();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check_failure(
        &foreign.run("service", &format!("http://{nobody}/state"), &[]),
        3,
        &["the state hook failed"],
    );
    foreign.stop();
}

/// The hook says that the state is there, and it is not.
#[rstest]
#[case::verdict("service", "verdict", 1, &["verdict.available"], "Either the hook is wrong, or the service loses verdicts")]
#[case::restore("service", "restore", 1, &["verdict.revoked.at-once"], "still refuses the read token")]
#[case::later("service", "later", 3, &[], "Move the clock of the service in the state later")]
#[case::rotate("keys", "rotate", 3, &[], "answer when a new key signs, or answer 501")]
#[case::later_of_keys("keys", "later", 3, &[], "Move the clock of the service in the state later")]
#[tokio::test(flavor = "multi_thread")]
async fn state_that_is_not_true_is_one_finding(
    #[case] part: &str,
    #[case] off: &'static str,
    #[case] exit: i32,
    #[case] failing: &[&str],
    #[case] text: &str,
) {
    let foreign = Foreign::start();
    let server = MockServer::start().await;
    let hook = Without { admin: foreign.admin.clone(), off: vec![off], answer: 200 };
    wiremock::Mock::given(matchers::any()).respond_with(hook).mount(&server).await;
    let run = foreign.run(part, &server.uri(), &["--exclude", "vary.*", "--details"]);
    check_failure(&run, exit, &[text]);
    assert_eq!(run.ended("fail"), failing, "{}", run.out);
    assert!(!run.ended("not-run").is_empty(), "{}", run.out);
    foreign.stop();
}

#[rstest]
#[case::both(&["--state-url", "http://127.0.0.1:9", "--state-command", "cat"], "cannot be used with")]
#[case::no_url(&["--state-url", "127.0.0.1/state"], "as the URL of a server")]
#[case::user_name(&["--state-url", "http://name:secret-value@127.0.0.1:9"], "it contains a user name")]
#[case::no_program(&["--state-command", "edgeproof-no-such-program"], "edgeproof-no-such-program")]
#[case::header_alone(&["--state-header", "A: b"], "--state-url")]
#[case::no_header(&["--state-url", "http://127.0.0.1:9", "--state-header", "secret-value"], "it is not a header")]
#[case::no_file(&["--state-url", "http://127.0.0.1:9", "--state-header", "A: @/nowhere/file"], "/nowhere/file")]
fn wrong_option_exits_2(#[case] options: &[&str], #[case] text: &str) {
    let run = conformance(&[&["service", "--base-url", "http://127.0.0.1:9"], options].concat(), None);
    check_failure(&run, 2, &[text]);
    assert!(!run.err.contains("secret-value"), "{}", run.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_a_hook_are_not_shown() {
    let foreign = Foreign::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credential");
    std::fs::write(&file, "the-credential-of-the-hook\n").unwrap();
    let server = MockServer::start().await;
    let echo = |request: &Request| {
        let header = request.headers.get("x-key").map(|value| value.to_str().unwrap().to_owned());
        ResponseTemplate::new(500).set_body_string(header.unwrap_or_default())
    };
    wiremock::Mock::given(matchers::any()).respond_with(echo).mount(&server).await;
    let header = format!("X-Key: @{}", file.display());
    let run = foreign.run("service", &server.uri(), &["--state-header", &header]);
    check_failure(&run, 3, &["[state-header"]);
    assert!(!format!("{}{}", run.out, run.err).contains("the-credential"), "{}", run.err);
    foreign.stop();
}

/// A program as hook. It supports nothing but pending sessions, which need no change.
#[test]
fn command_is_a_hook() {
    let foreign = Foreign::start();
    let command = r#"sh -c 'read request; case "$request" in *\"pending\"*) exit 0;; esac; exit 3'"#;
    let token = foreign.token("read-token", "valid");
    let arguments = [
        "service",
        "--base-url",
        &foreign.service,
        "--state-command",
        command,
        "--filter",
        "verdict.pending.*",
    ];
    let run = conformance(&arguments, Some(&token));
    assert_eq!(run.exit, 0, "{}{}", run.out, run.err);
    assert_eq!(run.ended("pass"), ["verdict.pending.not-yet", "verdict.pending.unknown"], "{}", run.out);
    foreign.stop();
}
