use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use edgeproof::wire::Endpoint;

use super::choice::choose;
use super::edge_relay::operation_end;
use super::opaque_collections::OpaqueCollections;
use super::references::{References, SessionState};
use super::requests::VerdictRequests;
use crate::engine::{Call, Client, Expectation, OperationEnd, PollResult, Scenario, poll_result};
use crate::measure::{Outcome, RouteId};
use crate::plan::{ScheduledOperation, Share};

/// A backend that asks for the verdict of a reference until it is there.
pub struct VerdictPolling {
    /// Leads to the service.
    pub endpoint: Arc<Endpoint>,
    /// How it is asked.
    pub verdict_requests: VerdictRequests,
    /// What is asked for.
    pub references: References,
    /// Makes references up.
    pub collections: OpaqueCollections,
    /// How often, and what else is asked.
    pub options: PollOptions,
    /// The route, for the report.
    pub route: RouteId,
}

/// How a backend asks.
#[derive(Debug, Clone)]
pub struct PollOptions {
    /// From one answer to the next question.
    pub interval: Duration,
    /// `waitMs` of those who let the service wait.
    pub wait: Duration,
    /// AnyScenario of the sessions that are asked for with `waitMs`.
    pub waiting: Share,
    /// After this time a session is given up.
    pub give_up: Duration,
    /// AnyScenario of the sessions whose reference is wrong, too old or another license's: no verdict ever comes.
    pub wrong: Share,
    /// AnyScenario of the verdict_requests with a token that is to be refused.
    pub bad_tokens: Share,
}

/// How references stand whose verdict never comes.
const WITHOUT_VERDICT: [SessionState; 3] =
    [SessionState::Unknown, SessionState::TooOld, SessionState::OtherLicense];

impl VerdictPolling {
    /// Asks until the verdict is there, or the session is given up.
    pub async fn until_verdict(
        &self,
        client: &mut Client,
        connection: usize,
        number: u64,
        reference: &str,
        since: Instant,
        due: Instant,
    ) -> OperationEnd {
        client.awaits_verdict(since, self.route);
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
                    client.verdict_ended();
                    return OperationEnd::Answered;
                }
                PollResult::Pending if since.elapsed() < self.options.give_up => {
                    // Who lets the service wait asks again at once; unless it did not wait.
                    let waited = wait.is_some() && reply.service * 2 >= self.options.wait;
                    due = if waited { Instant::now() } else { Instant::now() + self.options.interval };
                    sleep_until(due.into()).await;
                }
                PollResult::Pending => {
                    client.no_verdict();
                    let now = Instant::now();
                    client.record(self.route, Outcome::GivenUp, false, since, now, Duration::ZERO);
                    return OperationEnd::Unexpected;
                }
                PollResult::Other => {
                    client.no_verdict();
                    return operation_end(&reply);
                }
            }
        }
    }

    /// The reference of an operation, and whether a verdict comes.
    fn reference(&self, number: u64) -> (Cow<'_, str>, bool) {
        // Of those that are asked for with a good token: two shares that took the same numbers would hide each other.
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
            // Nobody knows a reference that was made up.
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
    fn endpoints(&self) -> Vec<Arc<Endpoint>> {
        vec![Arc::clone(&self.endpoint)]
    }

    fn first_route(&self) -> RouteId {
        self.route
    }

    async fn play(&self, client: &mut Client, scheduled: ScheduledOperation, due: Instant) -> OperationEnd {
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
