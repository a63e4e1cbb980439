//! Differences between expected and actual behaviour, as plain data, and their text.

mod breach;
mod choice;
mod count;
mod key;
mod kind;
mod message;
mod page;
mod process;
mod rendered;
mod value;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use breach::{Breach, HeaderChange, Invariant};
pub use choice::{
    AnswerSubject, BodyChange, BodyForm, CacheRule, CertificateForm, CodingRule, GrantForm, MemberChange,
    ProcessEnd, Secrets, SilenceReason, Subject, TimeRule, TokenPart, UserDatum,
};
pub use count::{Count, Counted};
pub use key::{KeyFault, KeyRule, KeySetValue, OneKeyFault, SignatureForm};
pub use kind::DifferenceKind;
pub use message::{MessageFault, MessageRule};
pub use page::{
    PageAct, PageDatum, PageEffect, PagePlace, PageValue, SessionEnd, SessionSubject, SessionValue, Thrown,
};
pub use process::{DeathEvidence, ExchangeLine, LastExchange, ProcessDeath, ProcessError};
pub use rendered::{Rendered, excerpt};
pub use value::{
    AnswerValue, BodyRule, BodyValue, HeaderRule, LicenseValue, Lifetime, LogValue, MemberValue, SecretPlace,
    Silence, Statuses, Wire,
};

/// One difference: what was compared, and the values. Its kind and fields are facts; [`DifferenceKind::rendered`] makes
/// the text of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Number of the case's request, from 0, after whose answer the values were compared. Absent: no request was sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exchange: Option<u64>,
    /// Number of the earlier request whose answer was compared with that one. Absent: no other answer was compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub against: Option<u64>,
    /// Path of the compared field: `/status`, `/headers/vary`, `/body/reason`, `/service/requests`.
    pub field: String,
    /// Reason for which the browser stops the requests of every session, so that the case failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<Wire>,
    /// Kind of the difference, with its values.
    #[serde(flatten)]
    pub kind: DifferenceKind,
}

impl From<DifferenceKind> for Difference {
    fn from(kind: DifferenceKind) -> Self {
        Self { exchange: None, against: None, field: kind.field(), stopped: None, kind }
    }
}

impl Difference {
    /// The difference with each of its texts replaced. None: a replacement is no value of an enum.
    pub fn map_texts(&self, replace: &dyn Fn(&str) -> String) -> Option<Self> {
        with_texts(self, replace)
    }
}

/// A value with each of its texts replaced. None: a replacement is no value of an enum.
pub(crate) fn with_texts<T: Serialize + DeserializeOwned>(
    value: &T,
    replace: &dyn Fn(&str) -> String,
) -> Option<T> {
    serde_json::from_value(map_texts(serde_json::to_value(value).ok()?, replace)).ok()
}

fn map_texts(value: Value, replace: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(replace(&text)),
        Value::Array(items) => items.into_iter().map(|item| map_texts(item, replace)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, map_texts(value, replace))).collect()
        }
        other => other,
    }
}
