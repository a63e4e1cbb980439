use serde_json::Value;

use crate::judge::{AnswerResult, leaves};

/// The values of a verdict that two readings have in common. The interface does not show its members: some count time,
/// name the request, or are signed anew at each reading.
pub(super) struct StableValues(Vec<(String, Value)>);

impl StableValues {
    /// The values that two readings share. More than a second between them leaves out values that count seconds.
    pub(super) fn of(first: &AnswerResult, later: &AnswerResult) -> Self {
        let (first, later) = (values(first), values(later));
        Self(first.into_iter().filter(|leaf| later.contains(leaf)).collect())
    }

    /// Leaves out values that a further reading lacks.
    pub(super) fn keep(&mut self, reply: &AnswerResult) {
        let values = values(reply);
        self.0.retain(|leaf| values.contains(leaf));
    }

    /// Whether another reading has a value at each of their places.
    pub(super) fn has_places_in(&self, reply: &AnswerResult) -> bool {
        let values = values(reply);
        self.0.iter().all(|(place, _)| values.iter().any(|(other, _)| other == place))
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

#[cfg(test)]
mod tests {
    use edgeproof_http::Answer;
    use rstest::rstest;

    use super::*;

    fn answer(body: &str) -> Answer {
        let (version, headers) = (http::Version::HTTP_11, http::HeaderMap::new());
        Answer { status: 200, version, headers, body: body.to_owned().into(), complete: true }
    }

    #[rstest]
    #[case::same(r#"{"decision":"allow","age":2}"#, true)]
    #[case::other_order(r#"{"age":3,"decision":"allow"}"#, true)]
    #[case::other_decision(r#"{"decision":"deny","age":3}"#, false)]
    #[case::no_verdict(r#"{"status":"pending"}"#, false)]
    fn only_what_two_readings_share_has_to_stay(#[case] after: &str, #[case] expected: bool) {
        let [first, later] = [r#"{"decision":"allow","age":0}"#, r#"{"decision":"allow","age":1}"#]
            .map(|body| Ok(answer(body)));
        assert_eq!(StableValues::of(&first, &later).is_in(&Ok(answer(after))), expected);
    }
}
