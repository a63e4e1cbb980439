//! The program against all kinds of edges and services: launched and attached, with TLS and client
//! certificates.
#![expect(clippy::unwrap_used, reason = "test helpers, which clippy does not recognise as tests")]

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use edgeproof::target::{ALLOWED_ORIGIN, Embedded};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, ReadTokenForm, Role};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{ClientAuth, Limits, ListenerProtocol, Server, server_config};
use edgeproof_mock::{Match, MockService, NewSession, Script, ServiceOptions};
use edgeproof_reports::load::{LoadReport, LoadState};
use http::Response;
use http_body_util::{BodyExt, Full};
use rstest::rstest;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Result of a run.
struct Ran {
    code: Option<i32>,
    output: String,
    report: Option<LoadReport>,
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof-load"));
    command.env_remove("READ_TOKEN").env_remove("JOB_COMPLETION_INDEX").current_dir("..");
    command
}

/// A short run at a rate that a busy machine can serve.
fn run(words: &[&str], more: &[(&str, &Path)], token: Option<&str>) -> Ran {
    let folder = TempDir::new().unwrap();
    let json = folder.path().join("load.json");
    let mut command = program();
    command.args(words);
    if !words.contains(&"--users") {
        command.args(["--rate", "40"]);
    }
    command.args([
        "--duration",
        "1s",
        "--warm-up",
        "200ms",
        "--unchecked",
        "--report",
        &format!("json={}", json.display()),
    ]);
    for (name, path) in more {
        command.arg(name).arg(path);
    }
    command.envs(token.map(|token| ("READ_TOKEN", token)));
    let output = command.output().unwrap();
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ran { code: output.status.code(), output: printed, report: LoadReport::load(&json).ok() }
}

/// Runs in a separate task, so that the servers of the test keep running.
async fn run_beside(words: Vec<String>, more: Vec<(&'static str, PathBuf)>, token: Option<String>) -> Ran {
    let run = move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let more: Vec<(&str, &Path)> = more.iter().map(|(name, path)| (*name, path.as_path())).collect();
        run(&words, &more, token.as_deref())
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn minted() -> (Arc<Credentials>, CredentialFiles) {
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let files = CredentialFiles::write(&credentials).unwrap();
    (credentials, files)
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn launched_edge_is_loaded_and_its_cost_reported() {
    if Command::new("node").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("SKIPPED: no node in PATH, so the Node edge is not launched");
        return;
    }
    let launch = ["edge-relay", "--launch", "node fixtures/edges/node/edge.mjs"];
    let ran = run(&launch, &[], None);
    assert_eq!(ran.code, Some(0), "{}", ran.output);
    let report = ran.report.unwrap();
    assert!(report.reconciled[0].agrees && report.edge_added.is_some(), "{}", ran.output);
    let cost = report.edge_cost.unwrap();
    assert!(cost.cpu_s > 0.0 && cost.memory_most > 10 << 20, "{cost:?}");
    assert!(ran.output.contains("edge: "), "{}", ran.output);
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn attached_edge_is_loaded(#[values("http", "https")] scheme: &str) {
    let (credentials, files) = minted();
    let spec = Arc::new(Spec::builtin(Version::Current));
    let service = MockService::start_with(ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials)))
        .await
        .unwrap();
    let takes = service.script(Match::Everything, Script::accept(service.profile()));
    let settings = files.settings(&credentials, &service.url(), ALLOWED_ORIGIN);
    let mut edge = Embedded::new(Arc::clone(&spec), spec.profile().clone());
    let mut more = Vec::new();
    if scheme == "https" {
        edge = edge.https(&credentials, &files);
        more.push(("--edge-ca", files.certificate(Role::EdgeAuthority)));
    }
    let edge = edge.start(&settings).await.unwrap();
    let url = edge.url().to_string();
    let ran = run_beside(words(&format!("edge-relay --edge-url {url}")), more, None).await;
    assert_eq!(ran.code, Some(0), "{}", ran.output);
    let report = ran.report.unwrap();
    assert_eq!(report.ledger.answered, 40, "{}", ran.output);
    // The program does not see the service's counts. The service has also counted the latency probes.
    let tries = takes.count() as u64 - report.routes[0].sent;
    assert!((2..=8).contains(&tries), "{tries}");
    if scheme == "https" {
        let ran = run_beside(words(&format!("edge-relay --edge-url {url}")), Vec::new(), None).await;
        assert_eq!(ran.code, Some(3), "{}", ran.output);
        assert!(ran.output.contains("--edge-ca") || ran.output.contains("certificate"), "{}", ran.output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sealed_collections_reach_an_attached_service() {
    let (credentials, files) = minted();
    let spec = Arc::new(Spec::builtin(Version::Current));
    let service = MockService::start_with(ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials)))
        .await
        .unwrap();
    let settings = files.settings(&credentials, &service.url(), ALLOWED_ORIGIN);
    let edge = Embedded::new(Arc::clone(&spec), spec.profile().clone()).start(&settings).await.unwrap();
    let folder = TempDir::new().unwrap();
    let key = folder.path().join("seal-key.json");
    std::fs::write(&key, service.seal_key().to_jwk().to_string()).unwrap();
    let more = vec![("--seal-key", key), ("--service-ca", files.certificate(Role::ServiceAuthority))];
    let line = format!("journey --seal real --edge-url {} --base-url {}", edge.url(), service.url());
    let token = credentials.read_token(ReadTokenForm::Valid);
    let ran = run_beside(words(&line), more, Some(token.clone())).await;
    assert_eq!(ran.code, Some(0), "{}", ran.output);
    let report = ran.report.unwrap();
    assert_eq!((report.errors(), report.time_to_verdict.unwrap().figures.count), (0, 40), "{}", ran.output);
    assert!(ran.output.contains("sealing: "), "{}", ran.output);
    assert!(!ran.output.contains(&token));
    let ran =
        run_beside(words(&format!("edge-relay --seal real --edge-url {}", edge.url())), Vec::new(), None)
            .await;
    assert_eq!(ran.code, Some(2), "{}", ran.output);
    assert!(ran.output.contains("--seal-key"), "{}", ran.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_service_is_polled() {
    let (credentials, files) = minted();
    let spec = Arc::new(Spec::builtin(Version::Current));
    let service = MockService::start_with(ServiceOptions::new(spec, Arc::clone(&credentials))).await.unwrap();
    let folder = TempDir::new().unwrap();
    let references = folder.path().join("references");
    let mut file = std::fs::File::create(&references).unwrap();
    for number in 0..50 {
        service.add_session(NewSession::new(format!("order-{number}")));
        writeln!(file, "order-{number}").unwrap();
    }
    writeln!(file, "nobody none # never heard of").unwrap();
    let token = credentials.read_token(ReadTokenForm::Valid);
    let more = || {
        vec![
            ("--references", references.clone()),
            ("--service-ca", files.certificate(Role::ServiceAuthority)),
        ]
    };
    let line =
        format!("verdict-polling --base-url {} --wrong-share 20% --bad-token-share 20%", service.url());
    let ran = run_beside(words(&line), more(), Some(token.clone())).await;
    assert_eq!(ran.code, Some(0), "{}", ran.output);
    let report = ran.report.unwrap();
    let labels: Vec<&str> =
        report.routes[0].outcomes.iter().map(|outcome| outcome.outcome.as_str()).collect();
    assert!(labels.contains(&"200") && labels.contains(&"404 pending"), "{labels:?}");
    assert!(labels.iter().any(|outcome| outcome.starts_with("401 ")), "{labels:?}");
    assert!(!ran.output.contains(&token));
    // With an invalid token every answer is an error, so the run fails.
    let ran = run_beside(words(&line), more(), Some("service_read_nothing".into())).await;
    assert_eq!(ran.code, Some(1), "{}", ran.output);
}

/// An edge that accepts every collection and requires a client certificate.
async fn strict_edge(credentials: &Credentials) -> Server {
    let certificate = credentials.certificate(Role::EdgeServer);
    let authority = credentials.certificate(Role::ClientAuthority).der();
    let config =
        server_config(certificate.chain_der(), certificate.key_der(), ClientAuth::From(authority)).unwrap();
    serve(ListenerProtocol::Tls(config)).await
}

async fn serve(front: ListenerProtocol) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    Server::start(listener, front, Limits::default(), |request, _| async move {
        let _ = request.into_body().collect().await;
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(br#"{"ok":true}"#))))
    })
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn client_certificate_is_presented() {
    let (credentials, files) = minted();
    let edge = strict_edge(&credentials).await;
    let line = format!("edge-relay --edge-url https://localhost:{}", edge.addr().port());
    let authority = ("--edge-ca", files.certificate(Role::EdgeAuthority));
    let with = vec![
        authority.clone(),
        ("--client-cert", files.certificate(Role::ClientForLicense)),
        ("--client-key", files.key(Role::ClientForLicense).unwrap()),
    ];
    let ran = run_beside(words(&line), with, None).await;
    assert_eq!(
        (ran.code, ran.report.map(|report| report.ledger.answered)),
        (Some(0), Some(40)),
        "{}",
        ran.output
    );
    let ran = run_beside(words(&line), vec![authority], None).await;
    assert_eq!(ran.code, Some(3), "{}", ran.output);
    assert!(ran.output.contains("reach the"), "{}", ran.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn target_that_stops_leaves_a_partial_result() {
    let edge = serve(ListenerProtocol::Plain).await;
    let url = format!("http://{}", edge.addr());
    let folder = TempDir::new().unwrap();
    let json = folder.path().join("load.json");
    let mut child = program()
        .args([
            "edge-relay",
            "--rate",
            "40",
            "--duration",
            "4s",
            "--warm-up",
            "0s",
            "--unchecked",
            "--edge-url",
            &url,
        ])
        .args(["--prometheus", "127.0.0.1:0", "--threshold", "error-rate<99%"])
        .arg("--report")
        .arg(format!("json={}", json.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stderr.take().unwrap());
    let metrics = figures_address(&mut output);
    // Some requests are answered before the edge stops.
    while answered(metrics) < 10 {
        tokio::task::yield_now().await;
    }
    edge.stop(std::time::Duration::ZERO).await;
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("was gone from"), "{text}");
    let report = LoadReport::load(&json).unwrap();
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 3));
    assert!(report.ledger.balances() && report.ledger.answered >= 10 && report.ledger.failed > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_leaves_a_partial_result() {
    let edge = serve(ListenerProtocol::Plain).await;
    let folder = TempDir::new().unwrap();
    let json = folder.path().join("load.json");
    let mut child = program()
        .args(["edge-relay", "--rate", "40", "--duration", "1h", "--warm-up", "0s", "--unchecked"])
        .args(["--edge-url", &format!("http://{}", edge.addr()), "--prometheus", "127.0.0.1:0"])
        .arg("--report")
        .arg(format!("json={}", json.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stderr.take().unwrap());
    let metrics = figures_address(&mut output);
    while answered(metrics) < 5 {
        tokio::task::yield_now().await;
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(output.status.code(), Some(143));
    let report = LoadReport::load(&json).unwrap();
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 143));
    assert!(report.ledger.balances() && report.ledger.answered >= 5);
}

/// The address of the metrics, from the program's standard error.
fn figures_address(output: &mut impl BufRead) -> SocketAddr {
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        if let Some((_, rest)) = line.rsplit_once("http://")
            && line.contains("Prometheus")
        {
            return rest.trim().trim_end_matches("/metrics").parse().unwrap();
        }
        line.clear();
    }
    panic!("the program prints no metrics address");
}

/// Number of requests with the expected outcome, from the metrics.
fn answered(metrics: SocketAddr) -> u64 {
    let Ok(mut stream) = TcpStream::connect(metrics) else { return 0 };
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let line = text
        .lines()
        .find(|line| line.starts_with("edgeproof_requests_total{") && line.contains("expected=\"true\""));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn baseline_is_compared() {
    let folder = TempDir::new().unwrap();
    let baseline = folder.path().join("baseline.json");
    let to = format!("json={}", baseline.display());
    let first = program()
        .args([
            "edge-relay",
            "--rate",
            "40",
            "--duration",
            "1s",
            "--warm-up",
            "0s",
            "--unchecked",
            "--quiet",
            "--report",
            &to,
        ])
        .output()
        .unwrap();
    assert_eq!(first.status.code(), Some(0));
    let ran = run(&["edge-relay", "--tolerance", "10%"], &[("--compare", &baseline)], None);
    assert_eq!(ran.code, Some(0), "{}", ran.output);
    let comparison = ran.report.unwrap().comparison.unwrap();
    let named =
        |figure: &str| comparison.differences.iter().any(|difference| difference.figure.contains(figure));
    assert!(named("CPU") && named("p50") && named("p99"), "{comparison:?}");
    assert!(ran.output.contains("compared with "), "{}", ran.output);

    let written = std::fs::read_to_string(&baseline).unwrap();
    let refused = |scenario: &str, from: &str, to: &str, says: &str| {
        assert!(written.contains(from), "{from}");
        std::fs::write(&baseline, written.replace(from, to)).unwrap();
        let ran = run(&[scenario], &[("--compare", &baseline)], None);
        assert_eq!(ran.code, Some(2), "{}", ran.output);
        assert!(ran.output.contains(says), "{}", ran.output);
    };
    refused("edge-relay", "edgeproof.load/1", "edgeproof.load/2", "edgeproof.load/2");
    refused("edge-relay", "\"state\": \"unchecked\"", "\"state\": \"partial\"", "that run was partial");
    refused("edge-relay", "\"to\": 40.0", "\"to\": 60.0", "from 40 to 60/s there and 40/s here");
    refused("journey", "", "", "the scenario is edge-relay there and journey here");
}
