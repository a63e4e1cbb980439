use edgeproof_fixtures::spec::{Row, Stimulus, Table};

use super::answer::AnswerMutation;

/// Id of the cause of a row mutation: the mistake of a developer whose edge or service answers so.
pub(super) fn cause(row: &Row, answer: &AnswerMutation) -> &'static str {
    match row.table {
        Table::Edge | Table::Relay => of_edge(row, answer),
        Table::Keys => of_key_set(answer),
        _ => of_service(row, answer),
    }
}

fn of_edge(row: &Row, answer: &AnswerMutation) -> &'static str {
    use AnswerMutation as M;
    let is = |stimulus| row.stimuli.contains(&stimulus);
    match answer {
        M::NoCors if !is(Stimulus::Preflight) => "cors-on-success",
        M::TextPlain => "json-content-type",
        _ if is(Stimulus::Preflight) => "preflight-wrong",
        _ if is(Stimulus::ServiceAccepts) => "accepted-answer-wrong",
        _ if is(Stimulus::ShortBody) => "read-failed-wrong",
        _ if is(Stimulus::OtherMethod) => "method-not-405",
        _ if is(Stimulus::ServicePortClosed) => "unreachable-answer",
        answer => of_refusal(answer),
    }
}

/// Cause of a wrong answer to a refusal by the service.
fn of_refusal(answer: &AnswerMutation) -> &'static str {
    use AnswerMutation as M;
    match answer {
        M::OtherClass | M::OtherStatus => "status-replaced",
        M::OtherValue(member) | M::UpperCase(member) => match member.as_str() {
            "error" => "error-code-wrong",
            "status" => "status-member-wrong",
            _ => "reason-changed",
        },
        M::WrongType(_) => "error-member-types",
        M::Missing(_) => "error-members-missing",
        M::Renamed(_) => "error-members-renamed",
        M::Extra => "error-members-added",
        M::OtherRow { .. } => "refusals-confused",
        M::Unknown => "reason-lost",
        M::TextPlain => "json-content-type",
        M::NoCors => "cors-on-success",
        M::NoAnswer => "refusal-unanswered",
        M::SkippedCheck => "accepted-without-service",
    }
}

fn of_service(row: &Row, answer: &AnswerMutation) -> &'static str {
    use AnswerMutation as M;
    let is = |stimulus| row.stimuli.contains(&stimulus);
    match answer {
        M::NoAnswer => "verdict-unanswered",
        M::TextPlain => "verdict-errors-not-json",
        M::SkippedCheck => skipped_check(row),
        _ if is(Stimulus::VerdictReady) => "verdict-answer-wrong",
        _ if is(Stimulus::VerdictPending) => "pending-answer-wrong",
        M::OtherClass | M::OtherStatus => "refusal-status-wrong",
        M::OtherValue(_) | M::UpperCase(_) | M::Unknown => "refusal-reason-respelled",
        M::OtherRow { .. } => "refusals-mixed-up",
        M::WrongType(_) | M::Missing(_) | M::Renamed(_) | M::Extra | M::NoCors => "refusal-body-shape",
    }
}

/// Cause of an accepted read token that the row refuses.
fn skipped_check(row: &Row) -> &'static str {
    use Stimulus as S;
    match row.stimuli.first() {
        Some(
            S::ReadTokenMissing | S::ReadTokenOtherScheme | S::ReadTokenForeignPrefix | S::ReadTokenIsLicense,
        ) => "token-header-loose",
        Some(
            S::ReadTokenMalformed
            | S::ReadTokenTruncated
            | S::ReadTokenFooterDamaged
            | S::ReadTokenPayloadDamaged
            | S::ReadTokenSignatureAltered
            | S::ReadTokenKeyUnknown,
        ) => "token-signature-unchecked",
        Some(
            S::ReadTokenExpired
            | S::ReadTokenNotYetValid
            | S::ReadTokenWithoutExpiry
            | S::ReadTokenWithoutStart,
        ) => "token-time-unchecked",
        Some(S::ReadTokenRevoked | S::ReadTokenLicenseRevoked) => "token-revocation-unchecked",
        Some(S::ReadTokenKeysMissing | S::ReadTokenKeysInsecure | S::ReadTokenCheckFails) => {
            "token-check-fails-open"
        }
        _ => "token-claims-unchecked",
    }
}

fn of_key_set(answer: &AnswerMutation) -> &'static str {
    use AnswerMutation as M;
    match answer {
        M::OtherClass | M::OtherStatus | M::OtherRow { .. } | M::NoAnswer | M::SkippedCheck => {
            "key-set-unavailable"
        }
        M::OtherValue(_)
        | M::UpperCase(_)
        | M::WrongType(_)
        | M::Missing(_)
        | M::Renamed(_)
        | M::Extra
        | M::Unknown
        | M::TextPlain
        | M::NoCors => "key-set-shape",
    }
}
