use edgeproof_fixtures::spec::{Row, Stimulus, Table};
use http::Method;
use serde_json::{Value, json};

use super::derive::AtRow;
use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeRequest, RelayResult};

impl EdgeFaultHooks for AtRow {
    fn conclude(
        &self,
        asked: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        if shows(&self.row, asked, relayed, &right) {
            self.kind.change(right)
        } else {
            EdgeAction::Answer(right)
        }
    }
}

/// A right answer is the one that a row gives.
pub(super) fn shows(
    row: &Row,
    asked: &EdgeRequest<'_>,
    relayed: Option<&RelayResult>,
    right: &EdgeAnswer,
) -> bool {
    if row.stimuli.contains(&Stimulus::Preflight) {
        return asked.facts.method == Method::OPTIONS && right.status.is_success();
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
