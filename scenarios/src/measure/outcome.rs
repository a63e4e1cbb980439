use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table};
use serde_json::Value;

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestOutcome {
    /// An answer.
    Answer {
        /// HTTP status.
        status: u16,
        /// Code in the body.
        code: Code,
    },
    /// No complete answer.
    Failed(RequestFailure),
    /// Still running after the drain time.
    Open,
    /// Never sent: no user was free in time.
    Dropped,
    /// No verdict within the `--give-up` time.
    GivenUp,
}

/// The code in the body of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The regular body of the status: `{"ok":true}` or a verdict for a 200.
    Plain,
    /// A code of the interface, by its index in [`Codes`].
    Known(u16),
    /// A code that is not in the tables.
    Unlisted,
    /// A body that the interface does not define.
    Unrecognized,
}

/// Why a request has no complete answer. Its text is the name in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display)]
pub enum RequestFailure {
    /// The generator has no more files or ports for a connection: its own limit.
    #[strum(to_string = "no free file or port")]
    NoSocket,
    /// The connection failed.
    #[strum(to_string = "no connection")]
    Connect,
    /// The TLS handshake failed.
    #[strum(to_string = "no TLS")]
    Tls,
    /// The connection closed before the answer was complete.
    #[strum(to_string = "connection closed")]
    Closed,
    /// The peer did not send HTTP.
    #[strum(to_string = "not HTTP")]
    NotHttp,
    /// The request timed out.
    #[strum(to_string = "timed out")]
    Timeout,
}

/// The codes of the tables, and the regular answers. Other codes count as one outcome, so that a peer cannot exhaust
/// memory.
#[derive(Debug, Clone)]
pub struct Codes {
    names: Vec<String>,
    /// An accepted collection.
    pub accepted: ListedAnswer,
    /// A verdict. The interface does not show its body.
    pub available: ListedAnswer,
    /// A pending verdict.
    pub pending: ListedAnswer,
    /// The code in the body of a pending verdict.
    pub pending_code: Code,
    /// Status and code of a refused replay.
    pub replayed: (u16, Code),
    /// Status of an edge that could not relay.
    unrelayed: u16,
}

/// An answer of the tables.
#[derive(Debug, Clone)]
pub struct ListedAnswer {
    /// HTTP status.
    pub status: u16,
    /// The exact body with a placeholder for the reference; empty if the interface shows none.
    body: String,
}

/// Stands for the reference of a session in the body of a row.
const REFERENCE: &str = "\"<session_ref>\"";

impl ListedAnswer {
    fn of(row: &Row) -> Self {
        let status = row.status().expect("a row of an answer has a status");
        Self { status, body: row.body().map(Value::to_string).unwrap_or_default() }
    }

    /// The exact body for a session.
    pub fn body(&self, reference: &str) -> String {
        self.body.replace(REFERENCE, &Value::from(reference).to_string())
    }

    /// Whether a body is the exact one, in any JSON spelling.
    pub fn has_body(&self, body: &[u8], reference: &str) -> bool {
        let exact = self.body(reference);
        let parsed = |body: &[u8]| serde_json::from_slice::<Value>(body).ok();
        body == exact.as_bytes() || parsed(body).is_some_and(|body| Some(body) == parsed(exact.as_bytes()))
    }
}

impl Codes {
    /// The codes of one version of the interface.
    pub fn new(spec: &Spec) -> Self {
        let mut names: Vec<String> = [Table::Edge, Table::Relay, Table::Verdict]
            .into_iter()
            .flat_map(|table| spec.table(table))
            .filter_map(|row| {
                // The body of a pending verdict has its code in `status`.
                let marker = || row.body()?.get("status")?.as_str();
                row.code().or_else(marker).map(str::to_owned)
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        // A version may lack a row or its status: a target may still answer as the current version does.
        let stated = |row: &&Row| row.status().is_some();
        let row = |table, stimulus| {
            let found = spec.by_stimulus(table, stimulus).filter(stated);
            let found = found.or_else(|| Spec::current().by_stimulus(table, stimulus));
            found.expect("the current version answers every stimulus")
        };
        let pending = row(Table::Verdict, Stimulus::VerdictPending);
        let mut codes = Self {
            names,
            accepted: ListedAnswer::of(row(Table::Edge, Stimulus::ServiceAccepts)),
            available: ListedAnswer::of(row(Table::Verdict, Stimulus::VerdictReady)),
            pending: ListedAnswer::of(pending),
            pending_code: Code::Unlisted,
            replayed: (0, Code::Unlisted),
            unrelayed: row(Table::Edge, Stimulus::ServicePortClosed).status().unwrap_or_default(),
        };
        (_, codes.pending_code) = codes.refusal(pending);
        codes.replayed = codes.refusal(row(Table::Relay, Stimulus::Replayed));
        codes
    }

    /// Whether the edge says that it could not relay the request.
    pub fn is_unrelayed(&self, outcome: RequestOutcome) -> bool {
        matches!(outcome, RequestOutcome::Answer { status, .. } if status == self.unrelayed)
    }

    /// Status and code of a row without the regular body of its status.
    pub fn refusal(&self, row: &Row) -> (u16, Code) {
        let body = || row.body().map_or(Code::Unrecognized, |body| self.read(body.to_string().as_bytes()));
        (row.status().unwrap_or_default(), row.code().map_or_else(body, |code| self.find(code)))
    }

    /// The code in a body: `reason`, otherwise `error`, otherwise `status`. A suffix after a colon is
    /// ignored.
    pub fn read(&self, body: &[u8]) -> Code {
        let Ok(Value::Object(members)) = serde_json::from_slice(body) else { return Code::Unrecognized };
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let Some(code) = text("reason").or_else(|| text("error")).or_else(|| text("status")) else {
            return Code::Unrecognized;
        };
        self.find(code)
    }

    /// The code with this name.
    pub fn find(&self, name: &str) -> Code {
        let plain = |text: &str| text.find(':').unwrap_or(text.len());
        let name = &name[..plain(name)];
        let place = self.names.iter().position(|code| code[..plain(code)] == *name);
        place.map_or(Code::Unlisted, |place| Code::Known(place as u16))
    }

    /// The name of an outcome in reports, such as `409 replayed_bundle`.
    pub fn label(&self, outcome: RequestOutcome) -> String {
        match outcome {
            RequestOutcome::Answer { status, code } => match code {
                Code::Plain => status.to_string(),
                Code::Known(place) => {
                    format!("{status} {}", self.names.get(usize::from(place)).map_or("?", String::as_str))
                }
                Code::Unlisted => format!("{status} with a code not in the tables"),
                Code::Unrecognized => format!("{status} with another body"),
            },
            RequestOutcome::Failed(failure) => failure.to_string(),
            RequestOutcome::Open => "still open at the end".into(),
            RequestOutcome::Dropped => "never sent".into(),
            RequestOutcome::GivenUp => "no verdict in time".into(),
        }
    }
}

impl RequestOutcome {
    /// Whether the target is gone or broken. A refusal is not an outage.
    pub fn is_outage(self) -> bool {
        match self {
            Self::Answer { status, .. } => status >= 500,
            Self::GivenUp | Self::Failed(RequestFailure::NoSocket) => false,
            Self::Failed(_) | Self::Open | Self::Dropped => true,
        }
    }

    /// Whether an answer came.
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Answer { .. })
    }

    /// Whether a request was sent.
    pub fn was_sent(self) -> bool {
        !matches!(self, Self::Dropped | Self::GivenUp | Self::Failed(RequestFailure::NoSocket))
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unreachable(RequestOutcome::Answer { status: 502, code: Code::Plain }, true)]
    #[case::refused(RequestOutcome::Answer { status: 401, code: Code::Plain }, false)]
    #[case::unanswered(RequestOutcome::Failed(RequestFailure::Closed), false)]
    fn edge_that_could_not_relay_says_so(#[case] outcome: RequestOutcome, #[case] expected: bool) {
        assert_eq!(Codes::new(&Spec::builtin(Version::Current)).is_unrelayed(outcome), expected);
    }

    #[rstest]
    #[case(r#"{"error":"service_rejected","reason":"replayed_bundle","status":409}"#, "409 replayed_bundle")]
    #[case(r#"{"error":"service_unreachable"}"#, "409 service_unreachable")]
    #[case(r#"{"error":"made_up"}"#, "409 with a code not in the tables")]
    #[case(r#"{"error":"service_rejected","reason":"unknown_kid:abc"}"#, "409 unknown_kid")]
    #[case("<html>", "409 with another body")]
    #[case("[]", "409 with another body")]
    fn bodies_are_labelled(#[case] body: &str, #[case] label: &str) {
        let codes = Codes::new(&Spec::builtin(Version::Current));
        let label_found =
            codes.label(RequestOutcome::Answer { status: 409, code: codes.read(body.as_bytes()) });
        assert!(label_found.starts_with(label), "{label_found}");
    }
}
