//! Values of differences.

use serde::{Deserialize, Serialize};

use super::choice::{BodyForm, MemberChange, SilenceReason};

/// Bytes that are kept of a long value. Reports cut texts after redaction, so this is more than they show.
const KEPT: usize = 8 * 1024;

/// Bytes from the wire, or of the tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Wire {
    /// The first bytes as text; a replacement character stands for bytes that are not UTF-8.
    pub text: String,
    /// Number of all bytes.
    pub bytes: u64,
}

impl From<&[u8]> for Wire {
    fn from(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(KEPT)]).into_owned();
        Self { text, bytes: bytes.len() as u64 }
    }
}

impl From<&str> for Wire {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<&String> for Wire {
    fn from(text: &String) -> Self {
        text.as_bytes().into()
    }
}

impl From<String> for Wire {
    fn from(text: String) -> Self {
        text.as_bytes().into()
    }
}

impl Wire {
    /// Whether some bytes are not UTF-8.
    pub fn is_binary(&self) -> bool {
        self.text.contains(char::REPLACEMENT_CHARACTER)
    }
}

/// An absent answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Silence {
    /// The reason.
    pub reason: SilenceReason,
    /// Timeout (ms).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within_ms: Option<u64>,
    /// Error of the system, of TLS or of the parser.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<Wire>,
}

/// A set of statuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Statuses {
    /// One of these.
    OneOf(Vec<u16>),
    /// From 200 to 299.
    Success,
    /// Below 500.
    NoServerError,
    /// Below 500, or 501.
    NoServerErrorOr501,
    /// Any but this one.
    Except(u16),
    /// Any.
    Any,
}

impl Statuses {
    /// Whether the set has this status.
    pub fn has(&self, status: u16) -> bool {
        match self {
            Self::OneOf(all) => all.contains(&status),
            Self::Success => (200..300).contains(&status),
            Self::NoServerError => status < 500,
            Self::NoServerErrorOr501 => status < 500 || status == 501,
            Self::Except(one) => status != *one,
            Self::Any => true,
        }
    }
}

/// A differing member of a JSON body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemberValue {
    /// Path in the body, such as `/reason`.
    pub path: String,
    /// How it differs.
    pub change: MemberChange,
}

/// Expected body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BodyRule {
    /// This JSON.
    Exactly(Wire),
    /// Any JSON.
    Json,
    /// JSON with one of these reason codes.
    Codes(Vec<String>),
    /// No bytes.
    Nothing,
    /// A verdict.
    Verdict,
}

/// Actual body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BodyValue {
    /// The bytes.
    pub value: Wire,
    /// Its form.
    pub form: BodyForm,
    /// `Content-Type`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub content_type: Option<Wire>,
    /// It arrived whole.
    pub complete: bool,
    /// Members that differ from the expected body.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub members: Vec<MemberValue>,
}

/// Status and body of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnswerValue {
    /// Status.
    pub status: u16,
    /// Header fields, if they are compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub headers: Option<Wire>,
    /// `Location`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location: Option<Wire>,
    /// Body; absent if any body fits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<BodyValue>,
}

/// Rule of a header field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HeaderRule {
    /// A list with `POST`.
    ListsPost,
    /// A list of methods, or absent.
    Methods,
    /// Names `content-type`.
    ListsContentType,
    /// The scheme `Bearer`.
    Bearer,
    /// An entity tag in quotes.
    EntityTag,
    /// A JSON type.
    JsonType,
    /// `Vary` names `Origin`, or the grants are the same.
    VaryOrigin {
        /// Grant to the allowed origin.
        allowed: Option<Wire>,
        /// Grant to another origin.
        other: Option<Wire>,
    },
    /// Absent: the field is one of the service's reply.
    NotOfService,
    /// The same value as in another answer.
    SameAs(Option<Wire>),
}

/// License in a request to the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LicenseValue {
    /// The configured one.
    Unchanged,
    /// No token.
    Absent,
    /// Another token. Its text may be secret.
    OtherToken {
        /// Its length.
        bytes: u64,
        /// Length of the license.
        expected: u64,
        /// Position of the first different byte.
        differs_at: u64,
    },
    /// Another text.
    OtherText,
}

/// Place of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SecretPlace {
    /// The body.
    Body,
    /// The header field with this name.
    Header(String),
    /// A log line.
    LogLine,
}

/// Log lines about a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LogValue {
    /// Number of lines that name the refusal.
    Lines(u64),
    /// The log is empty.
    Empty,
    /// This line has the reason, but not the status.
    WithoutStatus(Wire),
    /// No line has the reason: the number of lines, and the last one.
    WithoutReason(u64, Wire),
}

/// A cache lifetime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// Directives of `Cache-Control`.
    Directives(Wire),
    /// `Expires`, in seconds after the answer.
    Expires(Option<u64>),
}
