//! Runs that end early.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use edgeproof_http::{ListenerProtocol, Server};
use edgeproof_reports::load::LoadState;
use rustix::process::Signal;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::targets::serve;
use crate::support::{LIMIT, ProgramCall, RunningProgram, until};

pub(super) async fn target_that_stops_leaves_a_partial_result() {
    let mut edge = LoadedEdge::start().await;
    let program = edge.load_until_answered("--duration 3s", 10).await;
    edge.server.stop(Duration::ZERO).await;
    let run = program.wait_beside().await;
    assert!(run.stdout.contains("was gone from"), "{run}");
    let report = run.ended(3);
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 3));
    assert!(report.ledger.balances() && report.ledger.answered >= 10 && report.ledger.failed > 0);
}

pub(super) async fn signal_leaves_a_partial_result() {
    let mut edge = LoadedEdge::start().await;
    let program = edge.load_until_answered("--duration 1h", 5).await;
    program.signal(Signal::TERM);
    let report = program.wait_beside().await.ended(143);
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 143));
    assert!(report.ledger.balances() && report.ledger.answered >= 5);
}

/// Goose's own handler would end the program with exit code 1.
pub(super) async fn second_ctrl_c_exits_130() {
    let mut edge = LoadedEdge::start().await;
    let program = edge.load_until_answered("--duration 1h", 5).await;
    for _ in 0..2 {
        program.signal(Signal::INT);
    }
    let report = program.wait_beside().await.ended(130);
    assert_eq!((report.state, report.exit_code), (LoadState::Partial, 130));
}

/// An edge that accepts every collection, and counts them.
pub(super) struct LoadedEdge {
    pub(super) server: Server,
    requests: UnboundedReceiver<()>,
}

impl LoadedEdge {
    pub(super) async fn start() -> Self {
        let (server, requests) = serve(ListenerProtocol::Plain).await;
        Self { server, requests }
    }

    /// Starts a run with metrics, at 40/s.
    pub(super) fn load(&self, options: &str) -> RunningProgram {
        let line = format!(
            "edge-relay --edge-url http://{} --rate 40 --warm-up 0s --unchecked --threshold 'error-rate<99%' {options}",
            self.server.addr()
        );
        ProgramCall::new(&line).arg("--prometheus", "127.0.0.1:0").start()
    }

    /// Starts a run and waits until this many requests are answered.
    pub(super) async fn load_until_answered(&mut self, options: &str, requests: u64) -> RunningProgram {
        let mut program = self.load(options);
        let metrics = metrics_address(&mut program);
        for number in 0..requests {
            let request = timeout(LIMIT, self.requests.recv()).await;
            assert!(request.is_ok(), "only {number} requests arrived");
        }
        until("metrics of enough answers", || {
            let answered = answered(metrics);
            if answered < requests { Err(answered) } else { Ok(()) }
        });
        program
    }
}

/// The address of the metrics, from the program's standard error.
pub(super) fn metrics_address(program: &mut RunningProgram) -> SocketAddr {
    let (_, rest) = program.stderr.line_with("Prometheus").rsplit_once("http://").unwrap();
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
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let request = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let _ = stream.read_to_string(&mut text);
    }
    text
}
