use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_http::ServerAddress;
use goose::goose::{GooseUser, GooseUserData};

use super::call::{Call, Expectation, classify};
use super::call_times::CallTimes;
use super::connection::{RequestTimeout, UserConnection};
use super::recorder::{OperationEnd, Release};
use super::run_context::LoadRunContext;
use super::workload::Operation;
use crate::measure::{RequestFailure, RequestOutcome, RouteId, Sample};
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
    under_way: Option<UnderWay>,
    awaiting: Option<AwaitedVerdict>,
}

/// A request without an answer so far.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    route: RouteId,
    due: Instant,
    sent: Instant,
    /// Time from `due` that the operation waited for a user.
    waited: Duration,
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
        let due = run.started();
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
        self.due = self.run.started() + operation.scheduled.at;
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
        let under_way = UnderWay { route, due, sent: Instant::now(), waited };
        self.under_way = Some(under_way);
        let connection = self.connection(endpoint);
        self.connections[connection].1.prepare(request);
        self.answer(under_way, connection, expect)
    }

    async fn answer(
        &mut self,
        under_way: UnderWay,
        connection: usize,
        expect: Expectation<'_>,
    ) -> CallResult {
        let UnderWay { route, due, sent, waited } = under_way;
        // Time in which the operation waited for a user counts, a delay by the generator does not.
        let since = sent.checked_sub(waited).unwrap_or(sent);
        let connection = &mut self.connections[connection].1;
        let answered = self.request_timeout.limit(since, pin!(connection.exchange(sent))).await;
        let (times, mut outcome, mut expected) = match answered {
            Some(Ok(answer)) => {
                let times = CallTimes::of_exchange(due, waited, connection.times());
                let (outcome, expected) = classify(&self.run.codes, expect, answer.status, &answer.body);
                (times, outcome, expected)
            }
            Some(Err(failure)) => {
                (CallTimes::unanswered(due, waited, sent), RequestOutcome::Failed(failure), false)
            }
            None => {
                connection.close();
                let timed_out = RequestOutcome::Failed(RequestFailure::Timeout);
                (CallTimes::unanswered(due, waited, sent), timed_out, false)
            }
        };
        self.run.recorder.traffic(self.id, &connection.times().into());
        if times.response() + waited > self.run.timeout {
            (outcome, expected) = (RequestOutcome::Failed(RequestFailure::Timeout), false);
        }
        self.under_way = None;
        self.record(route, outcome, expected, &times);
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
            self.run.recorder.verdict(self.id, time, observed, self.waited > Duration::ZERO);
        }
    }

    /// Records that the session got no verdict.
    pub fn record_no_verdict(&mut self) {
        if let Some(AwaitedVerdict { since, .. }) = self.awaiting.take()
            && self.operation.scheduled.measured
        {
            self.run.recorder.no_verdict(self.id, since.elapsed());
        }
    }

    /// Records that the session was given up: it waited too long for its verdict.
    pub fn give_up(&mut self) {
        if let Some(AwaitedVerdict { since, route, .. }) = self.awaiting {
            self.record_no_verdict();
            self.record(route, RequestOutcome::GivenUp, false, &CallTimes::never_sent(since));
        }
    }

    /// Records the latency that the edge added to a request.
    pub fn record_edge_latency(&mut self, time: Duration) {
        self.run.recorder.added(self.id, time);
    }

    /// Ends the operation.
    pub(super) fn finish(&mut self, failed: bool) {
        let (end, at) = self.end.unwrap_or_else(|| (OperationEnd::Answered, Instant::now()));
        self.record_operation(if failed { OperationEnd::Failed } else { end }, at);
    }

    /// Gives up the operation at the end of the run, and records it at its age.
    pub(super) fn abandon(&mut self) {
        let waited_for = self.awaiting;
        self.record_no_verdict();
        if let Some(UnderWay { route, due, sent, waited }) = self.under_way.take() {
            self.record(route, RequestOutcome::Open, false, &CallTimes::unanswered(due, waited, sent));
        } else if let Some(AwaitedVerdict { since, route, .. }) = waited_for {
            self.record(route, RequestOutcome::GivenUp, false, &CallTimes::never_sent(since));
        }
        self.connections.clear();
        self.record_operation(OperationEnd::Open, Instant::now());
    }

    fn record_operation(&self, end: OperationEnd, ended: Instant) {
        let ScheduledOperation { at, measured, .. } = self.operation.scheduled;
        let ended = ended.saturating_duration_since(self.run.started());
        self.run.recorder.operation(self.id, measured, end, at, ended);
    }

    fn record(&mut self, route: RouteId, outcome: RequestOutcome, expected: bool, times: &CallTimes) {
        let end = match outcome {
            RequestOutcome::Answer { .. } if expected => OperationEnd::Answered,
            RequestOutcome::Answer { .. } | RequestOutcome::GivenUp => OperationEnd::Unexpected,
            _ => OperationEnd::Failed,
        };
        let is_first = self.end.replace((end, times.ended)).is_none();
        if let Some(awaiting) = &mut self.awaiting {
            awaiting.delay += times.late_start();
        }
        let is_answer = matches!(outcome, RequestOutcome::Answer { .. });
        let sample = Sample {
            route,
            outcome,
            expected,
            due: times.due.saturating_duration_since(self.run.started()),
            observed: times.observed(),
            // Without an answer the time is a lower bound, which a delay must not improve.
            delay: if is_answer { times.delay() } else { Duration::ZERO },
            service: times.service(),
            waited: times.waited > Duration::ZERO,
            measured: self.operation.scheduled.measured,
        };
        // The first request of the closed model is due when it is sent.
        let is_due = outcome.was_sent() && (self.operation.paced || !is_first);
        let release =
            is_due.then(|| Release { lateness: times.lateness(), waited: is_first.then_some(times.waited) });
        self.run.recorder.request(self.id, &sample, release);
    }

    /// The connection to an endpoint. Few scenarios have more than two.
    fn connection(&mut self, endpoint: &Arc<ServerAddress>) -> usize {
        let found = self.connections.iter().position(|(of, _)| Arc::ptr_eq(of, endpoint));
        found.unwrap_or_else(|| {
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
