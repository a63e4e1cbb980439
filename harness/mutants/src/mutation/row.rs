use edgeproof_edge::{EdgeAnswer, EdgeRequest, RelayResult};
use edgeproof_fixtures::spec::{Row, Stimulus, Table};
use edgeproof_mock::{ServiceDecision, ServiceEndpoint};
use http::Method;
use serde_json::{Value, json};

use super::answer::AnswerMutation;
use super::row_cause::cause;

/// Mutation of one row: where the right answer is the row's answer, it is changed.
#[derive(Debug, Clone, PartialEq)]
pub struct RowMutation {
    /// The row.
    pub row: Row,
    /// Change of its answer.
    pub answer: AnswerMutation,
}

impl RowMutation {
    /// Whether the row is about the edge's answers; otherwise it is about the service or its key set.
    pub fn is_of_edge(&self) -> bool {
        matches!(self.row.table, Table::Edge | Table::Relay)
    }

    /// Id of its cause.
    pub fn cause(&self) -> &'static str {
        cause(&self.row, &self.answer)
    }

    /// Whether the mutation skips the check for this stimulus.
    pub(crate) fn skips_check(&self, stimulus: Stimulus) -> bool {
        self.answer == AnswerMutation::SkippedCheck && self.row.stimuli.contains(&stimulus)
    }
}

/// Whether a right answer of the edge is the answer of this row.
pub(crate) fn is_edge_answer(
    row: &Row,
    request: &EdgeRequest<'_>,
    relayed: Option<&RelayResult>,
    right: &EdgeAnswer,
) -> bool {
    if !matches!(row.table, Table::Edge | Table::Relay) {
        return false;
    }
    if row.stimuli.contains(&Stimulus::Preflight) {
        return request.facts.method == Method::OPTIONS && right.status.is_success();
    }
    let status = right.status.as_u16();
    if row.status().is_some_and(|stated| stated != status) {
        return false;
    }
    let Ok(body) = serde_json::from_slice::<Value>(&right.body) else { return false };
    if row.table == Table::Relay {
        return relayed.is_some() && body.get("reason").and_then(Value::as_str) == row.code();
    }
    let reason = body.get("reason").cloned().unwrap_or_default();
    row.body_with(&[("<reason>", reason), ("<status>", json!(status))]).is_some_and(|given| given == body)
}

/// Whether a right answer of the service or key set is the answer of this row.
pub(crate) fn is_service_answer(row: &Row, endpoint: ServiceEndpoint, right: &ServiceDecision) -> bool {
    match (row.table, endpoint) {
        (Table::Verdict, ServiceEndpoint::Verdict) => {
            row.stimuli.contains(&right.stimulus.unwrap_or(Stimulus::VerdictReady))
        }
        (Table::Keys, ServiceEndpoint::KeySet) => row.status() == Some(right.status),
        _ => false,
    }
}
