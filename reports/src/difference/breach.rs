use serde::{Deserialize, Serialize};

use super::choice::{HeaderChange, PageAct};
use super::key::KeySetValue;
use super::kind::DifferenceKind;
use super::value::Wire;

/// One breach of an invariant, with its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Breach {
    /// Id of the case whose request broke it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case: Option<String>,
    /// Number of the request at the service or of the log line, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub number: Option<u64>,
    /// Status of the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The value that broke it: a grant, a body, a line, a header name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<Wire>,
    /// Method of the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<Wire>,
    /// The request has a token.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub has_token: bool,
    /// Number of arrivals or log lines.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub times: Option<u64>,
    /// Number of requests or refusals that explain them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<u64>,
    /// Name of the data that was found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub datum: Option<String>,
    /// Keys in the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keys: Option<KeySetValue>,
    /// How the header field differs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub header: Option<HeaderChange>,
    /// What the page did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub act: Option<PageAct>,
    /// The difference of a single exchange.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub difference: Option<Box<DifferenceKind>>,
}
