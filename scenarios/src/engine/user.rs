use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_http::ServerAddress;

use super::call::{Call, Expectation, classify};
use super::recorder::OperationEnd;
use super::request_timeout::RequestTimeout;
use super::run_context::LoadRunContext;
use super::user_connection::UserConnection;
use super::workload::{Operation, Workload};
use crate::measure::{RequestFailure, RequestOutcome, RouteId, Sample};
use crate::plan::ScheduledOperation;

/// A scenario: what a user does with one operation.
pub trait Scenario: Send + Sync + 'static {
    /// Endpoints of the user's connections.
    fn endpoints(&self) -> Vec<Arc<ServerAddress>>;

    /// The route that a never started operation counts for.
    fn first_route(&self) -> RouteId;

    /// Plays an operation to its end. `due` is the intended start.
    fn play(
        &self,
        client: &mut LoadUser,
        scheduled: ScheduledOperation,
        due: Instant,
    ) -> impl Future<Output = OperationEnd> + Send;
}

/// A user: its connections and its state.
#[derive(Debug)]
pub struct LoadUser {
    /// Number of the user, from 0 over all scenarios.
    pub id: usize,
    connections: Vec<UserConnection>,
    run: Arc<LoadRunContext>,
    request_timeout: RequestTimeout,
    measured: bool,
    under_way: Option<UnderWay>,
    /// End of the last request.
    ended: Instant,
    /// Delay that the generator added to the last request.
    delay: Duration,
    /// Start of the session that waits for a verdict, and the route of its polls.
    awaiting: Option<(Instant, RouteId)>,
    /// Requests not yet reported to goose: route, time, success, status.
    goose_requests: Vec<(RouteId, Duration, bool, Option<u16>)>,
}

/// Requests reported to goose at once.
const GOOSE_BATCH: usize = 32;

/// A request without an answer so far.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    route: RouteId,
    due: Instant,
    sent: Instant,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// The outcome.
    pub outcome: RequestOutcome,
    /// Whether the outcome is the expected one.
    pub expected: bool,
    /// Time from sending to the end.
    pub service: Duration,
}

impl LoadUser {
    /// A user without open connections.
    pub fn new(id: usize, scenario: &impl Scenario, run: Arc<LoadRunContext>) -> Self {
        Self {
            id,
            connections: scenario.endpoints().into_iter().map(UserConnection::new).collect(),
            request_timeout: RequestTimeout::new(run.timeout),
            run,
            measured: false,
            under_way: None,
            ended: Instant::now(),
            delay: Duration::ZERO,
            awaiting: None,
            goose_requests: Vec::new(),
        }
    }

    /// State that all users share.
    pub fn run(&self) -> &Arc<LoadRunContext> {
        &self.run
    }

    /// Opens the connections, so that no request waits for that. The first request retries a failed
    /// connection and counts the failure.
    pub async fn connect(&mut self) {
        for connection in &mut self.connections {
            let _ = connection.open().await;
        }
    }

    /// Sends a request, waits for its end and records it. `due` is the intended start.
    pub fn call<'a>(
        &'a mut self,
        call: Call<'a>,
        due: Instant,
    ) -> impl Future<Output = CallResult> + Send + 'a {
        let Call { route, connection, request, expect } = call;
        let under_way = UnderWay { route, due, sent: Instant::now() };
        self.under_way = Some(under_way);
        self.connections[connection].prepare(request);
        self.answer(under_way, connection, expect)
    }

    async fn answer(
        &mut self,
        under_way: UnderWay,
        connection: usize,
        expect: Expectation<'_>,
    ) -> CallResult {
        let UnderWay { route, due, sent } = under_way;
        let answered = self.request_timeout.limit(sent, pin!(self.connections[connection].exchange())).await;
        self.under_way = None;
        let (mut ended, mut delay) = (Instant::now(), Duration::ZERO);
        let (outcome, expected) = match answered {
            Some(Ok(answer)) => {
                let times = self.connections[connection].times();
                ended = times.ended;
                delay = times.sent.saturating_duration_since(due) + times.delay();
                classify(&self.run.codes, expect, answer.status, &answer.body)
            }
            Some(Err(failure)) => (RequestOutcome::Failed(failure), false),
            None => {
                self.connections[connection].close();
                (RequestOutcome::Failed(RequestFailure::Timeout), false)
            }
        };
        let traffic = self.connections[connection].times().into();
        self.run.recorder.traffic(self.id, &traffic);
        let service = ended - sent;
        self.delay = delay;
        self.record(route, outcome, expected, due, ended, service);
        CallResult { outcome, expected, service }
    }

    /// Sets whether the following requests are measured.
    pub fn set_measured(&mut self, measured: bool) {
        self.measured = measured;
    }

    /// Notes that a session waits for its verdict.
    pub fn start_waiting_for_verdict(&mut self, since: Instant, route: RouteId) {
        self.awaiting = Some((since, route));
    }

    /// Records the time to verdict: the verdict came with the last answer.
    pub fn record_verdict(&mut self) {
        if let Some((since, _)) = self.awaiting.take()
            && self.measured
        {
            self.run.recorder.verdict(self.id, self.ended.saturating_duration_since(since));
        }
    }

    /// Records that the session got no verdict.
    pub fn record_no_verdict(&mut self) {
        if let Some((since, _)) = self.awaiting.take()
            && self.measured
        {
            self.run.recorder.no_verdict(self.id, since.elapsed());
        }
    }

    /// Records a request, also one that was never sent or that is given up.
    pub fn record(
        &mut self,
        route: RouteId,
        outcome: RequestOutcome,
        expected: bool,
        due: Instant,
        ended: Instant,
        service: Duration,
    ) {
        self.ended = ended;
        let started = self.run.started();
        let response = ended.saturating_duration_since(due);
        let sample = Sample {
            route,
            outcome,
            expected,
            due: due.saturating_duration_since(started),
            observed: response,
            delay: std::mem::take(&mut self.delay),
            service,
            measured: self.measured,
        };
        self.run.recorder.request(self.id, &sample);
        if self.run.report_to_goose {
            let status = match outcome {
                RequestOutcome::Answer { status, .. } => Some(status),
                _ => None,
            };
            self.goose_requests.push((route, response, expected, status));
        }
    }

    /// Takes the requests to report to goose.
    pub fn take_goose_requests(&mut self) -> Vec<(RouteId, Duration, bool, Option<u16>)> {
        std::mem::take(&mut self.goose_requests)
    }

    /// Plays operations until the workload or the run ends. Returns true if requests have to be reported to
    /// goose before it goes on.
    pub(super) async fn work(&mut self, workload: &Workload, scenario: &impl Scenario) -> bool {
        let run = Arc::clone(&self.run);
        let mut stopped = pin!(run.stop.triggered());
        let mut free = self.ended;
        loop {
            let operation = tokio::select! {
                biased;
                () = &mut stopped => return false,
                operation = workload.next() => operation,
            };
            let Some(Operation { scheduled, paced }) = operation else { return false };
            let due = run.started() + scheduled.at;
            self.measured = scheduled.measured;
            if paced && scheduled.measured {
                let begun = Instant::now();
                let lateness = begun.saturating_duration_since(due.max(free));
                run.recorder.begun(self.id, lateness, free.saturating_duration_since(due));
            }
            let operation_end = tokio::select! {
                biased;
                operation_end = scenario.play(self, scheduled, due) => Some(operation_end),
                () = &mut stopped => None,
            };
            let Some(operation_end) = operation_end else {
                self.abandon();
                let now = run.started().elapsed();
                run.recorder.operation(self.id, scheduled.measured, OperationEnd::Open, scheduled.at, now);
                return false;
            };
            // Time since the end of the last request is the generator's own.
            free = self.ended;
            let ended = free.saturating_duration_since(run.started());
            run.recorder.operation(self.id, scheduled.measured, operation_end, scheduled.at, ended);
            if self.goose_requests.len() >= GOOSE_BATCH {
                return true;
            }
        }
    }

    /// Gives up the running request, and records it at its age.
    fn abandon(&mut self) {
        let now = Instant::now();
        let waited_for = self.awaiting;
        self.record_no_verdict();
        if let Some(UnderWay { route, due, sent }) = self.under_way.take() {
            self.record(route, RequestOutcome::Open, false, due, now, now - sent);
        } else if let Some((since, route)) = waited_for {
            self.record(route, RequestOutcome::GivenUp, false, since, now, Duration::ZERO);
        }
        self.connections.iter_mut().for_each(UserConnection::close);
    }
}
