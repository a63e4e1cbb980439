use std::fmt;

use edgeproof_fixtures::spec::{Spec, Table};
use serde_json::Value;

/// How a request came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// An answer with this status, and the code that its body gives.
    Answer {
        /// Status.
        status: u16,
        /// The reason in its body.
        code: Code,
    },
    /// No whole answer.
    Failed(RequestFailure),
    /// Still under way when the time to drain was over.
    Open,
    /// Never sent: no connection was free before the end.
    Dropped,
    /// A verdict that was not there in time: given up between two questions.
    GivenUp,
}

/// What the body of an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// What an answer of this status and no code is to say; for a 200, `{"ok":true}` or a verdict.
    Plain,
    /// A code of the interface, by its place among [`Codes`].
    Known(u16),
    /// A code that is not in the tables.
    Unlisted,
    /// A body that is none of the interface's.
    Strange,
}

/// Why there is no whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestFailure {
    /// No connection could be made.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The connection ended before a whole answer.
    Closed,
    /// What came is not HTTP.
    NotHttp,
    /// No answer in time.
    Timeout,
}

/// The codes of the tables: what an answer may say, so that a peer cannot make up outcomes without end.
#[derive(Debug, Clone, Default)]
pub struct Codes(Vec<String>);

impl Codes {
    /// Those of an edition of the interface.
    pub fn new(spec: &Spec) -> Self {
        let mut codes: Vec<String> = [Table::Edge, Table::Relay, Table::Verdict]
            .into_iter()
            .flat_map(|table| spec.table(table))
            .filter_map(|row| {
                // The marker of a verdict that is not there yet says it in its `status`.
                let marker = || row.body()?.get("status")?.as_str();
                row.code().or_else(marker).map(str::to_owned)
            })
            .collect();
        codes.sort_unstable();
        codes.dedup();
        Self(codes)
    }

    /// What a body says: `reason` where it has one, else `error`. A suffix after a colon is not told apart.
    pub fn read(&self, body: &[u8]) -> Code {
        let Ok(Value::Object(members)) = serde_json::from_slice(body) else { return Code::Strange };
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let Some(code) = text("reason").or_else(|| text("error")).or_else(|| text("status")) else {
            return Code::Strange;
        };
        self.find(code)
    }

    /// The code of this name.
    pub fn find(&self, name: &str) -> Code {
        let plain = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
        let place = self.0.iter().position(|code| code == name || plain(code) == plain(name));
        place.map_or(Code::Unlisted, |place| Code::Known(place as u16))
    }

    /// What reports call an outcome, such as `409 replayed_bundle`.
    pub fn label(&self, outcome: Outcome) -> String {
        match outcome {
            Outcome::Answer { status, code: Code::Plain } => status.to_string(),
            Outcome::Answer { status, code: Code::Known(place) } => {
                format!("{status} {}", self.0.get(usize::from(place)).map_or("?", String::as_str))
            }
            Outcome::Answer { status, code: Code::Unlisted } => {
                format!("{status} with a code not in the tables")
            }
            Outcome::Answer { status, code: Code::Strange } => format!("{status} with another body"),
            Outcome::Failed(failure) => failure.to_string(),
            Outcome::Open => "still open at the end".into(),
            Outcome::Dropped => "never sent".into(),
            Outcome::GivenUp => "no verdict in time".into(),
        }
    }
}

impl Outcome {
    /// It tells of a target that is gone or broken, not of one that refuses.
    pub fn is_outage(self) -> bool {
        match self {
            Self::Answer { status, .. } => status >= 500,
            Self::Failed(_) | Self::Open | Self::Dropped => true,
            Self::GivenUp => false,
        }
    }

    /// A request was sent for it.
    pub fn was_sent(self) -> bool {
        !matches!(self, Self::Dropped | Self::GivenUp)
    }
}

impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "no connection",
            Self::Tls => "no TLS",
            Self::Closed => "connection closed",
            Self::NotHttp => "not HTTP",
            Self::Timeout => "timed out",
        })
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"error":"service_rejected","reason":"replayed_bundle","status":409}"#, "409 replayed_bundle")]
    #[case(r#"{"error":"service_unreachable"}"#, "409 service_unreachable")]
    #[case(r#"{"error":"made_up"}"#, "409 with a code not in the tables")]
    #[case(r#"{"error":"service_rejected","reason":"unknown_kid:abc"}"#, "409 unknown_kid")]
    #[case("<html>", "409 with another body")]
    #[case("[]", "409 with another body")]
    fn bodies_say_what_happened(#[case] body: &str, #[case] label: &str) {
        let codes = Codes::new(&Spec::builtin(Version::Current));
        let label_found = codes.label(Outcome::Answer { status: 409, code: codes.read(body.as_bytes()) });
        assert!(label_found.starts_with(label), "{label_found}");
    }
}
