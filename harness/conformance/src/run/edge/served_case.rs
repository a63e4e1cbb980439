use std::fmt::Write as _;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_cli::exit_code::INCOMPLETE;
use edgeproof_launch::LogTail;
use edgeproof_mock::{Arrival, Observer, Script};
use edgeproof_reports::escape::visible;
use edgeproof_reports::{CaseReport, Hop, TargetKind};
use tokio::sync::mpsc;

use super::arrival_text::{ExpectedArrival, arrival_text};
use super::call::{Call, CallRequest};
use super::lease::Lease;
use super::lease_error::LeaseError;
use super::monitors::certificate;
use super::pool::EdgePool;
use super::pool_options::EdgePoolOptions;
use super::runner::{RECOVERY, check_log, check_secrets, wait_until_quiet};
use crate::cases::{AnyCase, Case, Edge, EdgeCaseContext, ExpectedRelay, Procedure, collection};
use crate::monitor::ExpectedCertificate;
use crate::request_text::request_lines;
use crate::run::enter::enter;
use crate::run::options::RunOptions;
use crate::run::report::{after_run, timeout_check, write_hints};
use crate::run::runner_context::RunnerContext;

/// A case whose requests a user sends by hand, and the edge for it.
pub struct ServedCase {
    /// The case.
    pub case: Case<Edge>,
    /// The edge and the service behind it.
    pub edges: EdgePoolOptions,
}

impl ServedCase {
    /// Starts edge and mock service for the case, and prints how to send its requests. Then it prints each request at the
    /// service with its checks, and plays the case itself after each line on standard input. Ends with the exit code of
    /// `interrupted`, or with 3 after the death of the edge. Fails if edge or mock service cannot start.
    pub async fn serve(
        self,
        print: &mut (dyn FnMut(String) + Send),
        interrupted: impl Future<Output = u8>,
    ) -> Result<u8, LeaseError> {
        let Self { mut case, mut edges } = self;
        // The setup of a shared launch also has the values of other cases.
        case.settings.setup = case.settings.alone.unwrap_or(case.settings.setup);
        let (sender, arrivals) = mpsc::unbounded_channel();
        edges.observer = Some(Observer::new(move |arrival| {
            // The session ends before the service does.
            let _ = sender.send(arrival.clone());
        }));
        let mut pool = EdgePool::new(edges);
        pool.start_services().await?;
        let (messages, _) = mpsc::unbounded_channel();
        let context = RunnerContext::new(Arc::new(RunOptions::default()), messages, TargetKind::Launched);
        let result = tokio::select! {
            result = serve(&pool, &context, &case, arrivals, print) => result,
            exit_code = interrupted => Ok(exit_code),
        };
        pool.end().await;
        result
    }
}

/// Serves until the edge dies.
async fn serve(
    pool: &EdgePool,
    context: &RunnerContext,
    case: &Case<Edge>,
    arrivals: mpsc::UnboundedReceiver<Arrival>,
    print: &mut (dyn FnMut(String) + Send),
) -> Result<u8, LeaseError> {
    let lease = pool.lease(pool.reserve(case.settings.setup, true).await).await?;
    let mut edge = lease.instance.case_context(&case.id, case.level, true, context.request_timeout());
    let log = edge.target.log.clone();
    let marker = edge.marker.clone();
    let mut session = Session {
        expected: ExpectedArrival {
            license: edge.target.license.clone(),
            certificate: edge
                .target
                .settings
                .as_ref()
                .map_or(ExpectedCertificate::Open, |settings| certificate(case.settings.setup, settings)),
            relayed: Vec::new(),
            kept_back: Vec::new(),
        },
        shown_log: log.as_ref().map_or(0, LogTail::mark),
        marker,
        pool,
        context,
        case,
        lease,
        log,
        arrivals,
        print,
    };
    if let Some(mode) = case.settings.listener {
        edge.set_listener(mode).await;
    }
    session.announce(&mut edge);
    // Its scripts stay in force until the end.
    let _ready = edge;
    Ok(session.run().await)
}

/// An edge in use, and what was printed of it.
struct Session<'s> {
    /// Marker in the bodies of the printed requests.
    marker: String,
    pool: &'s EdgePool,
    context: &'s RunnerContext,
    case: &'s Case<Edge>,
    lease: Lease,
    expected: ExpectedArrival,
    log: Option<LogTail>,
    /// Number of the next line of the log to print.
    shown_log: usize,
    arrivals: mpsc::UnboundedReceiver<Arrival>,
    print: &'s mut (dyn FnMut(String) + Send),
}

impl Session<'_> {
    /// Prints how to send the requests of the case.
    fn announce(&mut self, edge: &mut EdgeCaseContext) {
        let case = self.case;
        if !case.is_data() {
            // Requests that the user sends instead are accepted, not judged by the mock service.
            edge.script(Script::accept(&self.pool.options().profile));
        }
        let call = Call::new(case, &self.lease.instance, edge);
        let mut text = format!("serving {}: {}\n{}", case.id, case.title, call.text);
        match &case.procedure {
            Procedure::Exchange(_) | Procedure::Exchanges(_) => {
                text.push_str(
                    "\npress Enter to let edgeproof play the case and judge the answer, Ctrl-C to end",
                );
            }
            Procedure::Monitor(_) => {
                text.push_str("\nno request shows this case: it judges the requests of all other cases. Try one of them, or:");
                push_collection(&mut text, edge);
                text.push_str("\npress Ctrl-C to end");
            }
            Procedure::Steps(_) => {
                text.push_str("\nno single curl plays this case: it takes several steps, or depends on time. Its setup is ready for:");
                push_collection(&mut text, edge);
                text.push_str("\npress Enter to let edgeproof play the case and judge it, Ctrl-C to end");
            }
        }
        for CallRequest { draft, relay } in call.requests {
            let bodies = match relay {
                ExpectedRelay::Nothing => &mut self.expected.kept_back,
                ExpectedRelay::Once | ExpectedRelay::Any => &mut self.expected.relayed,
            };
            bodies.push(Bytes::copy_from_slice(draft.body.bytes()));
        }
        if self.expected.relayed.is_empty() && self.expected.kept_back.is_empty() {
            let tried = edge.fill(&collection());
            self.expected.relayed.push(Bytes::copy_from_slice(tried.body.bytes()));
        }
        self.say(&text);
    }

    /// Prints what happens until the edge dies. Yields the exit code.
    async fn run(&mut self) -> u8 {
        let mut reads_input = !matches!(self.case.procedure, Procedure::Monitor(_));
        let instance = Arc::clone(&self.lease.instance);
        let mut died = pin!(instance.edge.died());
        let mut line = pin!(enter());
        loop {
            tokio::select! {
                exit = &mut died => {
                    self.show_log();
                    self.say(&format!("the edge is gone: {exit}"));
                    return INCOMPLETE;
                }
                Some(arrival) = self.arrivals.recv() => self.show_arrival(&arrival),
                () = next_line(self.log.as_ref(), self.shown_log) => self.show_log(),
                is_open = &mut line, if reads_input => {
                    reads_input = is_open;
                    if is_open {
                        self.play().await;
                        line.set(enter());
                    }
                }
            }
        }
    }

    /// Plays the case once, and prints its result.
    async fn play(&mut self) {
        let case = self.case;
        let limit = self.context.case_timeout(case);
        let instance = Arc::clone(&self.lease.instance);
        let mut edge = instance.case_context(&case.id, case.level, true, self.context.request_timeout());
        edge.marker.clone_from(&self.marker);
        let in_time = self.pool.run_with_fresh_edges(case, &mut edge, true, &limit).await;
        if let Some(log) = &self.log {
            wait_until_quiet(log).await;
        }
        let later = edge.state.deferred.take();
        let mut found = edge.end();
        if !in_time {
            found.checks.push(timeout_check(limit.duration()));
        }
        if let Some(later) = later {
            check_log(&later, self.log.as_ref(), case, &mut found);
        }
        let redactor = &self.pool.options().redactor;
        check_secrets(redactor, &mut found);
        let mut report = after_run(case, &found, Duration::ZERO, None, redactor);
        write_hints(&mut report, &self.pool.options().spec);
        while let Ok(arrival) = self.arrivals.try_recv() {
            self.show_arrival(&arrival);
        }
        self.show_log();
        let mut text = result_text(&report);
        if matches!(case.procedure, Procedure::Steps(_)) {
            for line in report.reproduce.lines() {
                _ = write!(text, "\n  {line}");
            }
        }
        self.say(&text);
        if case.settings.listener.is_none() {
            self.pool.recover(self.context, &self.lease).await;
        }
    }

    fn show_arrival(&mut self, arrival: &Arrival) {
        let sent = self.lease.instance.context.traffic.requests();
        let mut sent = sent.iter().filter(|request| request.draft.body.bytes() == arrival.request.body);
        let own = sent.next();
        if own.is_some_and(|request| request.sender.case == RECOVERY) {
            return;
        }
        let kept_back = self.expected.kept_back.contains(&arrival.request.body);
        if own.is_some() && !kept_back && !self.expected.relayed.contains(&arrival.request.body) {
            // A request of the played case, which the texts did not show.
            self.expected.relayed.push(arrival.request.body.clone());
        }
        let options = self.pool.options();
        let text = arrival_text(arrival, &self.expected, &options.spec, &options.redactor);
        (self.print)(text);
    }

    fn show_log(&mut self) {
        let lines = self.log.iter().flat_map(|log| log.since(self.shown_log)).collect::<Vec<_>>();
        for line in lines {
            self.shown_log = line.number + 1;
            self.say(&format!("edge | {}", visible(&line.text)));
        }
    }

    fn say(&mut self, text: &str) {
        (self.print)(self.pool.options().redactor.redact(text).into_owned());
    }
}

/// An ordinary collection, as a request to try.
fn push_collection(text: &mut String, edge: &EdgeCaseContext) {
    for line in request_lines(&edge.target.endpoint, &edge.fill(&collection())) {
        _ = write!(text, "\n  {line}");
    }
}

/// Waits for a line of the log from this number on.
async fn next_line(log: Option<&LogTail>, from: usize) {
    let Some(log) = log else { return pending().await };
    while log.wait(from, Duration::MAX, |lines| !lines.is_empty()).await.is_empty() {
        // The log is complete.
        pending::<()>().await;
    }
}

/// The result of a played case: outcome, requests with their answers, and all mismatches.
fn result_text(report: &CaseReport) -> String {
    let mut text = format!("played {}: {}", report.id, report.outcome.name());
    for exchange in report.exchanges.iter().filter(|exchange| exchange.hop == Hop::ClientEdge) {
        let first = exchange.request.lines().next().unwrap_or_default();
        let status = exchange.response.lines().next().unwrap_or_default();
        let body = exchange.response.split_once("\n\n").map_or("", |(_, body)| body);
        _ = write!(text, "\n  {first}\n    the edge answers {status} {}", body.trim());
    }
    if report.mismatches.is_empty() && !report.because.is_empty() {
        _ = write!(text, "\n  {}", report.because);
    }
    for mismatch in &report.mismatches {
        _ = write!(
            text,
            "\n  wrong  {}: expected {}, got {}",
            mismatch.what, mismatch.expected, mismatch.actual
        );
        if let Some(hint) = &mismatch.hint {
            _ = write!(text, "\n         {hint}");
        }
    }
    text
}
