//! Values of pages and their sessions.

use serde::{Deserialize, Serialize};

use super::choice::SessionEnd;
use super::value::{AnswerValue, Silence, Wire};

/// The last call of a session in a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionValue {
    /// Name of the function.
    pub call: String,
    /// Its end.
    pub end: SessionEnd,
    /// Text of the error that it failed with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub actual: Option<Wire>,
    /// What it threw, without the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thrown: Option<Thrown>,
    /// Time after which it had not ended (ms).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_ms: Option<u64>,
    /// Why the page ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page_end: Option<Wire>,
}

/// A thrown value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thrown {
    /// Name of the error, or type of another value.
    pub name: Wire,
    /// It is an error.
    pub is_error: bool,
    /// A promise was rejected with it.
    pub rejected: bool,
}

/// Which session of a case, or what it tries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SessionSubject {
    /// Any session.
    #[default]
    Session,
    /// The next one.
    Next,
    /// An aborted one.
    Aborted,
    /// `verify()` after the abort.
    AfterAbort,
    /// `ready()` without `start()`.
    WithoutStart,
    /// `ready()` without `start()`, again.
    WithoutStartAgain,
    /// A session with this mode.
    Mode(Wire),
    /// A session with this URL of the edge.
    ApiUrl(Wire),
}

impl SessionSubject {
    pub(super) fn is_any(&self) -> bool {
        *self == Self::Session
    }
}

/// What a page does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageValue {
    /// Texts or bytes of it.
    Texts(Vec<Wire>),
    /// So many.
    Number(u64),
    /// How a session ends.
    Session(SessionValue),
    /// An answer.
    Answer(AnswerValue),
    /// No answer.
    Silence(Silence),
    /// Data of the page in requests.
    Data(Vec<PageDatum>),
}

impl PageValue {
    /// One text, or the bytes of one.
    pub fn text(text: impl Into<Wire>) -> Self {
        Self::texts([text])
    }

    /// Several texts.
    pub fn texts(texts: impl IntoIterator<Item = impl Into<Wire>>) -> Self {
        Self::Texts(texts.into_iter().map(Into::into).collect())
    }
}

/// Data of the page in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageDatum {
    /// Name of its place in the page.
    pub place: String,
    /// Method of the request.
    pub method: Wire,
    /// Path of the request.
    pub path: Wire,
}
