//! Runs that end early.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::time::Duration;

use edgeproof_http::ListenerProtocol;
use edgeproof_reports::load::LoadState;

use super::targets::serve;
use super::{ProgramCall, ProgramRun};

#[tokio::test(flavor = "multi_thread")]
async fn target_that_stops_leaves_a_partial_result() {
    let edge = serve(ListenerProtocol::Plain).await;
    let line = format!("edge-relay --edge-url http://{} --duration 4s", edge.addr());
    let (child, folder) = start_and_wait_for(&line, 10);
    edge.stop(Duration::ZERO).await;
    let run = tokio::task::spawn_blocking(move || ProgramRun::of(child, &folder)).await.unwrap();
    assert!(run.stdout.contains("was gone from"), "{run}");
    let report = run.ended(3);
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 3));
    assert!(report.ledger.balances() && report.ledger.answered >= 10 && report.ledger.failed > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_leaves_a_partial_result() {
    let edge = serve(ListenerProtocol::Plain).await;
    let line = format!("edge-relay --edge-url http://{} --duration 1h", edge.addr());
    let (child, folder) = start_and_wait_for(&line, 5);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let report =
        tokio::task::spawn_blocking(move || ProgramRun::of(child, &folder).ended(143)).await.unwrap();
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 143));
    assert!(report.ledger.balances() && report.ledger.answered >= 5);
}

/// Goose's own handler would end the program with exit code 1.
#[tokio::test(flavor = "multi_thread")]
async fn second_ctrl_c_exits_130() {
    let edge = serve(ListenerProtocol::Plain).await;
    let line = format!("edge-relay --edge-url http://{} --duration 1h", edge.addr());
    let (child, folder) = start_and_wait_for(&line, 5);
    let pid = rustix::process::Pid::from_child(&child);
    for _ in 0..2 {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }
    let report =
        tokio::task::spawn_blocking(move || ProgramRun::of(child, &folder).ended(130)).await.unwrap();
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 130));
}

/// Starts a run and waits until this many requests are answered.
pub(super) fn start_and_wait_for(line: &str, requests: u64) -> (Child, tempfile::TempDir) {
    let line = format!("{line} --rate 40 --warm-up 0s --unchecked --threshold 'error-rate<99%'");
    let (mut child, folder) = ProgramCall::new(&line).arg("--prometheus", "127.0.0.1:0").start();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let metrics = metrics_address(&mut stderr);
    while answered(metrics) < requests {
        std::thread::yield_now();
    }
    child.stderr = Some(stderr.into_inner());
    (child, folder)
}

/// The address of the metrics, from the program's standard error.
pub(super) fn metrics_address(stderr: &mut impl BufRead) -> SocketAddr {
    let mut lines = stderr.lines().map(Result::unwrap);
    let line = lines.find(|line| line.contains("Prometheus")).expect("the program prints its address");
    let (_, rest) = line.rsplit_once("http://").unwrap();
    rest.trim_end_matches("/metrics").parse().unwrap()
}

/// Number of requests with the expected outcome, from the metrics.
fn answered(metrics: SocketAddr) -> u64 {
    let text = get(metrics, "GET", "/metrics");
    let line = text
        .lines()
        .find(|line| line.starts_with("edgeproof_requests_total{") && line.contains("expected=\"true\""));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

/// An answer of the metrics server; empty without one.
pub(super) fn get(metrics: SocketAddr, method: &str, path: &str) -> String {
    let mut text = String::new();
    if let Ok(mut stream) = TcpStream::connect(metrics) {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let _ = stream.read_to_string(&mut text);
    }
    text
}
