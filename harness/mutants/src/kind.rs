use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE,
    HeaderValue,
};
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use edgeproof_edge::{EdgeAction, EdgeAnswer};

/// A way in which an answer can differ from what its row says. Exhaustive: what exists of each for a row follows from
/// the row.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A status of another class.
    OtherClass,
    /// Another status of the same class.
    OtherStatus,
    /// This member has another value of the same type.
    OtherValue(String),
    /// This member's text has capitals.
    Capitals(String),
    /// This member's value is of another type; a number becomes text.
    WrongType(String),
    /// This member is left out.
    Missing(String),
    /// This member has another name.
    Renamed(String),
    /// There is one member more.
    Extra,
    /// The whole answer of a neighbouring row: status and body.
    Neighbour {
        /// Id of that row.
        row: String,
        /// Its status.
        status: u16,
        /// Its body.
        body: Value,
    },
    /// The reason is `unknown`, though there is one.
    Unknown,
    /// The body is said to be plain text.
    TextType,
    /// No page may read the answer.
    NoCors,
    /// The connection is closed in place of the answer.
    Withheld,
}

impl Kind {
    /// The end of the deviation's id.
    pub fn slug(&self) -> String {
        match self {
            Self::OtherClass => "other-class".into(),
            Self::OtherStatus => "other-status".into(),
            Self::OtherValue(member) => format!("other-value-{member}"),
            Self::Capitals(member) => format!("capitals-{member}"),
            Self::WrongType(member) => format!("wrong-type-{member}"),
            Self::Missing(member) => format!("missing-{member}"),
            Self::Renamed(member) => format!("renamed-{member}"),
            Self::Extra => "extra-member".into(),
            Self::Neighbour { .. } => "neighbours-answer".into(),
            Self::Unknown => "unknown".into(),
            Self::TextType => "text-type".into(),
            Self::NoCors => "no-cors".into(),
            Self::Withheld => "withheld".into(),
        }
    }

    /// What is done, in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::OtherClass => "a status of another class".into(),
            Self::OtherStatus => "another status of the same class".into(),
            Self::OtherValue(member) => format!("another value of {member}"),
            Self::Capitals(member) => format!("{member} in capitals"),
            Self::WrongType(member) => format!("{member} of another type"),
            Self::Missing(member) => format!("without {member}"),
            Self::Renamed(member) => format!("{member} by another name"),
            Self::Extra => "one member more".into(),
            Self::Neighbour { row, .. } => format!("the answer of {row}"),
            Self::Unknown => "the reason is unknown".into(),
            Self::TextType => "sent as text/plain".into(),
            Self::NoCors => "readable by no page".into(),
            Self::Withheld => "the connection is closed in place of an answer".into(),
        }
    }

    /// The answer that deviates so.
    pub fn change(&self, right: EdgeAnswer) -> EdgeAction {
        let mut answer = right;
        match self {
            Self::OtherClass => {
                answer.status = moved(answer.status, |status| match status {
                    // What redirects is another matter.
                    ..300 => status + 300,
                    300..500 => status + 100,
                    _ => status - 100,
                });
            }
            Self::OtherStatus => {
                answer.status =
                    moved(answer.status, |status| if status % 100 == 99 { status - 1 } else { status + 1 });
            }
            Self::OtherValue(member) => edit(&mut answer.body, |body| {
                if let Some(value) = body.get_mut(member) {
                    *value = other_value(value);
                }
            }),
            Self::Capitals(member) => edit(&mut answer.body, |body| {
                if let Some(Value::String(text)) = body.get_mut(member) {
                    text.make_ascii_uppercase();
                }
            }),
            Self::WrongType(member) => edit(&mut answer.body, |body| {
                if let Some(value) = body.get_mut(member) {
                    *value = other_type(value);
                }
            }),
            Self::Missing(member) => edit(&mut answer.body, |body| drop(body.shift_remove(member))),
            Self::Renamed(member) => edit(&mut answer.body, |body| {
                if let Some(value) = body.shift_remove(member) {
                    body.insert(format!("{member}Code"), value);
                }
            }),
            Self::Extra => edit(&mut answer.body, |body| drop(body.insert("detail".into(), json!("")))),
            Self::Neighbour { status, body, .. } => {
                answer.status = moved(answer.status, |_| *status);
                answer.body = Bytes::from(body.to_string());
            }
            Self::Unknown => {
                edit(&mut answer.body, |body| drop(body.insert("reason".into(), json!("unknown"))));
            }
            Self::TextType => {
                if answer.headers.contains_key(CONTENT_TYPE) {
                    answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
                }
            }
            Self::NoCors => without_cors(&mut answer.headers),
            Self::Withheld => return EdgeAction::Nothing,
        }
        EdgeAction::Answer(answer)
    }
}

/// Two answers say the same: status, body as JSON, what the body is said to be, and what pages may do.
pub(super) fn says_the_same(right: &EdgeAnswer, other: &EdgeAction) -> bool {
    let EdgeAction::Answer(other) = other else { return false };
    let body =
        |answer: &EdgeAnswer| serde_json::from_slice::<Value>(&answer.body).map_err(|_| answer.body.clone());
    let header = |answer: &EdgeAnswer, name| answer.headers.get(name).cloned();
    right.status == other.status
        && body(right).ok() == body(other).ok()
        && right.body.is_empty() == other.body.is_empty()
        && [
            CONTENT_TYPE,
            ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_ALLOW_HEADERS,
            ACCESS_CONTROL_ALLOW_METHODS,
        ]
        .iter()
        .all(|name| header(right, name) == header(other, name))
}

/// Takes away what lets pages read an answer.
pub(super) fn without_cors(headers: &mut HeaderMap) {
    for name in [ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_HEADERS] {
        headers.remove(name);
    }
}

/// Changes a body that is a JSON object; others stay.
pub(super) fn edit(body: &mut Bytes, change: impl FnOnce(&mut Map<String, Value>)) {
    if let Ok(Value::Object(mut members)) = serde_json::from_slice(body) {
        change(&mut members);
        *body = Bytes::from(Value::Object(members).to_string());
    }
}

fn moved(status: StatusCode, to: impl Fn(u16) -> u16) -> StatusCode {
    StatusCode::from_u16(to(status.as_u16())).unwrap_or(status)
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
