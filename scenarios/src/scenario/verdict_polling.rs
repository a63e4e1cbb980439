use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use edgeproof_http::ServerAddress;

use super::choice::choose;
use super::edge_relay::operation_end;
use super::opaque_collections::OpaqueCollections;
use super::references::{References, SessionState};
use super::requests::VerdictRequests;
use crate::engine::{Call, Expectation, LoadUser, OperationEnd, PollResult, Scenario, poll_result};
use crate::measure::{RequestOutcome, RouteId};
use crate::plan::{ScheduledOperation, Share};

/// A backend that polls for the verdict of a reference until it is ready.
pub struct VerdictPolling {
    /// Endpoint of the service.
    pub endpoint: Arc<ServerAddress>,
    /// Encoder of the requests.
    pub verdict_requests: VerdictRequests,
    /// References to poll for.
    pub references: References,
    /// Generator of references.
    pub collections: OpaqueCollections,
    /// Polling options.
    pub options: PollOptions,
    /// The route.
    pub route: RouteId,
}

/// Polling options.
#[derive(Debug, Clone)]
pub struct PollOptions {
    /// Time from an answer to the next poll.
    pub interval: Duration,
    /// `waitMs` of long polls.
    pub wait: Duration,
    /// Share of sessions that use long polls.
    pub waiting: Share,
    /// Time after which a session is given up.
    pub give_up: Duration,
    /// Share of sessions with a wrong, too old or foreign reference.
    pub wrong: Share,
    /// Share of requests with an invalid token.
    pub bad_tokens: Share,
}

/// States of sessions without a verdict.
const WITHOUT_VERDICT: [SessionState; 3] =
    [SessionState::Unknown, SessionState::TooOld, SessionState::OtherLicense];

impl VerdictPolling {
    /// Polls until the verdict is ready or the session is given up.
    pub async fn until_verdict(
        &self,
        client: &mut LoadUser,
        connection: usize,
        number: u64,
        reference: &str,
        since: Instant,
        due: Instant,
    ) -> OperationEnd {
        client.start_waiting_for_verdict(since, self.route);
        let wait = self.options.waiting.takes(number).then_some(self.options.wait.as_millis() as u64);
        let mut due = due;
        loop {
            let request = self.verdict_requests.request(reference, wait);
            let call = Call {
                route: self.route,
                connection,
                request,
                expect: Expectation::VerdictOrPending(reference),
            };
            let reply = client.call(call, due).await;
            match poll_result(reply.outcome, reply.expected) {
                PollResult::Ready => {
                    client.record_verdict();
                    return OperationEnd::Answered;
                }
                PollResult::Pending if since.elapsed() < self.options.give_up => {
                    // A long poll is repeated at once, unless it returned early.
                    let waited = wait.is_some() && reply.service * 2 >= self.options.wait;
                    due = if waited { Instant::now() } else { Instant::now() + self.options.interval };
                    sleep_until(due.into()).await;
                }
                PollResult::Pending => {
                    client.record_no_verdict();
                    let now = Instant::now();
                    client.record(self.route, RequestOutcome::GivenUp, false, since, now, Duration::ZERO);
                    return OperationEnd::Unexpected;
                }
                PollResult::Other => {
                    client.record_no_verdict();
                    return operation_end(&reply);
                }
            }
        }
    }

    /// The reference of an operation, and whether its verdict comes.
    fn reference(&self, number: u64) -> (Cow<'_, str>, bool) {
        // Counted among requests with a valid token: two shares of the same numbers would hide each other.
        let wrong = self.options.wrong.takes(number - self.options.bad_tokens.taken_before(number));
        match &self.references {
            References::Generated(register_session) => {
                let none = WITHOUT_VERDICT[choose(number, WITHOUT_VERDICT.len())];
                let state = if wrong { none } else { SessionState::GetsVerdict };
                let reference = self.collections.reference(number);
                if let Some(register_session) = register_session {
                    register_session(&reference, state);
                }
                (reference.into(), !wrong)
            }
            // A generated reference is unknown to the service.
            References::Listed(_) if wrong => {
                (format!("wrong-{}", self.collections.reference(number)).into(), false)
            }
            References::Listed(given) => {
                let given = &given[(number % given.len() as u64) as usize];
                (given.reference.as_str().into(), given.comes)
            }
        }
    }
}

impl Scenario for VerdictPolling {
    fn endpoints(&self) -> Vec<Arc<ServerAddress>> {
        vec![Arc::clone(&self.endpoint)]
    }

    fn first_route(&self) -> RouteId {
        self.route
    }

    async fn play(&self, client: &mut LoadUser, scheduled: ScheduledOperation, due: Instant) -> OperationEnd {
        let (reference, comes) = self.reference(scheduled.number);
        if self.options.bad_tokens.takes(scheduled.number) && self.verdict_requests.has_bad_tokens() {
            let (request, expect) = self.verdict_requests.bad_request(&reference, scheduled.number);
            let call = Call { route: self.route, connection: 0, request, expect };
            return operation_end(&client.call(call, due).await);
        }
        if !comes {
            let request = self.verdict_requests.request(&reference, None);
            let call =
                Call { route: self.route, connection: 0, request, expect: Expectation::Pending(&reference) };
            return operation_end(&client.call(call, due).await);
        }
        self.until_verdict(client, 0, scheduled.number, &reference, due, due).await
    }
}
