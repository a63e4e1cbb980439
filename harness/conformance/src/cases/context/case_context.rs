use std::sync::Arc;
use std::time::Duration;

use edgeproof_reports::CaseLevel;

use super::{CaseFindings, Sender};
use crate::judge::Check;

/// The context of one case at its target: sends requests, observes what they do, and collects findings.
pub struct CaseContext<T: CaseTarget> {
    /// The target.
    pub target: Arc<T>,
    /// A text that no other case sends.
    pub marker: String,
    /// Timeout of an answer.
    pub timeout: Duration,
    /// The findings so far.
    pub found: CaseFindings,
    /// What the target keeps for this case.
    pub state: T::State,
    pub(super) case: String,
    pub(super) level: CaseLevel,
}

/// What cases of a part reach through their context. Several cases can share it.
pub trait CaseTarget: Send + Sync + 'static {
    /// What it keeps for one case.
    type State: Default + Send;
}

impl<T: CaseTarget> CaseContext<T> {
    /// A context for one case.
    pub fn new(target: Arc<T>, sender: Sender, timeout: Duration) -> Self {
        let Sender { case, level, marker } = sender;
        let (found, state) = (CaseFindings::default(), T::State::default());
        Self { target, marker, timeout, found, state, case, level }
    }

    /// Adds a check. The case's level limits the level of the check.
    pub fn check(&mut self, check: Check) {
        self.found.check(check, self.level);
    }

    /// Adds checks.
    pub fn checks(&mut self, checks: Vec<Check>) {
        for check in checks {
            self.check(check);
        }
    }

    /// Records the target's behaviour at an open point.
    pub fn observe(&mut self, point: &str, observed: impl Into<String>) {
        self.found.observations.push((point.into(), observed.into()));
    }
}
