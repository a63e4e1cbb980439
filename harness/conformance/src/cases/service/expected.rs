use std::collections::BTreeSet;

use edgeproof_fixtures::spec::{Fact, Row, Spec, Stimulus, Table};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;
use serde_json::{Value, json};

use crate::cases::context::row;
use crate::judge::{self, AnswerResult, Check, ExpectedAnswer, ReasonCode};

/// Row of the answer for a session without a verdict.
pub(crate) const PENDING: &str = "verdict.404.pending";
/// Row of the answer to a request without a read token.
pub(crate) const UNAUTHORIZED: &str = "verdict.401.unauthorized";

/// Row of the answer with a verdict.
pub(crate) const AVAILABLE: &str = "verdict.200.available";
/// Row of the answer to a request with an expired read token.
pub(in crate::cases) const EXPIRED: &str = "verdict.401.expired";

/// Row of the answer to a request with a revoked read token.
pub(crate) const REVOKED: &str = "verdict.401.revoked";
/// Row of the answer of a service that cannot check read tokens.
pub(crate) const OUTAGE: &str = "verdict.401.verify-error";

/// Row of the answer with the key set.
pub(crate) const PUBLISHED: &str = "keys.200.published";

/// The expected answer to a request for a verdict.
#[derive(Clone)]
pub(in crate::cases) enum Expected {
    /// Pending, with exactly this reference.
    Pending(String),
    /// The answer to a request without a read token.
    Unauthorized,
    /// The refusal with a code for a token that is damaged or no read token.
    Damaged,
    /// The verdict.
    Verdict,
    /// The status of one of these rows, or another one that HTTP permits.
    Status { rows: &'static [&'static str], others: &'static [u16] },
    /// Any answer below 500.
    NoServerError,
    /// The refusal of an expired read token.
    Expired,
    /// The refusal of a revoked read token.
    Revoked,
}

impl Expected {
    /// Compares an answer.
    pub(super) fn judge(&self, spec: &Spec, reply: &AnswerResult) -> Vec<Check> {
        let exact = |id: &str, reference: &str| judge::exact(&answer(row(spec, id), reference), reply);
        match self {
            Self::Pending(reference) => exact(PENDING, reference),
            Self::Unauthorized => exact(UNAUTHORIZED, ""),
            Self::Expired => exact(EXPIRED, ""),
            Self::Revoked => exact(REVOKED, ""),
            Self::Damaged => {
                let codes =
                    codes(spec, [Stimulus::ReadTokenMissing].iter().chain(&Stimulus::DAMAGED_READ_TOKENS));
                vec![status_of(&codes, reply), judge::is_json(reply), judge::has_code(&codes, reply)]
            }
            Self::Verdict => verdict(spec, reply),
            Self::Status { rows, others } => {
                let mut statuses: BTreeSet<u16> = rows.iter().filter_map(|id| spec.status(id)).collect();
                // A version that states none of the rows leaves the answer open.
                if statuses.is_empty() {
                    return Vec::new();
                }
                statuses.extend(others.iter());
                vec![judge::status_in(Statuses::OneOf(statuses.into_iter().collect()), reply)]
            }
            // 501 says that the service does not implement a method (RFC 9110 §15.6.2).
            Self::NoServerError => vec![judge::status_in(Statuses::NoServerErrorOr501, reply)],
        }
    }
}

/// The answer has the status of a row, and any body.
pub(in crate::cases) fn status(spec: &Spec, id: &str, reply: &AnswerResult) -> Check {
    match row(spec, id).status() {
        Some(status) => judge::status_is(status, reply),
        None => Check::unstated(answer(row(spec, id), "").wanted()),
    }
}

/// Status of the answer with the key set. A version that does not state it has that of HTTP.
pub(crate) fn published_status(spec: &Spec) -> u16 {
    spec.status(PUBLISHED).unwrap_or(200)
}

/// The statuses of refusals.
pub(crate) fn refusal_statuses(spec: &Spec) -> BTreeSet<u16> {
    let refusals = spec.table(Table::Verdict).filter(|row| ![AVAILABLE, PENDING].contains(&row.id.as_str()));
    refusals.filter_map(Row::status).collect()
}

/// The answer has the status of one of these codes.
pub(super) fn status_of(codes: &[ReasonCode], reply: &AnswerResult) -> Check {
    let statuses: BTreeSet<u16> = codes.iter().map(|code| code.status).collect();
    judge::status_in(Statuses::OneOf(statuses.into_iter().collect()), reply)
}

/// The answer has the status of an available verdict, and a complete verdict.
pub(super) fn verdict(spec: &Spec, reply: &AnswerResult) -> Vec<Check> {
    let status = status(spec, AVAILABLE, reply);
    let Ok(answer) = reply else { return vec![status] };
    let mut checks = vec![status, judge::has_verdict(reply)];
    checks.extend(judge::json_as_said(reply));
    // The interface does not show the form of a verdict.
    checks.extend(judge::is_json(reply).ok.then(|| judge::json_content_type(reply).at(CaseLevel::Should)));
    checks.extend(judge::claims_agree(&answer.body));
    checks
}

/// The codes for a damaged token.
pub(super) fn damage_codes(spec: &Spec) -> Vec<ReasonCode> {
    codes(spec, &Stimulus::DAMAGED_READ_TOKENS)
}

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
fn codes<'s>(spec: &Spec, stimuli: impl IntoIterator<Item = &'s Stimulus>) -> Vec<ReasonCode> {
    let mut codes: Vec<ReasonCode> = Vec::new();
    for row in stimuli.into_iter().filter_map(|stimulus| spec.by_stimulus(Table::Verdict, *stimulus)) {
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
