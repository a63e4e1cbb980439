//! Results of runs in which cases lack inputs, and of runs against something that is not the target.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use edgeproof_fixtures::credentials::{Credentials, MintOptions, ReadTokenForm};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::{Listen, MockService, ServiceOptions};
use edgeproof_reports::Outcome;
use rstest::rstest;

use super::support::{Folder, check};
use crate::limited;

/// A service without TLS, as somebody else's.
async fn service() -> (MockService, String) {
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let plain = Some(Listen::At(([127, 0, 0, 1], 0).into()));
    let options = ServiceOptions::new(Arc::new(Spec::builtin(Version::Current)), credentials);
    let service = MockService::start_with(ServiceOptions { plain, ..options }).await.unwrap();
    let url = format!("http://{}", service.plain_addr().unwrap());
    (service, url)
}

/// Sends the same bytes to every client. Its thread ends with the tests.
fn server(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_inputs_are_named_in_the_last_line() {
    let (_service, url) = service().await;
    let folder = Folder::new();
    let args = ["conformance", "service", "--base-url", &url];
    let plain = folder.seen(&args);
    let all = folder.seen(&[&args[..], &["--require-all", "--quiet"]].concat());
    check("verdict_without_read_token", &[plain, all].join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn given_inputs_are_not_reported_as_missing() {
    let (service, url) = service().await;
    let folder = Folder::new();
    let run = |token: &str, more: &[&str]| {
        let args = ["conformance", "service", "--base-url", &url, "--quiet", "--report", "json=r.json"];
        let mut command = folder.command(&[&args[..], more].concat());
        let code = limited::output(command.env("READ_TOKEN", token)).status.code();
        let missing = folder.report("r.json").missing_inputs;
        let missing: Vec<String> = missing.into_iter().map(|missing| missing.input).collect();
        (code, missing)
    };
    let token = service.credentials().read_token(ReadTokenForm::Valid);
    let (code, missing) = run(&token, &[]);
    assert_eq!(code, Some(0));
    assert!(!missing.contains(&"a read token".to_owned()), "{missing:?}");
    assert!(missing.contains(&"minutes of real time".to_owned()), "{missing:?}");
    let (code, missing) =
        run("", &["--filter", "verdict.unauthorized.*", "--exclude", "*.license", "--require-all"]);
    assert_eq!((code, missing), (Some(0), vec![]));
}

/// Nothing that ran is never 0.
#[tokio::test(flavor = "multi_thread")]
async fn filter_that_matches_only_inapplicable_cases_exits_3() {
    let (_service, url) = service().await;
    let folder = Folder::new();
    let service = ["conformance", "service", "--base-url", &url, "--filter", "verdict.sanity.*"];
    let edge = ["conformance", "--filter", "http2.*"];
    check("verdict_nothing_ran", &[folder.seen(&service), folder.seen(&edge)].join("\n"));
}

#[test]
fn run_that_only_observes_does_not_conform() {
    let folder = Folder::new();
    check("verdict_only_observed", &folder.seen(&["conformance", "--filter", "method.options-plain"]));
}

#[test]
fn reasons_are_in_each_report() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", "accept.exact-body", "--filter", "http2.*"];
    let reports = ["--report", "markdown=r.md", "--report", "html=r.html"];
    assert_eq!(folder.run(&[&args[..], &reports].concat()).status.code(), Some(0));
    for name in ["r.md", "r.html"] {
        let text = folder.read(name);
        assert!(text.contains("Not applicable"), "{text}");
        assert!(text.contains("1 × requires an edge that serves https"), "{text}");
    }
}

const PAGE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\nConnection: close\r\n\r\n<h1>Hello</h1>\r\n";
const ABSENT: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\nConnection: close\r\n\r\nNot Found\n";
const OPEN_PAGE: &[u8] =
    b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: *\r\n\
      Content-Length: 2\r\nConnection: close\r\n\r\n{}";
const REDIRECT: &[u8] =
    b"HTTP/1.1 301 Moved\r\nLocation: https://shop.example/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const NO_METHOD: &[u8] =
    b"HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/html\r\nContent-Length: 7\r\nConnection: close\r\n\r\n<h1>405";
const NO_METHOD_AS_JSON: &[u8] =
    b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nContent-Length: 15\r\nConnection: close\r\n\r\n{\"status\": 405}";
const BROKEN: &[u8] =
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 25\r\nConnection: close\r\n\r\n500 Internal Server Error";
/// A TLS alert: unexpected message.
const TLS: &[u8] = b"\x15\x03\x03\x00\x02\x02\x0a";

#[rstest]
#[case::page(PAGE, "http", "no edge of this interface")]
#[case::absent(ABSENT, "http", "no edge of this interface")]
#[case::open_page(OPEN_PAGE, "http", "no edge of this interface")]
#[case::no_method(NO_METHOD, "http", "no edge of this interface")]
#[case::no_method_as_json(NO_METHOD_AS_JSON, "http", "no edge of this interface")]
#[case::status_in_its_body(BROKEN, "http", "with 500 Internal Server Error, and")]
#[case::redirect(REDIRECT, "http", "301 (to https://shop.example/)")]
#[case::tls(TLS, "http", "if it speaks TLS, use https://")]
#[case::nothing(b"", "http", "connection closed without an answer")]
#[case::page_over_tls(PAGE, "https", "it does not speak TLS")]
fn no_edge_is_one_finding(#[case] answer: &'static [u8], #[case] scheme: &str, #[case] finding: &str) {
    let folder = Folder::new();
    let url = format!("{scheme}://{}", server(answer));
    let args = ["conformance", &url, "--no-service", "--report", "json=r.json"];
    assert_eq!(folder.run(&args).status.code(), Some(3));
    let report = folder.report("r.json");
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    assert!(report.findings[0].contains(finding), "{:?}", report.findings);
    let ran = |outcome: Outcome| !matches!(outcome, Outcome::NotRun | Outcome::NotApplicable);
    assert!(!report.cases.iter().any(|case| ran(case.outcome)));
}

#[test]
fn no_edge_is_shown_with_advice() {
    let folder = Folder::new();
    let url = format!("http://{}", server(ABSENT));
    check("verdict_no_edge", &folder.seen(&["conformance", &url, "--no-service", "--quiet"]));
}
