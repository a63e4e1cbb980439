use std::collections::BTreeSet;

use edgeproof_reports::difference::{DifferenceKind, MemberChange, Wire};

use crate::cases::ServiceCaseContext;
use crate::cases::service::expected::verdict;
use crate::judge::{self, AnswerResult, Check};

/// Shortest reference that is recognised in a verdict (bytes).
const SHORTEST: usize = 12;

/// The answer is a verdict, and not one of another session.
pub(super) fn own_verdict(
    context: &mut ServiceCaseContext,
    reference: &str,
    reply: &AnswerResult,
) -> Vec<Check> {
    let mut checks = verdict(context.spec(), reply);
    checks.extend(foreign_verdict(context, reference, reply));
    checks
}

/// The answer is a verdict of another session: a check that fails.
pub(super) fn foreign_verdict(
    context: &ServiceCaseContext,
    reference: &str,
    reply: &AnswerResult,
) -> Option<Check> {
    let others = context.target.traffic.sessions();
    let (path, other) = foreign_session(&reply.as_ref().ok()?.body, reference, &others)?;
    let (expected, actual) = (Some(Wire::from(reference)), Some(Wire::from(other)));
    let kind = DifferenceKind::Member { token: None, path, change: MemberChange::Other, expected, actual };
    Some(Check::judged(kind, false))
}

/// A text of a verdict, or of the claims of its token, that is the reference of another session: its place and itself.
fn foreign_session(body: &[u8], reference: &str, others: &BTreeSet<String>) -> Option<(String, String)> {
    // A short text can be equal by chance.
    let is_foreign = |text: &str| text != reference && text.len() >= SHORTEST && others.contains(text);
    judge::texts(body).into_iter().find(|(_, text)| is_foreign(text))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::own(r#"{"ref":"the-own-session"}"#, None)]
    #[case::unrelated(r#"{"ref":"the-third-session"}"#, None)]
    #[case::member(r#"{"session":{"ref":"the-other-session"}}"#, Some("/session/ref"))]
    #[case::claim(
        r#"{"token":"eyJhbGciOiJFZERTQSJ9.eyJyZWYiOiJ0aGUtb3RoZXItc2Vzc2lvbiJ9.c2ln"}"#,
        Some("/token/ref")
    )]
    #[case::text("the-other-session", Some(""))]
    #[case::short(r#"{"ref":"Z"}"#, None)]
    fn reference_of_another_session_is_found(#[case] body: &str, #[case] expected: Option<&str>) {
        let others = ["the-own-session", "the-other-session", "Z"].map(str::to_owned).into_iter().collect();
        let found = foreign_session(body.as_bytes(), "the-own-session", &others);
        assert_eq!(found.map(|(path, _)| path).as_deref(), expected);
    }
}
