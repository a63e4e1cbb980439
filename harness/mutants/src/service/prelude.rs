//! What the files of mutants use.

pub(super) use bytes::Bytes;
pub(super) use edgeproof_fixtures::spec::Stimulus as S;
pub(super) use edgeproof_mock::ServiceEndpoint;
pub(super) use serde_json::{Value, json};

pub(super) use super::effect::ServiceEffect::{self, *};
pub(super) use super::effect::mutant;
pub(super) use crate::behaviour::Change::{self, *};
pub(super) use crate::behaviour::Condition::{self, *};
pub(super) use crate::behaviour::Page::*;
pub(super) use crate::behaviour::{Answer, Behaviour, Same, Seen, Which};

pub(super) const VERDICT: Condition = Endpoint(ServiceEndpoint::Verdict);
/// A verdict is available.
pub(super) const AVAILABLE: Condition = All(&[VERDICT, Stimulus(&[S::VerdictReady])]);
/// The token is refused.
pub(super) const REFUSED: Condition = All(&[VERDICT, AnswerIs(401, 401)]);
/// The token is accepted.
pub(super) const ACCEPTED: Condition = All(&[VERDICT, Not(&AnswerIs(401, 401))]);
/// The token is accepted, and no verdict is available.
pub(super) const PENDING: Condition = All(&[ACCEPTED, Not(&AVAILABLE)]);
pub(super) const WAITS: Condition = Parameter("waitMs");

pub(super) const OK: &str = r#"{"ok":true}"#;
pub(super) const UNAUTHORIZED: &str = r#"{"error":"unauthorized"}"#;

/// Answer to a pending verdict.
pub(super) fn pending(reference: &str) -> Answer {
    Answer::json(404, json!({ "status": "pending", "ref": reference }).to_string())
}
