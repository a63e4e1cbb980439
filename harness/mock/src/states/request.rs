use edgeproof_fixtures::credentials::Secret;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A state to bring a service into. It is one object of JSON, whose member `state` names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase", deny_unknown_fields)]
pub enum StateRequest {
    /// The session has a verdict.
    Verdict {
        /// Session reference. A service that makes its own answers with the one that it made.
        #[serde(rename = "ref")]
        reference: String,
        /// License of the session.
        #[serde(default)]
        license: License,
        /// Decision of the verdict.
        #[serde(default = "allow")]
        decision: Decision,
        /// Confidence of the verdict: 0 to 1.
        #[serde(default = "full")]
        confidence: Confidence,
        /// Age of the verdict (s).
        #[serde(default)]
        age: u64,
    },
    /// The session has no verdict yet.
    Pending {
        /// Session reference.
        #[serde(rename = "ref")]
        reference: String,
        /// License of the session.
        #[serde(default)]
        license: License,
    },
    /// There is no session any more.
    Gone {
        /// Session reference.
        #[serde(rename = "ref")]
        reference: String,
    },
    /// The read token is revoked.
    Revoke {
        /// The token.
        #[serde(with = "secret")]
        token: Secret,
    },
    /// The read token is no longer revoked.
    Restore {
        /// The token.
        #[serde(with = "secret")]
        token: Secret,
    },
    /// New verdicts are signed with a new key.
    Rotate {},
    /// The clock of the service has moved.
    Later {
        /// Time that has passed (s).
        seconds: u64,
    },
    /// A page posted a collection over an edge.
    Collection {
        /// Session reference.
        #[serde(rename = "ref")]
        reference: String,
        /// What happened to the collection.
        form: CollectionState,
    },
    /// The service knows a credential that causes this refusal. The answer contains it.
    Credential {
        /// Cause of the refusal: a stimulus of the tables, such as `read-token-wrong-type`.
        cause: Stimulus,
        /// Time for which the service accepts the credential before (s).
        #[serde(default, skip_serializing_if = "is_zero")]
        after: u64,
    },
    /// The service cannot check read tokens, and refuses them for this reason.
    Outage {
        /// Reason code. None: the service can check them again.
        code: Option<String>,
    },
    /// No change. The answer contains the number of requests that wait for a verdict.
    Waiting {},
}

/// License of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum License {
    /// The license of the read token.
    #[default]
    Own,
    /// Another license: that of `READ_TOKEN_OTHER`.
    Other,
}

/// What happened to a posted collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CollectionState {
    /// The service accepted it.
    Accepted,
    /// The service refused it.
    Refused,
    /// A copy of the accepted one was posted.
    Copied,
}

/// Answer to a [`StateRequest`] that is done. Every member is optional, and unknown members are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StateReply {
    /// Reference of the session, where the service makes its own.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Value of `Authorization` with the requested credential.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "optional_secret")]
    pub authorization: Option<Secret>,
    /// Number of requests that wait for a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<usize>,
    /// Status that the edge returned to the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

impl StateRequest {
    /// A verdict with the usual judgement.
    pub fn verdict(reference: impl Into<String>) -> Self {
        Self::aged(reference, 0)
    }

    /// A verdict of this age (s).
    pub fn aged(reference: impl Into<String>, age: u64) -> Self {
        let (decision, confidence) = (allow(), full());
        Self::Verdict { reference: reference.into(), license: License::Own, decision, confidence, age }
    }

    /// A verdict of another customer's session.
    pub fn other_license(reference: impl Into<String>) -> Self {
        let (decision, confidence) = (allow(), full());
        Self::Verdict { reference: reference.into(), license: License::Other, decision, confidence, age: 0 }
    }

    /// A verdict with this judgement.
    pub fn judged(reference: impl Into<String>, judgement: Judgement) -> Self {
        let Judgement { decision, confidence } = judgement;
        Self::Verdict { reference: reference.into(), license: License::Own, decision, confidence, age: 0 }
    }

    /// The same verdict, of this age (s). Other states have no age.
    #[must_use]
    pub fn of_age(self, seconds: u64) -> Self {
        match self {
            Self::Verdict { reference, license, decision, confidence, .. } => {
                Self::Verdict { reference, license, decision, confidence, age: seconds }
            }
            other => other,
        }
    }

    /// A session without a verdict.
    pub fn pending(reference: impl Into<String>) -> Self {
        Self::Pending { reference: reference.into(), license: License::Own }
    }

    /// Reference of its session, if it has one.
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::Verdict { reference, .. }
            | Self::Pending { reference, .. }
            | Self::Gone { reference }
            | Self::Collection { reference, .. } => Some(reference),
            _ => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn allow() -> Decision {
    Decision::Allow
}

fn full() -> Confidence {
    Confidence::FULL
}

/// A secret is a plain text in the format.
mod secret {
    use super::{Deserialize, Deserializer, Secret, Serializer};

    pub(super) fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        Ok(Secret::new(String::deserialize(deserializer)?))
    }
}

mod optional_secret {
    use super::{Deserialize, Deserializer, Secret, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field so")]
    pub(super) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::expose).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Secret::new))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"state":"verdict","ref":"r"}"#, StateRequest::verdict("r"))]
    #[case(r#"{"state":"verdict","ref":"r","license":"other"}"#, StateRequest::other_license("r"))]
    #[case(r#"{"state":"verdict","ref":"r","age":121}"#, StateRequest::aged("r", 121))]
    #[case(r#"{"state":"pending","ref":"r"}"#, StateRequest::pending("r"))]
    #[case(r#"{"state":"rotate"}"#, StateRequest::Rotate {})]
    #[case(r#"{"state":"later","seconds":121}"#, StateRequest::Later { seconds: 121 })]
    #[case(r#"{"state":"outage","code":null}"#, StateRequest::Outage { code: None })]
    fn request_is_one_object(#[case] text: &str, #[case] expected: StateRequest) {
        let request: StateRequest = serde_json::from_str(text).unwrap();
        assert_eq!(request, expected);
        let again: StateRequest = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
        assert_eq!(again, expected);
    }

    #[rstest]
    #[case(r#"{"state":"ready","ref":"r"}"#)]
    #[case(r#"{"state":"verdict"}"#)]
    #[case(r#"{"state":"verdict","ref":"r","licence":"own"}"#)]
    #[case(r#"{"state":"verdict","ref":"r","confidence":2}"#)]
    fn mistyped_request_is_an_error(#[case] text: &str) {
        assert!(serde_json::from_str::<StateRequest>(text).is_err(), "{text}");
    }

    #[test]
    fn token_is_not_printed() {
        let request: StateRequest = serde_json::from_str(r#"{"state":"revoke","token":"secret"}"#).unwrap();
        assert!(!format!("{request:?}").contains("\"secret\""));
    }
}
