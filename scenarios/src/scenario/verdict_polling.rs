use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use edgeproof_cli::args::parse_duration;

use super::LoadScenario;
use super::collections::OpaqueCollections;
use super::requests::{VerdictRequests, choose};
use crate::engine::{Expectation, LoadUser};
use crate::measure::{Code, RequestOutcome};
use crate::plan::{ScenarioName, Share};

/// A backend that polls for the verdict of a reference until it is ready.
pub struct VerdictPolling {
    /// Encoder of the requests.
    pub requests: VerdictRequests,
    /// References to poll for.
    pub references: References,
    /// Generator of references.
    pub collections: OpaqueCollections,
    /// Polling options.
    pub options: PollOptions,
}

/// Polling options.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Scenario")]
pub struct PollOptions {
    /// Time from an answer to the next poll
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = parse_duration)]
    pub poll_interval: Duration,
    /// waitMs of long polls
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub wait: Duration,
    /// Share of sessions that use long polls
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    pub wait_share: Share,
    /// Longest time to poll for the verdict of a session
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub give_up: Duration,
    /// Share of references that are wrong, too old or of another license
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub wrong_share: Share,
    /// Share of requests with an invalid token
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    pub bad_token_share: Share,
}

/// States of sessions without a verdict.
const WITHOUT_VERDICT: [SessionState; 3] =
    [SessionState::Unknown, SessionState::TooOld, SessionState::OtherLicense];

impl LoadScenario for VerdictPolling {
    const NAME: ScenarioName = ScenarioName::VerdictPolling;

    fn route(&self) -> String {
        self.requests.route()
    }

    /// Polls until the verdict is ready, or sends one request that the service must refuse.
    async fn play(&self, user: &mut LoadUser) {
        let (number, due) = (user.scheduled().number, user.due());
        let (reference, comes) = self.reference(number);
        let call = if self.options.bad_token_share.takes(number) && self.requests.has_bad_tokens() {
            self.requests.bad_call(&reference, number)
        } else if comes {
            return self.until_verdict(user, &reference, due).await;
        } else {
            self.requests.call(&reference, None, Expectation::Pending(&reference))
        };
        user.call(call, due).await;
    }
}

impl VerdictPolling {
    /// Polls until the verdict is ready or the session is given up. `due`: the intended start of the first
    /// poll.
    pub(super) async fn until_verdict(&self, user: &mut LoadUser, reference: &str, due: Instant) {
        let since = user.due();
        user.start_waiting_for_verdict(since, self.requests.route_id);
        let long = self.options.wait_share.takes(user.scheduled().number);
        let wait = long.then_some(self.options.wait.as_millis() as u64);
        let mut due = due;
        loop {
            let call = self.requests.call(reference, wait, Expectation::VerdictOrPending(reference));
            let reply = user.call(call, due).await;
            if !reply.expected {
                return user.record_no_verdict();
            }
            if let RequestOutcome::Answer { code: Code::Plain, .. } = reply.outcome {
                return user.record_verdict(&reply);
            }
            if reply.ended - since >= self.options.give_up {
                return user.give_up();
            }
            // A long poll is repeated at once, unless it returned early.
            let waited = wait.is_some() && reply.service * 2 >= self.options.wait;
            let interval = if waited { Duration::ZERO } else { self.options.poll_interval };
            // Counted from the arrival of the answer: reading it late must not delay the next poll.
            due = reply.ended + interval;
            user.wait_until(due).await;
        }
    }

    /// The reference of an operation, and whether its verdict comes.
    fn reference(&self, number: u64) -> (Cow<'_, str>, bool) {
        // Counted among requests with a valid token: two shares of the same numbers would hide each other.
        let wrong =
            self.options.wrong_share.takes(number - self.options.bad_token_share.taken_before(number));
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
                let (reference, comes) = &given[(number % given.len() as u64) as usize];
                (reference.as_str().into(), *comes)
            }
        }
    }
}

/// Session references to poll for.
#[derive(Clone)]
pub enum References {
    /// Generated. With the built-in mock, each is registered before its first poll.
    Generated(Option<RegisterSession>),
    /// From a file, polled in turn. Of each, whether a verdict comes; not for a wrong, too old or foreign one.
    Listed(Vec<(String, bool)>),
}

/// Registers a session at the mock service.
pub type RegisterSession = Arc<dyn Fn(&str, SessionState) + Send + Sync>;

/// The state of a session at the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// The verdict becomes ready.
    GetsVerdict,
    /// The service does not know the session.
    Unknown,
    /// The verdict is too old.
    TooOld,
    /// The session belongs to another license.
    OtherLicense,
}

impl FromStr for References {
    type Err = String;

    /// Parses one reference per line; `#` starts a comment.
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |line: usize, text: &str| Err(format!("line {line}: {text:?} is not a reference"));
        let mut references = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let words: Vec<&str> = text.split('#').next().unwrap_or_default().split_whitespace().collect();
            match words[..] {
                [] => {}
                [reference] => references.push((reference.to_owned(), true)),
                [reference, "none"] => references.push((reference.to_owned(), false)),
                _ => return refuse(line, text),
            }
        }
        if references.is_empty() {
            return refuse(1, text.lines().next().unwrap_or_default());
        }
        Ok(Self::Listed(references))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_file_is_parsed() {
        let References::Listed(read) = "# all\nabc\n\nold-1 none # too old\n".parse().unwrap() else {
            panic!()
        };
        assert_eq!(read, [("abc".to_owned(), true), ("old-1".to_owned(), false)]);
        assert!("".parse::<References>().is_err());
        assert!("a b\n".parse::<References>().err().unwrap().contains("line 1"));
    }
}
