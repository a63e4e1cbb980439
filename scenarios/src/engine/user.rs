use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_http::ServerAddress;
use goose::goose::{GooseUser, GooseUserData};
use http::header::DATE;

use super::call::{Call, CallTimes, Expectation, classify};
use super::goose_users::LoadRunContext;
use super::request_timeout::RequestTimeout;
use super::user_connection::UserConnection;
use super::workload::Operation;
use crate::measure::{Code, HttpDate, OperationEnd, RequestFailure, RequestOutcome, RouteId, Sample};
use crate::plan::ScheduledOperation;

/// The session data of a goose user: its connections and the operation that it plays. Transactions get it
/// with [`LoadUser::of`].
pub struct LoadUser {
    /// Number of the user, from 0 over all scenarios.
    id: usize,
    connections: Vec<(Arc<ServerAddress>, UserConnection)>,
    run: Arc<LoadRunContext>,
    request_timeout: RequestTimeout,
    operation: Operation,
    /// Intended start of the operation.
    due: Instant,
    /// Time that the operation waited for a user.
    waited: Duration,
    /// How the operation would end now, and when its last request ended; `None` before its first request has ended.
    end: Option<(OperationEnd, Instant)>,
    under_way: Option<CallTimes>,
    awaiting: Option<AwaitedVerdict>,
}

/// A session that waits for its verdict.
#[derive(Debug, Clone, Copy)]
struct AwaitedVerdict {
    since: Instant,
    /// The route of its polls.
    route: RouteId,
    /// The delay that the generator added before its requests were sent. A late read between two polls
    /// delays nothing: the next poll is due by the time when the answer arrived.
    delay: Duration,
}

/// The result of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallResult {
    /// The outcome.
    pub outcome: RequestOutcome,
    /// Whether the outcome is the expected one.
    pub expected: bool,
    /// Time from sending to the end.
    pub service: Duration,
    /// When the answer arrived, or the request failed.
    pub ended: Instant,
    /// When the answer was read.
    read: Instant,
}

impl LoadUser {
    /// A user without open connections, at the start of its first operation.
    pub(super) fn new(id: usize, run: Arc<LoadRunContext>, operation: Operation) -> Self {
        let due = run.workload.started();
        Self {
            id,
            connections: Vec::new(),
            request_timeout: RequestTimeout::new(run.timeout),
            run,
            operation,
            due,
            waited: Duration::ZERO,
            end: None,
            under_way: None,
            awaiting: None,
        }
    }

    /// The session data of a goose user.
    ///
    /// # Panics
    ///
    /// In an `on_start` transaction: a user gets its data with its first operation.
    pub fn of(user: &mut GooseUser) -> &mut Self {
        user.get_session_data_unchecked_mut()
    }

    /// The plan of the operation.
    pub fn scheduled(&self) -> ScheduledOperation {
        self.operation.scheduled
    }

    /// Intended start of the operation.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Begins an operation.
    pub(super) fn begin(&mut self, operation: Operation) {
        self.operation = operation;
        self.due = self.run.workload.started() + operation.scheduled.at;
        self.waited = if operation.waited { self.due.elapsed() } else { Duration::ZERO };
        self.end = None;
    }

    /// Sends a request, waits for its end and records it. `due` is the intended start.
    pub fn call<'a>(
        &'a mut self,
        call: Call<'a>,
        due: Instant,
    ) -> impl Future<Output = CallResult> + Send + 'a {
        let Call { route, endpoint, request, expect } = call;
        let waited = if self.end.is_none() { self.waited } else { Duration::ZERO };
        let started = CallTimes::start(route, due, waited);
        self.under_way = Some(started);
        let connection = self.connection(endpoint);
        self.connections[connection].1.prepare(request);
        self.answer(started, connection, expect)
    }

    async fn answer(&mut self, started: CallTimes, connection: usize, expect: Expectation<'_>) -> CallResult {
        let CallTimes { sent, waited, .. } = started;
        // Time in which the operation waited for a user counts, a delay by the generator does not.
        let since = sent.checked_sub(waited).unwrap_or(sent);
        let connection = &mut self.connections[connection].1;
        let answered = self.request_timeout.limit(since, pin!(connection.exchange(sent))).await;
        let timed_out = (RequestOutcome::Failed(RequestFailure::Timeout), false);
        let mut date = None;
        let (times, (mut outcome, mut expected)) = match answered {
            Some(Ok(answer)) => {
                if self.run.shared_route == Some(started.route) {
                    date = answer.headers.get(DATE).and_then(|date| HttpDate::of(date.as_bytes()));
                }
                let classified = classify(&self.run.codes, expect, answer.status, &answer.body);
                (started.answered(&connection.times), classified)
            }
            Some(Err(failure)) => (started.unanswered(), (RequestOutcome::Failed(failure), false)),
            None => {
                connection.close();
                (started.unanswered(), timed_out)
            }
        };
        let exchange = connection.times;
        let mut measurements = self.run.recorded_by(self.id);
        measurements.record_traffic(&exchange.traffic);
        if let Some(date) = date {
            let start = self.run.workload.started();
            let since = |at: Instant| at.saturating_duration_since(start);
            measurements.dates.record(date, since(exchange.sent), since(exchange.received));
        }
        drop(measurements);
        if times.response() + waited > self.run.timeout {
            (outcome, expected) = timed_out;
        }
        self.under_way = None;
        self.record(outcome, expected, &times);
        CallResult { outcome, expected, service: times.service(), ended: times.received, read: times.ended }
    }

    /// Waits until a later request of the operation is due.
    pub async fn wait_until(&self, due: Instant) {
        self.run.pacer.sleep_until(due).await;
    }

    /// Notes that a session waits for its verdict.
    pub fn start_waiting_for_verdict(&mut self, since: Instant, route: RouteId) {
        if self.awaiting.is_none() {
            self.awaiting = Some(AwaitedVerdict { since, route, delay: Duration::ZERO });
        }
    }

    /// Records the time to verdict. The verdict came with this answer.
    pub fn record_verdict(&mut self, answer: &CallResult) {
        if let Some(AwaitedVerdict { since, delay, .. }) = self.awaiting.take()
            && self.operation.scheduled.measured
        {
            let observed = answer.read.saturating_duration_since(since);
            let time = answer.ended.saturating_duration_since(since).saturating_sub(delay);
            let mut measurements = self.run.recorded_by(self.id);
            measurements.verdict.record(time, true);
            if self.waited > Duration::ZERO {
                measurements.verdict_waited.record(time);
            }
            measurements.verdict_observed.record(observed);
        }
    }

    /// Records that the session got no verdict.
    pub fn record_no_verdict(&mut self) {
        if let Some(AwaitedVerdict { since, .. }) = self.awaiting.take()
            && self.operation.scheduled.measured
        {
            let mut measurements = self.run.recorded_by(self.id);
            measurements.ledger.without_verdict += 1;
            measurements.verdict.record(since.elapsed(), false);
        }
    }

    /// Records that the session was given up: it waited too long for its verdict.
    pub fn give_up(&mut self) {
        if let Some(AwaitedVerdict { since, route, .. }) = self.awaiting {
            self.record_no_verdict();
            self.record(RequestOutcome::GivenUp, false, &CallTimes::start(route, since, Duration::ZERO));
        }
    }

    /// Records the latency that the edge added to a request.
    pub fn record_edge_latency(&mut self, time: Duration) {
        self.run.recorded_by(self.id).added.record(time);
    }

    /// Ends the operation.
    pub(super) fn finish(&mut self, failed: bool) {
        // An operation without a request is answered.
        let answered = (RequestOutcome::Answer { status: 0, code: Code::Plain }, true);
        let (end, at) = self.end.unwrap_or_else(|| (answered, Instant::now()));
        let failure = (RequestOutcome::Failed(RequestFailure::Closed), false);
        self.record_operation(if failed { failure } else { end }, at);
    }

    /// Gives up the operation at the end of the run, and records it at its age.
    pub(super) fn abandon(&mut self) {
        if let Some(started) = self.under_way.take() {
            self.record_no_verdict();
            self.record(RequestOutcome::Open, false, &started.unanswered());
        } else {
            self.give_up();
        }
        self.connections.clear();
        self.record_operation((RequestOutcome::Open, false), Instant::now());
    }

    fn record_operation(&self, end: OperationEnd, ended: Instant) {
        let ScheduledOperation { at, measured, .. } = self.operation.scheduled;
        let ended = ended.saturating_duration_since(self.run.workload.started());
        self.run.recorded_by(self.id).record_operation(measured, end, at, ended);
    }

    fn record(&mut self, outcome: RequestOutcome, expected: bool, times: &CallTimes) {
        let is_first = self.end.replace(((outcome, expected), times.ended)).is_none();
        if let Some(awaiting) = &mut self.awaiting {
            awaiting.delay += times.late_start();
        }
        // The first request of the closed model is due when it is sent.
        let is_due = outcome.was_sent() && (!is_first || self.run.workload.arrivals().is_some());
        self.run.recorded_by(self.id).record(&Sample {
            route: times.route,
            outcome,
            expected,
            unrelayed: self.run.codes.is_unrelayed(outcome),
            due: times.due.saturating_duration_since(self.run.workload.started()),
            observed: times.observed(),
            // Without an answer the time is a lower bound, which a delay must not improve.
            delay: if outcome.is_answer() { times.delay() } else { Duration::ZERO },
            service: times.service(),
            waited: times.waited > Duration::ZERO,
            lateness: is_due.then(|| times.lateness()),
            waiting: (is_due && is_first).then_some(times.waited),
            measured: self.operation.scheduled.measured,
        });
    }

    /// The connection to an endpoint. Few scenarios have more than two.
    fn connection(&mut self, endpoint: &Arc<ServerAddress>) -> usize {
        let found = self.connections.iter().position(|(of, _)| Arc::ptr_eq(of, endpoint));
        found.unwrap_or_else(|| {
            // A vector would begin with space for four.
            self.connections.reserve_exact(1);
            self.connections.push((Arc::clone(endpoint), UserConnection::new(Arc::clone(endpoint))));
            self.connections.len() - 1
        })
    }
}

/// Goose clones a user's session data with the user. Connections cannot be shared.
impl GooseUserData for LoadUser {
    fn clone_goose_user_data(&self) -> Box<dyn GooseUserData> {
        Box::new(Self::new(self.id, Arc::clone(&self.run), self.operation))
    }
}
