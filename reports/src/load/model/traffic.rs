use serde::{Deserialize, Serialize};

use super::timing::Timing;

/// Operations per second in the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rates {
    /// Planned rate; none in the closed model.
    pub asked: Option<f64>,
    /// Started operations, with any result.
    pub begun: f64,
    /// Operations due in the measured time that were answered as expected, also after its end. Below the planned rate, it
    /// is the rate at which the target completed them.
    pub delivered: f64,
}

/// Share of the planned rate that a target delivers if it keeps up.
pub const KEPT_UP: f64 = 0.99;

impl Rates {
    /// Delivered share of the planned rate, 0 to 1; none in the closed model.
    pub fn delivered_share(&self) -> Option<f64> {
        self.asked.filter(|asked| *asked > 0.0).map(|asked| (self.delivered / asked).min(1.0))
    }

    /// Whether the target kept up with the planned rate. True in the closed model.
    pub fn kept_up(&self) -> bool {
        self.delivered_share().is_none_or(|share| share >= KEPT_UP)
    }
}

/// Where operations went: scheduled = answered + failed + dropped + open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ledger {
    /// Scheduled operations.
    pub scheduled: u64,
    /// Operations with an answer, expected or not.
    pub answered: u64,
    /// Operations that ended without an answer.
    pub failed: u64,
    /// Operations that never started: no connection became free.
    pub dropped: u64,
    /// Operations that had not ended after the drain.
    pub open: u64,
    /// Answered operations with an unexpected outcome.
    #[serde(default)]
    pub unexpected: u64,
    /// Sessions that expected a verdict and got none.
    #[serde(default)]
    pub without_verdict: u64,
}

impl Ledger {
    /// Adds another ledger.
    pub fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.answered += other.answered;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.open += other.open;
        self.unexpected += other.unexpected;
        self.without_verdict += other.without_verdict;
    }

    /// Whether every scheduled operation is accounted for.
    pub fn balances(&self) -> bool {
        self.scheduled == self.accounted()
    }

    /// Number of operations with a known end.
    pub fn accounted(&self) -> u64 {
        self.answered + self.failed + self.dropped + self.open
    }

    /// Number of operations without the expected outcome.
    pub fn wrong(&self) -> u64 {
        self.unexpected + self.failed + self.dropped + self.open
    }
}

/// Figures of a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RouteFigures {
    /// Method and path template, such as `GET /v1/verdict/{ref}`; never a URL.
    pub route: String,
    /// Sent requests, warm-up included.
    pub sent: u64,
    /// Sent requests without a complete response.
    pub unanswered: u64,
    /// Measured requests with an unexpected outcome.
    pub errors: u64,
    /// Measured requests per second with the expected outcome.
    pub answered_per_s: f64,
    /// Response time from the intended start, less the delay that the generator added, all outcomes.
    pub response: Timing,
    /// Response time of the requests with the expected answer.
    #[serde(default)]
    pub successes: Timing,
    /// The same with the delay that the generator added.
    #[serde(default)]
    pub observed: Timing,
    /// Service time from sending, all outcomes.
    pub service: Timing,
    /// Figures for each outcome, the most frequent first.
    pub outcomes: Vec<OutcomeFigures>,
}

/// Figures of an outcome on a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OutcomeFigures {
    /// The outcome, such as `409 replayed_bundle`.
    pub outcome: String,
    /// Whether the outcome was expected.
    pub expected: bool,
    /// Number of requests.
    pub count: u64,
    /// Response time from the intended start.
    pub response: Timing,
    /// Service time from sending.
    pub service: Timing,
}

/// Comparison of the sent requests with the service's count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reconciled {
    /// The route.
    pub route: String,
    /// Sent requests.
    pub sent: u64,
    /// Sent requests without a complete response.
    pub unanswered: u64,
    /// Requests that the service counted.
    pub arrived: u64,
    /// Whether the counts agree.
    pub agrees: bool,
}

/// Requests that the program sends before the run, for example to wait until the target answers. No other figure has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProbeFigures {
    /// Method and path template.
    pub route: String,
    /// Purpose of the requests.
    pub purpose: String,
    /// Number of requests.
    pub sent: u64,
}

/// Connections of the generator, warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConnectionFigures {
    /// Set-up time of each opened connection, without TLS.
    pub connect: Timing,
    /// Duration of each TLS handshake; none without TLS.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tls: Option<Timing>,
    /// Sent bytes of HTTP.
    pub bytes_sent: u64,
    /// Received bytes of HTTP.
    pub bytes_received: u64,
}
