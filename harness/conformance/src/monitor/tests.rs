//! Monitors judge what one edge did.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Answer, Body, ConnectionUse, Draft, Request, Sent};
use edgeproof_mock::{Arrival, ArrivalAnswer};
use edgeproof_reports::CaseLevel;
use http::{HeaderMap, HeaderValue, Version};
use rstest::rstest;
use serde_json::json;

use super::{EdgeRecord, ExpectedCertificate, judge};
use crate::cases::{EdgeMonitor, SIGNALS, Sender, Setup, TracedRequest, collection};
use crate::judge::ExpectedAnswer;

pub(super) const ORIGIN: &str = "https://shop.example";
const LICENSE: &str = "a license of this run";

/// An edge that did nothing so far.
pub(super) fn edge() -> EdgeRecord {
    let mut redactor = Redactor::empty();
    redactor.add("license", LICENSE);
    EdgeRecord {
        internals: Vec::new(),
        setup: Setup::Standard,
        is_alone: true,
        license: Some(LICENSE.into()),
        certificate: ExpectedCertificate::Absent,
        origin: Some(ORIGIN.into()),
        requests: Vec::new(),
        arrivals: Vec::new(),
        violations: Vec::new(),
        log: Some(Vec::new()),
        log_is_complete: true,
        methods: vec!["POST".into(), "OPTIONS".into()],
        signals: SIGNALS.into(),
        accepted: ExpectedAnswer { status: 200, body: Some(json!({"ok": true})), to_head: false },
        max_body: 1024 * 1024,
        redactor: Arc::new(redactor),
    }
}

/// A collection of a case, answered with this status, grant and body.
pub(super) fn exchange(case: &str, status: u16, grant: &str, body: &str) -> TracedRequest {
    let marker = "q0000001";
    let draft = Draft { body: Body::Sized(format!(r#"{{"sealed":"{marker}"}}"#).into()), ..collection() };
    let draft = Draft { headers: vec![("Origin".into(), ORIGIN.into())], ..draft };
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(grant)
        && !grant.is_empty()
    {
        headers.insert("access-control-allow-origin", value);
    }
    let answer = Answer {
        status,
        version: Version::HTTP_11,
        headers,
        body: Bytes::copy_from_slice(body.as_bytes()),
        complete: true,
    };
    let request = Request {
        method: "POST".into(),
        target: draft.path.clone(),
        version: Version::HTTP_11,
        headers: HeaderMap::new(),
        body: Bytes::copy_from_slice(draft.body.bytes()),
        complete: true,
    };
    let sent = Sent {
        place: ConnectionUse::first(),
        request,
        reply: Ok(answer),
        violations: Vec::new(),
        at: Instant::now(),
        took: Duration::ZERO,
    };
    let sender = Sender { case: case.into(), level: CaseLevel::Must, marker: marker.into() };
    TracedRequest { sender, draft, sent: Some(sent) }
}

fn refusal(status: u16, reason: &str) -> TracedRequest {
    let body = json!({"error": "service_rejected", "reason": reason, "status": status}).to_string();
    exchange("a.case", status, ORIGIN, &body)
}

fn breaks(monitor: EdgeMonitor, edge: &EdgeRecord) -> bool {
    judge(monitor, edge).iter().any(|check| !check.ok)
}

#[rstest]
#[case::one_line_each(&["401 reason_one", "403 reason_two"], false)]
#[case::one_is_missing(&["401 reason_one"], true)]
#[case::one_twice(&["401 reason_one", "401 reason_one", "403 reason_two"], true)]
#[case::other_lines_beside(&["listening", "401 reason_one", "POST /v1/signals 403", "403 reason_two"], false)]
#[case::edge_logs_elsewhere(&["listening"], true)]
fn each_refusal_has_one_line(#[case] log: &[&str], #[case] broken: bool) {
    let lines = Some(log.iter().map(ToString::to_string).collect());
    let requests = vec![refusal(401, "reason_one"), refusal(403, "reason_two")];
    let edge = EdgeRecord { requests, log: lines, ..edge() };
    assert_eq!(breaks(EdgeMonitor::RefusalLog, &edge), broken);
    let level = if log == ["listening"] { CaseLevel::Should } else { CaseLevel::Must };
    assert_eq!(judge(EdgeMonitor::RefusalLog, &edge)[0].level, level);
}

/// A service may give a word as its reason that the edge writes in each line.
#[rstest]
#[case::code_of_the_answer("service_rejected", &["service_rejected 401 reason_one", "service_rejected 403 service_rejected"], false)]
#[case::code_without_a_reason("service_rejected", &["401 reason_one", "403 service_rejected", "service_rejected 502"], false)]
#[case::other_word("upstream", &["upstream 401 reason_one", "upstream 403 upstream"], false)]
#[case::word_and_two_lines("reason_two", &["upstream 401 reason_one", "upstream 403 reason_two", "upstream 403 reason_two"], true)]
fn word_of_each_line_is_not_counted(#[case] reason: &str, #[case] log: &[&str], #[case] broken: bool) {
    let log = Some(log.iter().map(ToString::to_string).collect());
    let requests = vec![refusal(401, "reason_one"), refusal(403, reason)];
    assert_eq!(breaks(EdgeMonitor::RefusalLog, &EdgeRecord { requests, log, ..edge() }), broken);
}

#[rstest]
#[case::reason_only("401 reason_one", false)]
#[case::license("error: Authorization: a license of this run", true)]
#[case::license_in_base64("error: YSBsaWNlbnNlIG9mIHRoaXMgcnVu", true)]
#[case::body(r#"401 reason_one {"sealed":"q0000001"}"#, true)]
#[case::body_in_base64("401 reason_one cTAwMDAwMDE=", true)]
#[case::body_in_hex("401 reason_one 7130303030303031", true)]
#[case::user_agent_of_a_last_request("401 edgeproof_last_first edgeproof-last-agent", true)]
fn no_line_has_a_secret_or_end_user_data(#[case] line: &str, #[case] broken: bool) {
    let edge =
        EdgeRecord { requests: vec![refusal(401, "reason_one")], log: Some(vec![line.into()]), ..edge() };
    assert_eq!(breaks(EdgeMonitor::Privacy, &edge), broken);
}

#[rstest]
#[case::granted(ORIGIN, r#"{"ok":true}"#, false)]
#[case::not_json(ORIGIN, "ok", true)]
#[case::no_grant("", r#"{"ok":true}"#, true)]
#[case::wildcard("*", r#"{"ok":true}"#, true)]
#[case::license(ORIGIN, r#"{"ok":true,"debug":"a license of this run"}"#, true)]
fn each_answer_is_json_and_granted_to_its_origin(
    #[case] grant: &str,
    #[case] body: &str,
    #[case] broken: bool,
) {
    let edge = EdgeRecord { requests: vec![exchange("a.case", 200, grant, body)], ..edge() };
    assert_eq!(breaks(EdgeMonitor::Answers, &edge), broken);
}

#[rstest]
#[case::missing("", Advice::GrantOnEveryAnswer)]
#[case::list("https://shop.example, https://shop.example", Advice::GrantList)]
fn unreadable_answer_has_the_advice_for_its_grant(#[case] grant: &str, #[case] advice: Advice) {
    let requests = vec![exchange("a.case", 200, grant, r#"{"ok":true}"#)];
    let checks = judge(EdgeMonitor::Answers, &EdgeRecord { requests, ..edge() });
    let check = checks.iter().find(|check| check.what == "answers to the allowed origin").unwrap();
    assert_eq!(check.advice, [advice]);
}

#[rstest]
#[case::copy(2, 1, "arrived 2 times, sent once: request 1 at the service (case a.case)")]
#[case::third(3, 2, "arrived 3 times, sent 2 times: request 1 at the service (case a.case)")]
fn copies_are_counted_in_words(#[case] arrived: u64, #[case] sent: usize, #[case] text: &str) {
    let request = exchange("a.case", 200, ORIGIN, r#"{"ok":true}"#);
    let arrival = |number| Arrival {
        answer: Some(ArrivalAnswer::Answer { status: 200, headers: HeaderMap::new(), body: Bytes::new() }),
        ..Arrival::without_connection(number, request.sent.as_ref().unwrap().request.clone())
    };
    let arrivals = (0..arrived).map(arrival).collect();
    let edge = EdgeRecord { requests: vec![request.clone(); sent], arrivals, ..edge() };
    let checks = judge(EdgeMonitor::Copies, &edge);
    let check = checks.iter().find(|check| check.what == "copies of answered collections").unwrap();
    assert_eq!((check.ok, check.actual.as_str()), (false, text));
}

#[rstest]
#[case::none(&[], "0 lines for 1 × 401 reason_one")]
#[case::one(&["401 reason_one"], "1 line for 2 × 401 reason_one")]
fn missing_lines_are_counted(#[case] log: &[&str], #[case] text: &str) {
    let lines = Some(log.iter().map(ToString::to_string).collect());
    let requests = vec![refusal(401, "reason_one"); log.len() + 1];
    let edge = EdgeRecord { requests, log: lines, ..edge() };
    assert_eq!(judge(EdgeMonitor::RefusalLog, &edge)[0].actual, text);
}

/// The edge may refuse such a body by itself, in any form.
#[test]
fn answer_to_a_body_over_the_maximum_is_open() {
    let requests = vec![exchange("a.case", 413, ORIGIN, "<h1>413</h1>")];
    let longest = requests[0].draft.body.bytes().len();
    let edge = EdgeRecord { requests, max_body: longest, ..edge() };
    assert!(!breaks(EdgeMonitor::Answers, &edge));
    assert!(breaks(EdgeMonitor::Answers, &EdgeRecord { max_body: longest + 1, ..edge }));
}

#[rstest]
#[case::accepted(200, r#"{"ok":true}"#, true, false)]
#[case::fails(500, "{}", true, true)]
#[case::accepted_but_not_relayed(200, r#"{"ok":true}"#, false, true)]
fn last_collection_is_relayed_and_accepted(
    #[case] status: u16,
    #[case] body: &str,
    #[case] relayed: bool,
    #[case] broken: bool,
) {
    let last = exchange(super::LAST_REQUESTS, status, ORIGIN, body);
    let arrival = last.sent.as_ref().map(|sent| Arrival::without_connection(0, sent.request.clone()));
    let arrivals = arrival.into_iter().filter(|_| relayed).collect();
    let edge = EdgeRecord { requests: vec![last], arrivals, ..edge() };
    assert_eq!(breaks(EdgeMonitor::Alive, &edge), broken);
}

#[rstest]
#[case::accepted(Some(answered(200)), Duration::ZERO, false)]
#[case::accepted_later(Some(answered(200)), Duration::from_secs(1), true)]
#[case::redirected(Some(answered(304)), Duration::ZERO, true)]
#[case::refused(Some(answered(409)), Duration::ZERO, true)]
#[case::silent(None, Duration::ZERO, true)]
#[case::broken_off(Some(ArrivalAnswer::Other("closed")), Duration::ZERO, true)]
#[case::cut(Some(ArrivalAnswer::Partial("body cut")), Duration::ZERO, false)]
fn acceptance_is_told_after_that_of_the_service(
    #[case] answer: Option<ArrivalAnswer>,
    #[case] late: Duration,
    #[case] broken: bool,
) {
    let request = exchange("a.case", 200, ORIGIN, r#"{"ok":true}"#);
    let sent = request.sent.clone().unwrap();
    let arrival = Arrival {
        answered: Some(sent.at + late),
        answer,
        ..Arrival::without_connection(0, sent.request.clone())
    };
    let edge = EdgeRecord { requests: vec![request], arrivals: vec![arrival], ..edge() };
    assert_eq!(breaks(EdgeMonitor::Acceptances, &edge), broken);
    assert!(breaks(EdgeMonitor::Acceptances, &EdgeRecord { arrivals: Vec::new(), ..edge }));
}

fn answered(status: u16) -> ArrivalAnswer {
    ArrivalAnswer::Answer { status, headers: HeaderMap::new(), body: Bytes::new() }
}

/// A page sent this Host to the edge. That of the service is another one.
#[test]
fn host_of_the_page_does_not_reach_the_service() {
    let mut request = exchange("a.case", 200, ORIGIN, r#"{"ok":true}"#);
    let sent = request.sent.as_mut().unwrap();
    sent.request.headers.insert("host", HeaderValue::from_static("127.0.0.1:8080"));
    let arrivals = vec![Arrival::without_connection(0, sent.request.clone())];
    let record = EdgeRecord { requests: vec![request], license: None, arrivals, ..edge() };
    assert!(breaks(EdgeMonitor::Credentials, &record));
}

/// A monitor is as strict as the row of the exchange.
#[rstest]
#[case(CaseLevel::Must, Some(CaseLevel::Must))]
#[case(CaseLevel::Should, Some(CaseLevel::Should))]
#[case(CaseLevel::Open, None)]
fn breach_has_the_level_of_its_exchange(#[case] level: CaseLevel, #[case] expected: Option<CaseLevel>) {
    let at = |mut request: TracedRequest| {
        request.sender.level = level;
        request
    };
    let refused = refusal(401, "reason_one");
    let mut lines = vec!["401 reason_other".to_owned(), "POST {\"sealed\":\"q0000001\"}".to_owned()];
    lines.push("403 reason_two".to_owned());
    let requests =
        vec![at(exchange("a.case", 500, "*", "not JSON")), at(refused), refusal(403, "reason_two")];
    let requests = requests.into_iter().map(|mut request| {
        if request.sender.level == CaseLevel::Must && level != CaseLevel::Must {
            request.sender.marker = "q0000002".into();
        }
        request
    });
    let edge = EdgeRecord { requests: requests.collect(), log: Some(lines), ..edge() };
    for monitor in [EdgeMonitor::Answers, EdgeMonitor::RefusalLog, EdgeMonitor::Privacy] {
        let checks = judge(monitor, &edge);
        let strictest = checks.iter().filter(|check| !check.ok).map(|check| check.level).min();
        assert_eq!(strictest, expected, "{monitor:?}");
    }
}

/// HTTP clients may send a request again after some answers.
#[rstest]
#[case::misdirected(421, false)]
#[case::timeout(408, false)]
#[case::conflict(409, true)]
#[case::unavailable(503, true)]
fn repeat_is_a_copy_unless_a_standard_permits_it(#[case] status: u16, #[case] is_copy: bool) {
    let requests = vec![exchange("a.case", 200, ORIGIN, r#"{"ok":true}"#)];
    let request = requests[0].sent.as_ref().unwrap().request.clone();
    let arrival = |number, status| {
        let mut arrival = Arrival::without_connection(number, request.clone());
        arrival.answer =
            Some(ArrivalAnswer::Answer { status, headers: HeaderMap::new(), body: Bytes::new() });
        arrival
    };
    let arrivals = vec![arrival(0, status), arrival(1, 200)];
    let edge = EdgeRecord { requests, arrivals, ..edge() };
    assert_eq!(breaks(EdgeMonitor::Copies, &edge), is_copy);
}
