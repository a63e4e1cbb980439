use std::time::Duration;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::difference::{
    AnswerSubject, AnswerValue, BodyChange, BodyForm, BodyRule, BodyValue, Breach, CacheRule,
    CertificateForm, CodingRule, Count, Counted, DeathEvidence, Difference, DifferenceKind, ExchangeLine,
    GrantForm, HeaderChange, HeaderRule, Invariant, KeyFault, KeyRule, KeySetValue, LastExchange,
    LicenseValue, Lifetime, LogValue, MemberChange, MemberValue, MessageFault, MessageRule, OneKeyFault,
    PageAct, PageDatum, PageEffect, PagePlace, PageValue, ProcessDeath, ProcessEnd, ProcessError,
    SecretPlace, Secrets, SessionEnd, SessionSubject, SessionValue, SignatureForm, Silence, SilenceReason,
    Statuses, Subject, Thrown, TimeRule, TokenPart, UserDatum, Wire,
};
use serde_json::Value;

use super::case_report::after_run;
use crate::cases::{self, CaseFindings, Catalog};
use crate::judge::Check;

const SECRET: &str = "edgeproof-secret-of-a-test";

fn wire() -> Wire {
    SECRET.into()
}

fn text() -> String {
    SECRET.to_owned()
}

fn body() -> BodyValue {
    BodyValue {
        value: wire(),
        form: BodyForm::Text,
        content_type: Some(wire()),
        complete: true,
        members: vec![MemberValue { path: text(), change: MemberChange::Other }],
    }
}

fn answer() -> AnswerValue {
    AnswerValue { status: 200, location: Some(wire()), headers: Some(wire()), body: Some(body()) }
}

/// Each kind, with the secret in each of its texts.
fn all_kinds() -> Vec<DifferenceKind> {
    let silence = Silence { reason: SilenceReason::NotHttp, within_ms: Some(1), error: Some(wire()) };
    let pin = DifferenceKind::Pin {
        rule: Some(text()),
        point: text(),
        expected: vec![wire()],
        actual: Some(wire()),
    };
    let process = |cause| DifferenceKind::Process {
        end: ProcessEnd::Died,
        process: Some(Subject::Edge),
        cause: Some(cause),
    };
    let death = |evidence, after| {
        let (others, log) = (vec![text()], vec![wire()]);
        ProcessError::Death(Box::new(ProcessDeath { evidence, after, others, is_replaced: true, log }))
    };
    let header = |rule| DifferenceKind::Header { name: text(), rule, actual: Some(wire()) };
    let body_of = |expected| DifferenceKind::Body { expected, actual: Some(body()) };
    let session = SessionValue {
        call: text(),
        end: SessionEnd::Failed,
        actual: Some(wire()),
        thrown: Some(Thrown { name: wire(), is_error: true, rejected: true }),
        after_ms: Some(1),
        page_end: Some(wire()),
    };
    let page = |actual| DifferenceKind::page(PageEffect::Url, Some(wire()), Some(actual));
    let text_fault = |fault: OneKeyFault| fault.of(0);
    let key_set = |actual: KeySetValue, fault| DifferenceKind::KeySet {
        rule: KeyRule::Complete,
        expected: Some(actual.clone()),
        actual: Some(actual),
        faults: vec![fault],
    };
    let log = |actual| DifferenceKind::LogLine { status: 401, reason: wire(), actual };
    vec![
        DifferenceKind::NoAnswer { silence: silence.clone(), wanted: Some(Box::new(pin.clone())) },
        DifferenceKind::Status { expected: Statuses::Any, actual: Some(200) },
        body_of(BodyRule::Exactly(wire())),
        body_of(BodyRule::Codes(vec![text()])),
        DifferenceKind::Answer {
            subject: AnswerSubject::Answer,
            expected: vec![answer()],
            actual: vec![answer()],
        },
        header(HeaderRule::VaryOrigin { allowed: Some(wire()), other: Some(wire()) }),
        header(HeaderRule::SameAs(Some(wire()))),
        DifferenceKind::Grant {
            origin: wire(),
            expected: true,
            form: GrantForm::Other,
            actual: Some(wire()),
        },
        DifferenceKind::Member {
            token: Some(TokenPart::Claims),
            path: text(),
            change: MemberChange::Other,
            expected: Some(wire()),
            actual: Some(wire()),
        },
        DifferenceKind::Arrivals {
            expected: 1,
            actual: 2,
            broken_off: 0,
            method: Some(wire()),
            body_bytes: Some(1),
        },
        DifferenceKind::RelayedBody { sent: wire(), arrived: wire(), change: BodyChange::Changed },
        DifferenceKind::License { actual: LicenseValue::OtherToken { bytes: 1, expected: 2, differs_at: 0 } },
        DifferenceKind::Certificate {
            expected: CertificateForm::Configured,
            actual: CertificateForm::Absent,
            configured: Some(1),
            presented: Some(1),
        },
        DifferenceKind::Secret { secrets: Secrets::Edge, place: Some(SecretPlace::Header(text())) },
        log(LogValue::WithoutStatus(wire())),
        log(LogValue::WithoutReason(1, wire())),
        DifferenceKind::LogData { expected_absent: vec![UserDatum::Cookie], found: Some(UserDatum::Cookie) },
        DifferenceKind::Cache {
            rule: CacheRule::Lifetime,
            longest_s: Some(1),
            actual: vec![Lifetime::Directives(wire())],
        },
        DifferenceKind::Coding {
            rule: CodingRule::Intact,
            expected: Some(wire()),
            actual: Some(wire()),
            coding: Some(wire()),
        },
        key_set(KeySetValue::Ids(vec![Some(wire())]), text_fault(OneKeyFault::Lacks(text()))),
        key_set(KeySetValue::Unreadable(wire()), text_fault(OneKeyFault::Private(text()))),
        key_set(KeySetValue::Silence(silence.clone()), text_fault(OneKeyFault::OtherAlgorithm(vec![text()]))),
        key_set(KeySetValue::Same, KeyFault::PrivateAt(text())),
        DifferenceKind::Token { actual: vec![SignatureForm::UnknownKey], named: vec![Some(wire())] },
        DifferenceKind::Session {
            subject: SessionSubject::Mode(wire()),
            error: Some(wire()),
            by_name: true,
            session: session.clone(),
        },
        page(PageValue::text(wire())),
        page(PageValue::Session(session.clone())),
        page(PageValue::Answer(answer())),
        page(PageValue::Silence(silence.clone())),
        page(PageValue::Data(vec![PageDatum { place: PagePlace::Title, method: wire(), path: wire() }])),
        Count { session: Some(session), ..Count::new(Counted::Collections, 1, 0) }.into(),
        Count::new(Counted::Copies, 0, 1).wanted(wire()).first(Some(wire())).into(),
        DifferenceKind::time(TimeRule::AtOnce, None, Duration::ZERO),
        process(ProcessError::Refused(wire())),
        process(ProcessError::NotStarted { command: wire(), error: wire() }),
        process(ProcessError::ExitedEarly { command: wire(), status: wire() }),
        process(death(DeathEvidence::Exit(wire()), LastExchange::Probe)),
        process(death(
            DeathEvidence::Silent { for_ms: 1, silence: silence.clone() },
            LastExchange::Case(
                text(),
                ExchangeLine {
                    method: wire(),
                    target: wire(),
                    silence: Some(silence.clone()),
                    ..ExchangeLine::default()
                },
            ),
        )),
        process(death(DeathEvidence::Refused(silence.clone()), LastExchange::FirstRequest)),
        DifferenceKind::Breaches {
            invariant: Invariant::Copies,
            count: 1,
            breaches: vec![Breach {
                case: Some(text()),
                number: Some(1),
                status: Some(200),
                value: Some(wire()),
                method: Some(wire()),
                has_token: true,
                times: Some(1),
                of: Some(1),
                fault: Some(MessageFault { rule: MessageRule::FieldLine, excerpt: wire() }),
                user_datum: Some(UserDatum::Cookie),
                page_place: Some(PagePlace::Title),
                member: Some(wire()),
                keys: Some(KeySetValue::Unreadable(wire())),
                header: Some(HeaderChange::Missing),
                act: Some(PageAct::Window),
                difference: Some(Box::new(pin.clone())),
            }],
        },
        pin,
    ]
}

/// Pointers to all strings of a value.
fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| strings(item, &format!("{at}/{n}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| strings(member, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

#[test]
fn samples_have_the_secret_in_every_text_of_every_kind() {
    let mut names: Vec<&str> = all_kinds().iter().map(DifferenceKind::name).collect();
    names.sort_unstable();
    names.dedup();
    let mut expected = DifferenceKind::NAMES.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert!(names.len() <= 25, "{} kinds", names.len());
    for kind in all_kinds() {
        let value = serde_json::to_value(&kind).unwrap();
        let mut found = Vec::new();
        strings(&value, "", &mut found);
        for pointer in found {
            let mut changed = value.clone();
            *changed.pointer_mut(&pointer).unwrap() = "any text".into();
            let is_free = serde_json::from_value::<DifferenceKind>(changed).is_ok();
            let text = value.pointer(&pointer).and_then(Value::as_str).unwrap();
            assert!(!is_free || text == SECRET, "{pointer} of {value} has no secret");
        }
    }
}

#[test]
fn no_difference_shows_a_secret_in_a_report() {
    let mut redactor = Redactor::empty();
    redactor.add("token", SECRET);
    let spec = Spec::builtin(Version::Current);
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = cases::edge(Catalog::new(&spec, &shape, false));
    for kind in all_kinds() {
        let difference = Difference { stopped: Some(wire()), ..Difference::from(kind.clone()) };
        let check = Check { difference: Some(difference), ..Check::judged(kind.clone(), false) };
        let found = CaseFindings { checks: vec![check.of(SECRET)], ..CaseFindings::default() };
        let report = after_run(&cases[0], &found, Duration::ZERO, None, &redactor);
        assert_eq!(report.mismatches[0].kind().map(DifferenceKind::name), Some(kind.name()));
        let json = serde_json::to_string(&report).unwrap();
        assert!(!json.contains(SECRET), "{json}");
    }
}
