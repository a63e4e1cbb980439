use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_http::ServerAddress;
use goose::goose::{Scenario, Transaction, TransactionFunction};

use super::choice::choose;
use super::opaque_collections::OpaqueCollections;
use super::references::{References, SessionState};
use super::requests::VerdictRequests;
use crate::engine::{Call, Expectation, LoadUser, PollResult, poll_result};
use crate::measure::RouteId;
use crate::plan::{ScenarioName, Share};

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
    /// The goose scenario. Its transaction polls until the verdict is ready, or sends one request that the
    /// service must refuse.
    pub fn scenario(self) -> Scenario {
        let route = self.verdict_requests.route();
        let polling = Arc::new(self);
        let poll: TransactionFunction = Arc::new(move |user| {
            let polling = Arc::clone(&polling);
            Box::pin(async move {
                polling.play(LoadUser::of(user)).await;
                Ok(())
            })
        });
        Scenario::new(ScenarioName::VerdictPolling.text())
            .register_transaction(Transaction::new(poll).set_name(&route))
    }

    async fn play(&self, user: &mut LoadUser) {
        let (number, due) = (user.scheduled().number, user.due());
        let (reference, comes) = self.reference(number);
        let (request, expect) =
            if self.options.bad_tokens.takes(number) && self.verdict_requests.has_bad_tokens() {
                self.verdict_requests.bad_request(&reference, number)
            } else if comes {
                return self.until_verdict(user, &reference, due).await;
            } else {
                (self.verdict_requests.request(&reference, None), Expectation::Pending(&reference))
            };
        user.call(Call { route: self.route, endpoint: &self.endpoint, request, expect }, due).await;
    }

    /// Polls until the verdict is ready or the session is given up. `due`: the intended start of the first
    /// poll.
    pub(super) async fn until_verdict(&self, user: &mut LoadUser, reference: &str, due: Instant) {
        let since = user.due();
        user.start_waiting_for_verdict(since, self.route);
        let long = self.options.waiting.takes(user.scheduled().number);
        let wait = long.then_some(self.options.wait.as_millis() as u64);
        let mut due = due;
        loop {
            let call = Call {
                route: self.route,
                endpoint: &self.endpoint,
                request: self.verdict_requests.request(reference, wait),
                expect: Expectation::VerdictOrPending(reference),
            };
            let reply = user.call(call, due).await;
            match poll_result(reply.outcome, reply.expected) {
                PollResult::Ready => return user.record_verdict(&reply),
                PollResult::Other => return user.record_no_verdict(),
                PollResult::Pending if reply.ended - since >= self.options.give_up => return user.give_up(),
                PollResult::Pending => {
                    // A long poll is repeated at once, unless it returned early.
                    let waited = wait.is_some() && reply.service * 2 >= self.options.wait;
                    let interval = if waited { Duration::ZERO } else { self.options.interval };
                    // Counted from the arrival of the answer: reading it late must not delay the next poll.
                    due = reply.ended + interval;
                    user.wait_until(due).await;
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
