use serde_json::Value;

use crate::judge::{AnswerResult, leaves};

/// The values of a verdict that two readings have in common. The interface does not show its members: some count time,
/// name the request, or are signed anew at each reading.
pub(super) struct StableValues(Vec<(String, Value)>);

impl StableValues {
    /// What stays the same from one reading to another one, more than a second later.
    pub(super) fn of(first: &AnswerResult, later: &AnswerResult) -> Self {
        let (first, later) = (values(first), values(later));
        Self(first.into_iter().filter(|leaf| later.contains(leaf)).collect())
    }

    /// Whether another reading has all of them.
    pub(super) fn is_in(&self, reply: &AnswerResult) -> bool {
        let values = values(reply);
        self.0.iter().all(|leaf| values.contains(leaf))
    }
}

fn values(reply: &AnswerResult) -> Vec<(String, Value)> {
    reply.as_ref().map(|answer| leaves(&answer.body)).unwrap_or_default()
}
