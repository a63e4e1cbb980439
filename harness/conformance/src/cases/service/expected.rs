use edgeproof_fixtures::spec::{Fact, Row, Stimulus, Table};
use serde_json::{Value, json};

use crate::cases::Catalog;
use crate::judge::{ExpectedAnswer, ReasonCode};

/// Row of the answer for a session without a verdict.
pub(crate) const PENDING: &str = "verdict.404.pending";
/// Row of the answer to a request without a read token.
pub(in crate::cases) const UNAUTHORIZED: &str = "verdict.401.unauthorized";

/// Row of the answer to a request with an expired read token.
pub(in crate::cases) const EXPIRED: &str = "verdict.401.expired";

/// The answer in a row, for this session reference.
pub(crate) fn answer(row: &Row, reference: &str) -> ExpectedAnswer {
    let body = row.body_with(&[("<session_ref>", json!(reference))]);
    ExpectedAnswer { status: row.status().unwrap_or_default(), body, to_head: false }
}

/// Whether a body has the members of the pending answer that are the same for all sessions.
pub(crate) fn is_pending(row: &Row, body: &Value) -> bool {
    let Some(expected) = row.body().and_then(Value::as_object) else { return false };
    let fixed = || expected.iter().filter(|(_, value)| **value != json!("<session_ref>"));
    fixed().count() > 0 && fixed().all(|(name, value)| body.get(name) == Some(value))
}

/// The codes of these stimuli, without duplicates.
pub(super) fn codes(cases: &Catalog<'_>, stimuli: &[Stimulus]) -> Vec<ReasonCode> {
    let mut codes: Vec<ReasonCode> = Vec::new();
    for row in stimuli.iter().filter_map(|stimulus| cases.spec.by_stimulus(Table::Verdict, *stimulus)) {
        if let Some(code) = code(row).filter(|code| !codes.contains(code)) {
            codes.push(code);
        }
    }
    codes
}

/// The code of a row.
pub(super) fn code(row: &Row) -> Option<ReasonCode> {
    let suffixed = matches!(&row.fact, Fact::Verdict { suffixed: true, .. });
    Some(ReasonCode { text: row.code()?.to_owned(), suffixed, status: row.status().unwrap_or_default() })
}
