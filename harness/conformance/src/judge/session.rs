use edgeproof_browser::CallOutcome;
use edgeproof_fixtures::spec::Advice;

use super::check::Check;
use edgeproof_reports::difference::{DifferenceKind, SessionEnd, Wire};

/// The last call of a session in a page: the first that failed, or else the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionResult {
    /// Name of the function.
    pub call: &'static str,
    /// End of the call.
    pub outcome: CallOutcome,
}

/// An error of the interface (7.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedError {
    /// With this text.
    Text(String),
    /// With this name; the browser chooses the text.
    Name(String),
}

impl SessionResult {
    /// A session without calls.
    pub fn begun() -> Self {
        Self { call: "no call", outcome: CallOutcome::Returned(serde_json::Value::Null) }
    }

    /// Whether all calls returned.
    pub fn is_returned(&self) -> bool {
        matches!(self.outcome, CallOutcome::Returned(_))
    }

    /// The session in a report: `verify() rejected with TypeError: Failed to fetch`.
    pub fn text(&self) -> String {
        if self.is_returned() {
            return format!("{} returned", self.call);
        }
        format!("{} {}", self.call, self.outcome)
    }

    fn kind(&self, error: Option<&String>) -> DifferenceKind {
        let end = match &self.outcome {
            CallOutcome::Returned(_) => SessionEnd::Returned,
            CallOutcome::Missing => SessionEnd::Missing,
            CallOutcome::Failed { .. } => SessionEnd::Failed,
            CallOutcome::Unsettled { .. } => SessionEnd::Unsettled,
            CallOutcome::PageGone { .. } => SessionEnd::PageGone,
        };
        let actual = match &self.outcome {
            CallOutcome::Failed { error, .. } => Some((&error.message).into()),
            _ => None,
        };
        DifferenceKind::Session { call: self.call.to_owned(), error: error.map(Wire::from), end, actual }
    }

    /// The session in an observation, without what differs between runs.
    pub fn summary(&self) -> String {
        match &self.outcome {
            CallOutcome::Unsettled { .. } => format!("{} does not end", self.call),
            _ => self.text(),
        }
    }
}

/// All calls returned. `what`: the session.
pub fn resolves(what: &str, session: &SessionResult) -> Check {
    Check::new(what, "verify() resolves", session.text(), session.is_returned()).drawn(session.kind(None))
}

/// A call threw this error, or its promise was rejected with it.
pub fn fails_with(what: &str, expected: &ExpectedError, session: &SessionResult) -> Check {
    let (ExpectedError::Text(error) | ExpectedError::Name(error)) = expected;
    let check = Check::new(what, expected.to_string(), session.text(), is_error(expected, &session.outcome))
        .drawn(session.kind(Some(error)));
    match &session.outcome {
        _ if check.ok => check,
        CallOutcome::Failed { error, .. } if !error.is_error => check.advise(Advice::ErrorIsText),
        CallOutcome::Failed { error, .. } => match expected {
            ExpectedError::Text(text) if is_of_other_maker(text, &error.message) => {
                check.advise(Advice::ErrorOfOtherMaker)
            }
            ExpectedError::Text(_) => check.advise(Advice::ErrorTextOther),
            ExpectedError::Name(_) => check.advise(Advice::ErrorReplaced),
        },
        CallOutcome::Returned(_) => check.advise(Advice::ErrorNotThrown),
        _ => check,
    }
}

fn is_error(expected: &ExpectedError, outcome: &CallOutcome) -> bool {
    let CallOutcome::Failed { error, .. } = outcome else { return false };
    error.is_error
        && match expected {
            ExpectedError::Text(text) => error.message == *text,
            ExpectedError::Name(name) => error.name == *name,
        }
}

/// Whether two texts differ only in the name that precedes the first colon.
fn is_of_other_maker(expected: &str, actual: &str) -> bool {
    let parts = |text: &str| {
        let (name, rest) = text.split_once(": ")?;
        (!name.contains(' ')).then(|| (name.to_owned(), rest.to_owned()))
    };
    match (parts(expected), parts(actual)) {
        (Some((name, expected)), Some((other, actual))) => name != other && expected == actual,
        _ => false,
    }
}

impl std::fmt::Display for ExpectedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "an Error with the message {text:?}"),
            Self::Name(name) => write!(f, "an error with the name {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_browser::{ErrorPath, PageError};
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    fn failed(name: &str, message: &str, is_error: bool) -> SessionResult {
        let error = PageError { name: name.into(), message: message.into(), is_error };
        SessionResult { call: "verify()", outcome: CallOutcome::Failed { error, how: ErrorPath::Rejected } }
    }

    #[rstest]
    #[case::text(failed("Error", "signal report failed: 401", true), true)]
    #[case::subclass(failed("ReportError", "signal report failed: 401", true), true)]
    #[case::other_status(failed("Error", "signal report failed: 403", true), false)]
    #[case::longer(failed("Error", "signal report failed: 401 (expired)", true), false)]
    #[case::thrown_text(failed("string", "signal report failed: 401", false), false)]
    #[case::swallowed(SessionResult { call: "verify()", outcome: CallOutcome::Returned(Value::Null) }, false)]
    #[case::without_function(SessionResult { call: "verify()", outcome: CallOutcome::Missing }, false)]
    fn message_is_exact_and_belongs_to_an_error(#[case] session: SessionResult, #[case] passes: bool) {
        let expected = ExpectedError::Text("signal report failed: 401".into());
        assert_eq!(fails_with("401", &expected, &session).ok, passes);
    }

    #[test]
    fn other_name_of_the_maker_is_recognised() {
        let expected = ExpectedError::Text("service: call start() before ready()".into());
        let advice = |message| fails_with("x", &expected, &failed("Error", message, true)).advice;
        assert_eq!(advice("acme: call start() before ready()"), [Advice::ErrorOfOtherMaker]);
        assert_eq!(advice("call start() first"), [Advice::ErrorTextOther]);
        let expected = ExpectedError::Text("signal report failed: 401".into());
        let check = fails_with("x", &expected, &failed("Error", "SIGNAL REPORT FAILED: 401", true));
        assert_eq!(check.advice, [Advice::ErrorTextOther]);
    }

    #[rstest]
    #[case::name(failed("TypeError", "Failed to fetch", true), true)]
    #[case::message_only(failed("Error", "TypeError", true), false)]
    fn named_error_may_have_any_message(#[case] session: SessionResult, #[case] passes: bool) {
        assert_eq!(fails_with("post", &ExpectedError::Name("TypeError".into()), &session).ok, passes);
    }
}
