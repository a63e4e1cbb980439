use edgeproof_browser::{CallOutcome, ErrorPath};
use edgeproof_fixtures::spec::Advice;

use super::check::Check;
use edgeproof_reports::difference::{DifferenceKind, SessionEnd, SessionSubject, SessionValue, Thrown};

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

    /// The session as a value of a difference.
    pub fn value(&self) -> SessionValue {
        let mut value = SessionValue {
            call: self.call.to_owned(),
            end: SessionEnd::Returned,
            actual: None,
            thrown: None,
            after_ms: None,
            page_end: None,
        };
        match &self.outcome {
            CallOutcome::Returned(_) => {}
            CallOutcome::Missing => value.end = SessionEnd::Missing,
            CallOutcome::Failed { error, how } => {
                let rejected = *how == ErrorPath::Rejected;
                value.end = SessionEnd::Failed;
                value.actual = Some((&error.message).into());
                value.thrown =
                    Some(Thrown { name: (&error.name).into(), is_error: error.is_error, rejected });
            }
            CallOutcome::Unsettled { after } => {
                value.end = SessionEnd::Unsettled;
                value.after_ms = u64::try_from(after.as_millis()).ok();
            }
            CallOutcome::PageGone { why } => {
                value.end = SessionEnd::PageGone;
                value.page_end = Some(why.into());
            }
        }
        value
    }

    /// The session in an observation, without what differs between runs.
    pub fn summary(&self) -> String {
        match &self.outcome {
            CallOutcome::Unsettled { .. } => format!("{} does not end", self.call),
            _ => self.value().to_string(),
        }
    }
}

/// All calls returned.
pub fn resolves(session: &SessionResult) -> Check {
    resolves_as(SessionSubject::Session, session)
}

/// All calls of this session returned.
pub fn resolves_as(subject: SessionSubject, session: &SessionResult) -> Check {
    let kind = DifferenceKind::Session { subject, error: None, by_name: false, session: session.value() };
    Check::judged(kind, session.is_returned())
}

/// A call threw this error, or its promise was rejected with it.
pub fn fails_with(subject: SessionSubject, expected: &ExpectedError, session: &SessionResult) -> Check {
    let (ExpectedError::Text(error) | ExpectedError::Name(error)) = expected;
    let kind = DifferenceKind::Session {
        subject,
        error: Some(error.into()),
        by_name: matches!(expected, ExpectedError::Name(_)),
        session: session.value(),
    };
    let check = Check::judged(kind, is_error(expected, &session.outcome));
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

#[cfg(test)]
mod tests {
    use edgeproof_browser::PageError;
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
        assert_eq!(fails_with(SessionSubject::Session, &expected, &session).ok, passes);
    }

    #[test]
    fn other_name_of_the_maker_is_recognised() {
        let expected = ExpectedError::Text("service: call start() before ready()".into());
        let advice =
            |message| fails_with(SessionSubject::Session, &expected, &failed("Error", message, true)).advice;
        assert_eq!(advice("acme: call start() before ready()"), [Advice::ErrorOfOtherMaker]);
        assert_eq!(advice("call start() first"), [Advice::ErrorTextOther]);
        let expected = ExpectedError::Text("signal report failed: 401".into());
        let check = fails_with(
            SessionSubject::Session,
            &expected,
            &failed("Error", "SIGNAL REPORT FAILED: 401", true),
        );
        assert_eq!(check.advice, [Advice::ErrorTextOther]);
    }

    #[rstest]
    #[case::name(failed("TypeError", "Failed to fetch", true), true)]
    #[case::message_only(failed("Error", "TypeError", true), false)]
    fn named_error_may_have_any_message(#[case] session: SessionResult, #[case] passes: bool) {
        assert_eq!(
            fails_with(SessionSubject::Session, &ExpectedError::Name("TypeError".into()), &session).ok,
            passes
        );
    }
}
