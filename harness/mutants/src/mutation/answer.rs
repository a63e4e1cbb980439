use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE,
    HeaderValue,
};
use serde_json::{Value, json};

use crate::behaviour::{Answer, edit_object, remove_cors};

/// Difference between an answer and its row. The row decides which ones exist for it.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerMutation {
    /// Status of another class.
    OtherClass,
    /// Other status of the same class.
    OtherStatus,
    /// Other value of the same type in this member.
    OtherValue(String),
    /// Text of this member in upper case.
    UpperCase(String),
    /// Value of another type in this member; a number becomes text.
    WrongType(String),
    /// This member is missing.
    Missing(String),
    /// This member has another name.
    Renamed(String),
    /// One additional member.
    Extra,
    /// Status and body of a neighbouring row.
    OtherRow {
        /// Id of that row.
        row: String,
        /// Its status.
        status: u16,
        /// Its body.
        body: Value,
    },
    /// Reason `unknown` in place of the service's reason.
    Unknown,
    /// Content type `text/plain`.
    TextPlain,
    /// No CORS headers.
    NoCors,
    /// The connection is closed in place of the answer.
    NoAnswer,
    /// The check behind the refusal is skipped: a read token is accepted.
    SkippedCheck,
}

impl AnswerMutation {
    /// Second half of the mutant's id and of its title.
    pub fn slug_and_title(&self) -> (String, String) {
        let (slug, title, member) = match self {
            Self::OtherClass => ("other-class", "status of another class", None),
            Self::OtherStatus => ("other-status", "other status of the same class", None),
            Self::OtherValue(member) => ("other-value", "other value of", Some(member)),
            Self::UpperCase(member) => ("upper-case", "upper-case value of", Some(member)),
            Self::WrongType(member) => ("wrong-type", "wrong type of", Some(member)),
            Self::Missing(member) => ("missing", "missing member", Some(member)),
            Self::Renamed(member) => ("renamed", "renamed member", Some(member)),
            Self::Extra => ("extra-member", "additional member", None),
            Self::OtherRow { row, .. } => return ("other-row".into(), format!("answer of {row}")),
            Self::Unknown => ("unknown", "reason unknown", None),
            Self::TextPlain => ("text-plain", "content type text/plain", None),
            Self::NoCors => ("no-cors", "no CORS headers", None),
            Self::NoAnswer => ("no-answer", "connection closed without an answer", None),
            Self::SkippedCheck => ("skipped-check", "check skipped, access granted", None),
        };
        match member {
            Some(member) => (format!("{slug}-{member}"), format!("{title} {member}")),
            None => (slug.to_owned(), title.to_owned()),
        }
    }

    /// The changed answer; `None` if the connection is closed in its place.
    pub(crate) fn apply(&self, right: Answer) -> Option<Answer> {
        let mut answer = right;
        let body = &mut answer.body;
        match self {
            Self::OtherClass => {
                answer.status = match answer.status {
                    // Not a redirect: clients treat those differently.
                    ..300 => answer.status + 300,
                    300..500 => answer.status + 100,
                    _ => answer.status - 100,
                };
            }
            Self::OtherStatus if answer.status % 100 == 99 => answer.status -= 1,
            Self::OtherStatus => answer.status += 1,
            Self::OtherValue(member) => edit_member(body, member, |value| *value = other_value(value)),
            Self::UpperCase(member) => edit_member(body, member, |value| {
                if let Value::String(text) = value {
                    text.make_ascii_uppercase();
                }
            }),
            Self::WrongType(member) => edit_member(body, member, |value| *value = other_type(value)),
            Self::Missing(member) => edit_object(body, |body| drop(body.shift_remove(member))),
            Self::Renamed(member) => edit_object(body, |body| {
                if let Some(value) = body.shift_remove(member) {
                    body.insert(format!("{member}Code"), value);
                }
            }),
            Self::Extra => edit_object(body, |body| drop(body.insert("detail".into(), json!("")))),
            Self::OtherRow { status, body: other, .. } => {
                answer.status = *status;
                answer.body = Bytes::from(other.to_string());
            }
            Self::Unknown => edit_object(body, |body| drop(body.insert("reason".into(), json!("unknown")))),
            Self::TextPlain => {
                if answer.headers.contains_key(CONTENT_TYPE) {
                    answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
                }
            }
            Self::NoCors => remove_cors(&mut answer.headers),
            Self::NoAnswer => return None,
            Self::SkippedCheck => {}
        }
        Some(answer)
    }

    /// Whether the changed answer means the same as the right one. A skipped check never does.
    pub(crate) fn is_equivalent(&self, right: &Answer) -> bool {
        *self != Self::SkippedCheck
            && self.apply(right.clone()).is_some_and(|changed| means_the_same(right, &changed))
    }
}

/// Compares status, body as JSON, content type and the CORS headers.
fn means_the_same(right: &Answer, other: &Answer) -> bool {
    let body = |answer: &Answer| serde_json::from_slice::<Value>(&answer.body).ok();
    right.status == other.status
        && body(right) == body(other)
        && right.body.is_empty() == other.body.is_empty()
        && [
            CONTENT_TYPE,
            ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_ALLOW_HEADERS,
            ACCESS_CONTROL_ALLOW_METHODS,
        ]
        .iter()
        .all(|name| right.headers.get(name) == other.headers.get(name))
}

fn edit_member(body: &mut Bytes, member: &str, change: impl FnOnce(&mut Value)) {
    edit_object(body, |members| {
        if let Some(value) = members.get_mut(member) {
            change(value);
        }
    });
}

fn other_value(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("x_{text}")),
        Value::Number(number) => json!(number.as_u64().unwrap_or_default() + 1),
        Value::Bool(bool) => json!(!bool),
        other => json!([other]),
    }
}

fn other_type(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.to_string()),
        Value::Bool(bool) => json!(bool.to_string()),
        other => json!([other]),
    }
}
