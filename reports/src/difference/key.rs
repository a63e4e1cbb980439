//! Values of key sets.

use serde::{Deserialize, Serialize};

use super::choice::values;
use super::value::{Silence, Wire};

/// What an answer has for a key set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KeySetValue {
    /// The same keys as before.
    Same,
    /// Other keys than before.
    Other,
    /// No key set.
    NotASet,
    /// No key set, but bytes in gzip.
    Gzip,
    /// No key set. Holds the error of the parser.
    Unreadable(Wire),
    /// Number of keys.
    Keys(u64),
    /// Keys with these ids.
    Ids(Vec<Option<Wire>>),
    /// An answer with this status.
    Status(u16),
    /// No answer.
    Silence(Silence),
}

/// A fault of a key set. Keys have numbers from 0. It holds no value, because a value may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KeyFault {
    /// Two different keys have the same id.
    SameId {
        /// The first key.
        first: u64,
        /// The second key.
        second: u64,
    },
    /// The place of private key material (JSON pointer).
    PrivateAt(String),
    /// The place of a member that its object has more than once (JSON pointer).
    DoubledAt(String),
    /// A fault of one key.
    Key {
        /// The key.
        key: u64,
        /// Its fault.
        fault: OneKeyFault,
    },
}

/// A fault of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OneKeyFault {
    /// The id is no text.
    IdNotText,
    /// It has this private member.
    Private(String),
    /// It is symmetric.
    Symmetric,
    /// It has no type.
    WithoutType,
    /// Its type is not registered.
    UnknownType,
    /// It lacks this member.
    Lacks(String),
    /// This member is not base64url without padding.
    NotBase64(String),
    /// The length of a member is not that of the curve.
    Length {
        /// The member.
        member: String,
        /// Actual length.
        bytes: u64,
        /// Length that the curve requires.
        required: u64,
    },
    /// This member is no text.
    NotText(String),
    /// It is not for signatures.
    OtherUse,
    /// Its operations lack `verify`.
    NoVerify,
    /// Its algorithm is none of these, which its type allows.
    OtherAlgorithm(Vec<String>),
}

impl OneKeyFault {
    /// The fault of this key.
    pub fn of(self, key: usize) -> KeyFault {
        KeyFault::Key { key: key as u64, fault: self }
    }
}

values! {
    /// Rule of a key set.
    KeyRule {
        /// It is a key set.
        Readable,
        /// It has a key.
        NotEmpty,
        /// Different keys have different ids.
        DistinctIds,
        /// It has public members only.
        PublicOnly,
        /// It and its keys have each member once.
        MembersOnce,
        /// Each key has a type.
        Typed,
        /// Each key has all members.
        Complete,
        /// JOSE libraries can use each key to verify.
        Verifying,
        /// Each of many answers has the same keys.
        Same,
        /// It has the same keys as an ordinary request before.
        SameAgain,
    }

    /// Result of verifying a token.
    SignatureForm {
        /// It verifies.
        Verified,
        /// It verifies with a key that has no id.
        VerifiedUnnamed,
        /// It does not verify.
        NotVerified,
        /// The set has no such key.
        UnknownKey,
        /// Its algorithm has no public key.
        Unsigned,
        /// edgeproof does not know its algorithm.
        Unsupported,
        /// It is no JWS.
        Malformed,
    }
}

impl KeyRule {
    /// The value with the same symptom.
    #[must_use]
    pub fn class(self) -> Self {
        match self {
            Self::Verifying | Self::SameAgain => Self::Same,
            other => other,
        }
    }
}
