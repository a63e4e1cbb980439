//! Which malformed messages are judged, and how strictly.

use edgeproof_http::{MessageRule, NoAnswer, RequestViolation, Violation};
use edgeproof_mock::Arrival;
use edgeproof_reports::CaseLevel;
use rstest::rstest;

use super::tests::{ORIGIN, edge, exchange};
use super::{EdgeRecord, judge};
use crate::cases::{EdgeMonitor, TracedRequest};

fn violation(rule: MessageRule) -> Violation {
    Violation { rule, excerpt: "2, 2".into() }
}

fn answered(level: CaseLevel, change: impl FnOnce(&mut TracedRequest)) -> EdgeRecord {
    let mut request = exchange("a.case", 200, ORIGIN, r#"{"ok":true}"#);
    request.sender.level = level;
    change(&mut request);
    EdgeRecord { requests: vec![request], ..edge() }
}

/// Level and text of the broken check. None: none is broken.
fn broken(edge: &EdgeRecord) -> Option<(CaseLevel, String)> {
    let checks = judge(EdgeMonitor::Messages, edge);
    checks.into_iter().find(|check| !check.ok).map(|check| (check.level, check.actual))
}

#[rstest]
#[case::misleads(MessageRule::RepeatedLength, CaseLevel::Must, Some(CaseLevel::Must))]
#[case::read_alike(MessageRule::Trailer, CaseLevel::Must, Some(CaseLevel::Should))]
#[case::of_a_should(MessageRule::RepeatedLength, CaseLevel::Should, Some(CaseLevel::Should))]
#[case::at_an_open_point(MessageRule::RepeatedLength, CaseLevel::Open, None)]
fn answer_is_judged_by_its_rule_and_its_case(
    #[case] rule: MessageRule,
    #[case] level: CaseLevel,
    #[case] expected: Option<CaseLevel>,
) {
    let edge = answered(level, |request| {
        request.sent.iter_mut().for_each(|sent| sent.violations.push(violation(rule)));
    });
    assert_eq!(broken(&edge).map(|(level, _)| level), expected);
}

#[test]
fn breach_names_case_rule_bytes_and_standard() {
    let edge = answered(CaseLevel::Must, |request| {
        let sent = request.sent.iter_mut();
        sent.for_each(|sent| sent.violations.push(violation(MessageRule::RepeatedLength)));
    });
    let text = "200 to POST of a.case: more than one Content-Length: 2, 2 (RFC 9110 §8.6)";
    assert_eq!(broken(&edge), Some((CaseLevel::Must, text.to_owned())));
}

#[rstest]
#[case::no_http(NoAnswer::NotHttp("invalid token".into()), true)]
#[case::nothing(NoAnswer::Closed, false)]
fn bytes_that_are_no_http_are_malformed(#[case] why: NoAnswer, #[case] expected: bool) {
    let edge = answered(CaseLevel::Must, |request| {
        request.sent.iter_mut().for_each(|sent| sent.reply = Err(why.clone()));
    });
    assert_eq!(broken(&edge).is_some(), expected);
}

#[rstest]
#[case::of_a_case(0, "request 1 at the service (case a.case): more than one Host: 2, 2 (RFC 9112 §3.2)")]
#[case::unreadable(
    1,
    "a request at the service that is not in the journal: more than one Host: 2, 2 (RFC 9112 §3.2)"
)]
fn request_to_the_service_is_attributed(#[case] request: usize, #[case] text: &str) {
    let record = answered(CaseLevel::Must, |_| {});
    let relayed = record.requests[0].sent.as_ref().unwrap().request.clone();
    let violation = violation(MessageRule::RepeatedHost);
    let violations = vec![RequestViolation { connection: 0, request, violation }];
    let arrivals = vec![Arrival::without_connection(0, relayed)];
    let edge = EdgeRecord { arrivals, violations, ..record };
    assert_eq!(broken(&edge), Some((CaseLevel::Must, text.to_owned())));
}
