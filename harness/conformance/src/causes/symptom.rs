//! Symptoms: how a case fails, the same for every target, port and body. `probable_causes` (`probable.rs`) compares them with the fingerprints of mutants.

use std::collections::BTreeSet;

use edgeproof_reports::Mismatch;
use edgeproof_reports::difference::{
    AnswerSubject, AnswerValue, BodyForm, BodyValue, Counted, DifferenceKind, HeaderRule, LicenseValue,
    Lifetime, LogValue, MemberChange, SecretPlace, Silence, SilenceReason, Statuses, UserDatum,
};

/// How a case fails: kinds of differences with the class of their values, such as `body: reason missing`.
pub type Symptoms = BTreeSet<String>;

/// The symptoms of a case with these mismatches. They hold nothing that changes from run to run: no
/// addresses, counts or bodies.
pub fn symptoms(mismatches: &[Mismatch]) -> Symptoms {
    mismatches.iter().filter_map(Mismatch::kind).flat_map(of_kind).collect()
}

fn of_kind(kind: &DifferenceKind) -> Vec<String> {
    let class = match kind {
        DifferenceKind::NoAnswer { silence, wanted } => {
            return match wanted.as_deref() {
                // One of several answers is absent.
                Some(
                    wanted @ DifferenceKind::Answer {
                        subject: AnswerSubject::AfterOutage | AnswerSubject::Pair,
                        ..
                    },
                ) => of_kind(wanted),
                _ => vec![no_answer(silence)],
            };
        }
        DifferenceKind::Status { expected, actual } => {
            return actual.map_or_else(Vec::new, |actual| statuses(expected, actual));
        }
        DifferenceKind::Body { actual, .. } => return actual.as_ref().map_or_else(Vec::new, body),
        DifferenceKind::Answer { subject, expected, actual } => {
            return answer(*subject, expected.first(), actual.first());
        }
        DifferenceKind::Header { rule: HeaderRule::NotOfService, .. } => "of-service",
        DifferenceKind::Header { name, actual, .. } => {
            return vec![format!("header: {name} {}", if actual.is_some() { "other" } else { "missing" })];
        }
        DifferenceKind::Grant { expected, form, .. } => {
            return vec![format!(
                "grant: {} {}",
                if *expected { "needed" } else { "forbidden" },
                form.name()
            )];
        }
        // Summaries: the differences of single exchanges have symptoms.
        DifferenceKind::Count(count) => match count.counted.class() {
            Counted::Exchanges | Counted::Sequences | Counted::Steps | Counted::LimitedRequests => {
                return Vec::new();
            }
            class => class.name(),
        },
        DifferenceKind::Breaches { invariant, breaches, .. } => {
            let own = format!("run: {}", invariant.name());
            let single = breaches.iter().filter_map(|breach| breach.difference.as_deref()).flat_map(of_kind);
            let mut all: Vec<String> = single.map(|symptom| format!("{own} {symptom}")).collect();
            all.push(own);
            return all;
        }
        DifferenceKind::Member { token, path, change, .. } => {
            let part = token.map_or_else(String::new, |part| format!("{} ", part.name()));
            return vec![format!("body: {part}{} {}", path.trim_start_matches('/'), change.name())];
        }
        DifferenceKind::Arrivals { actual: 0, broken_off: 0, .. } => "none",
        DifferenceKind::Arrivals { actual: 0, .. } => "broken-off",
        DifferenceKind::Arrivals { expected: 0, .. } => "unexpected",
        DifferenceKind::Arrivals { .. } => "several",
        DifferenceKind::RelayedBody { change, .. } => change.name(),
        DifferenceKind::License { actual } => match actual {
            LicenseValue::Unchanged => "unchanged",
            LicenseValue::Absent => "absent",
            LicenseValue::OtherToken { .. } => "other-token",
            LicenseValue::OtherText => "other-text",
        },
        DifferenceKind::Certificate { configured: Some(_), .. } => "chain",
        DifferenceKind::Certificate { actual, .. } => actual.name(),
        DifferenceKind::Secret { place, .. } => match place {
            None => "none",
            Some(SecretPlace::Body) => "body",
            Some(SecretPlace::Header(_)) => "header",
            Some(SecretPlace::LogLine) => "line",
        },
        DifferenceKind::LogLine { actual, .. } => match actual {
            LogValue::Lines(_) => "several",
            LogValue::Empty => "empty",
            LogValue::WithoutStatus(_) => "without-status",
            LogValue::WithoutReason(..) => "without-reason",
        },
        DifferenceKind::LogData { found, .. } => found.map_or("", UserDatum::name),
        DifferenceKind::Cache { rule, actual, .. } => {
            let form = match actual.first() {
                None => "missing",
                Some(Lifetime::Directives(_)) => "directives",
                Some(Lifetime::Expires(_)) => "expires",
            };
            return vec![format!("cache: {} {form}", rule.name())];
        }
        DifferenceKind::Coding { rule, .. } => rule.name(),
        DifferenceKind::KeySet { rule, .. } => rule.class().name(),
        DifferenceKind::Token { actual, .. } => {
            return actual.iter().map(|form| format!("token: {}", form.name())).collect();
        }
        DifferenceKind::Session { session, .. } => session.end.name(),
        DifferenceKind::Page { effect, .. } => effect.class().name(),
        DifferenceKind::Time { rule, .. } => rule.class().name(),
        DifferenceKind::Process { end, .. } => end.name(),
        DifferenceKind::Pin { rule: Some(row), .. } => return vec![format!("rule: {row}")],
        DifferenceKind::Pin { point, .. } => point,
    };
    vec![format!("{}: {class}", kind.name())]
}

fn no_answer(silence: &Silence) -> String {
    let class = match silence.reason {
        SilenceReason::Closed | SilenceReason::Reset => "closed",
        other => other.name(),
    };
    format!("no-answer: {class}")
}

/// The expected status, and the class of the actual one.
fn statuses(expected: &Statuses, actual: u16) -> Vec<String> {
    let expected = match expected {
        Statuses::OneOf(all) => all.first().copied(),
        Statuses::Success => Some(200),
        Statuses::NoServerError | Statuses::NoServerErrorOr501 | Statuses::Except(_) | Statuses::Any => None,
    };
    status(expected, actual)
}

fn status(expected: Option<u16>, actual: u16) -> Vec<String> {
    let class = actual / 100;
    let mut all = vec![format!("status: {actual}")];
    match expected {
        Some(expected) => all.extend([
            format!("status: {expected} became {class}xx"),
            format!("status: {}xx became {class}xx", expected / 100),
        ]),
        None => all.push(format!("status: became {class}xx")),
    }
    all
}

fn body(actual: &BodyValue) -> Vec<String> {
    let members = || {
        let member = |path: &str, change: MemberChange| match change {
            // Their names are free.
            MemberChange::Additional | MemberChange::Renamed => format!("body: member {}", change.name()),
            _ => format!("body: {} {}", path.trim_start_matches('/'), change.name()),
        };
        actual.members.iter().map(|found| member(&found.path, found.change)).collect()
    };
    match actual.form {
        BodyForm::Object => members(),
        form => vec![format!("body: {}", form.name())],
    }
}

/// A whole answer: status and body.
fn answer(
    subject: AnswerSubject,
    expected: Option<&AnswerValue>,
    actual: Option<&AnswerValue>,
) -> Vec<String> {
    // The answers may differ in their headers only.
    if subject == AnswerSubject::ForAnyReason {
        return vec![format!("answer: {}", AnswerSubject::AsTheFirstTime.name())];
    }
    let mut all = Vec::new();
    if let (Some(expected), Some(actual)) = (expected, actual) {
        if expected.status != actual.status {
            all.extend(status(Some(expected.status), actual.status));
        }
        let form = |answer: &AnswerValue| answer.body.as_ref().map(|body| body.form);
        if let Some(wrong) = &actual.body
            && expected.body.is_some()
            && (wrong.form == BodyForm::Object || form(expected) != form(actual))
        {
            all.extend(body(wrong));
        }
    }
    if all.is_empty() {
        all.push(format!("answer: {}", subject.name()));
    }
    all
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::CaseLevel;
    use edgeproof_reports::difference::{MemberValue, ProcessEnd, Wire};
    use rstest::rstest;

    use super::*;

    fn found(kind: DifferenceKind) -> Vec<String> {
        let mismatch = Mismatch {
            // A symptom does not depend on the texts.
            what: "body".to_owned(),
            expected: "200".to_owned(),
            actual: "connection closed without an answer".to_owned(),
            hint: None,
            advice: Vec::new(),
            level: CaseLevel::Must,
            place: String::new(),
            difference: Some(kind.into()),
        };
        symptoms(&[mismatch]).into_iter().collect()
    }

    fn body_with(form: BodyForm, members: &[(&str, MemberChange)]) -> BodyValue {
        let member =
            |(path, change): &(&str, MemberChange)| MemberValue { path: (*path).into(), change: *change };
        let members = members.iter().map(member).collect();
        BodyValue { value: Wire::default(), form, content_type: None, complete: true, members }
    }

    #[rstest]
    #[case::other_class(Statuses::OneOf(vec![405]), 200, &["status: 200", "status: 405 became 2xx", "status: 4xx became 2xx"])]
    #[case::same_class(Statuses::OneOf(vec![401]), 403, &["status: 401 became 4xx", "status: 403", "status: 4xx became 4xx"])]
    #[case::range(Statuses::Success, 503, &["status: 200 became 5xx", "status: 2xx became 5xx", "status: 503"])]
    #[case::open(Statuses::NoServerError, 500, &["status: 500", "status: became 5xx"])]
    fn status_is_a_pair_of_classes(
        #[case] expected: Statuses,
        #[case] actual: u16,
        #[case] symptoms: &[&str],
    ) {
        assert_eq!(found(DifferenceKind::Status { expected, actual: Some(actual) }), symptoms);
    }

    #[rstest]
    #[case::missing(body_with(BodyForm::Object, &[("/reason", MemberChange::Missing)]), "body: reason missing")]
    #[case::additional(body_with(BodyForm::Object, &[("/x", MemberChange::Additional)]), "body: member additional")]
    #[case::accepted(body_with(BodyForm::Accepted, &[("/ok", MemberChange::Additional)]), "body: accepted")]
    #[case::html(body_with(BodyForm::Html, &[]), "body: html")]
    fn body_is_compared_by_member(#[case] actual: BodyValue, #[case] symptom: &str) {
        let expected = edgeproof_reports::difference::BodyRule::Json;
        assert_eq!(found(DifferenceKind::Body { expected, actual: Some(actual) }), [symptom]);
    }

    #[test]
    fn whole_answer_is_status_and_body() {
        let answer = |status, form| AnswerValue {
            status,
            location: None,
            headers: None,
            body: Some(body_with(form, &[])),
        };
        let kind = DifferenceKind::Answer {
            subject: AnswerSubject::Answer,
            expected: vec![answer(401, BodyForm::Object)],
            actual: vec![answer(404, BodyForm::Empty)],
        };
        assert_eq!(
            found(kind),
            ["body: empty", "status: 401 became 4xx", "status: 404", "status: 4xx became 4xx"]
        );
    }

    #[test]
    fn mismatch_without_values_has_no_symptom() {
        let mut mismatch = Mismatch {
            what: "status".to_owned(),
            expected: "401".to_owned(),
            actual: "200".to_owned(),
            hint: None,
            advice: Vec::new(),
            level: CaseLevel::Must,
            place: String::new(),
            difference: None,
        };
        assert!(symptoms(std::slice::from_ref(&mismatch)).is_empty());
        mismatch.difference =
            Some(DifferenceKind::Process { end: ProcessEnd::Died, process: None, cause: None }.into());
        assert_eq!(symptoms(&[mismatch]).into_iter().collect::<Vec<_>>(), ["process: died"]);
    }
}
