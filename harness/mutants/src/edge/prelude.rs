//! What the files of mutants use.

pub(super) use super::effect::EdgeEffect::{self, *};
pub(super) use super::effect::mutant;
pub(super) use crate::behaviour::Change::{self, *};
pub(super) use crate::behaviour::Condition::{self, *};
pub(super) use crate::behaviour::Page::*;
pub(super) use crate::behaviour::{Answer, Behaviour, Same, Which};

pub(super) const PREFLIGHT: Condition = Method("OPTIONS");
/// The service answers with a status that is no success.
pub(super) const REFUSED: Condition = ReplyIs(300, 999);
/// The right answer is a success.
pub(super) const SUCCESS: Condition = AnswerIs(200, 299);

pub(super) const OK: &str = r#"{"ok":true}"#;
pub(super) const SERVICE_UNREACHABLE: &str = r#"{"error":"service_unreachable"}"#;
/// Answers as if the service were unreachable.
pub(super) const UNREACHABLE: Change = Becomes(Json(502, SERVICE_UNREACHABLE));
/// The answer of Node.js to a broken request, below all middleware.
pub(super) const BARE_400: Change = Replaced(Made(|_| Answer::json(400, "").without("content-type")));
