//! Monitors judge what a run did with a service and its key set.

use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_fixtures::spec::{Endpoint, Spec, Version as SpecVersion};
use edgeproof_http::{Answer, ConnectionUse, Draft, Request, Sent};
use edgeproof_reports::{CaseLevel, Hop};
use http::{HeaderMap, HeaderName, HeaderValue, Version};
use rstest::rstest;

use super::{LAST_REQUESTS, ServiceRecord, judge_service};
use crate::cases::{ServiceExchange, ServiceMonitor, VerdictRequest};

const TOKEN: &str = "service_read_0123456789012345678901234567890123456789";
const PENDING: &str = r#"{"status":"pending","ref":"one"}"#;
const UNAUTHORIZED: &str = r#"{"error":"unauthorized"}"#;
const KEYS: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","kid":"a"}]}"#;
const OTHER_KEYS: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AB","kid":"b"}]}"#;
const PRIVATE_KEYS: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","kid":"a","d":"AA"}]}"#;

fn exchange(hop: Hop, draft: Draft, status: u16, header: &str, body: &str) -> ServiceExchange {
    let mut headers = HeaderMap::new();
    for line in ["content-type: application/json", header].iter().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ").unwrap();
        headers.insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
    }
    let body = Bytes::copy_from_slice(body.as_bytes());
    let version = Version::HTTP_11;
    let request = Request {
        method: draft.method.clone(),
        target: draft.path.clone(),
        version,
        headers: HeaderMap::new(),
        body: Bytes::new(),
        complete: true,
    };
    let reply = Ok(Answer { status, version, headers, body, complete: true });
    let sent = Sent {
        place: ConnectionUse::first(),
        request,
        reply,
        violations: Vec::new(),
        at: Instant::now(),
        took: Duration::ZERO,
    };
    let (case, level) = (LAST_REQUESTS.into(), CaseLevel::Must);
    ServiceExchange { case, level, hop, draft, sent, key_change: 0 }
}

/// A request for the verdict of session `one`, with its answer.
fn verdict(token: bool, status: u16, header: &str, body: &str) -> ServiceExchange {
    let request = VerdictRequest::new(spec().verdict_path(), "one");
    let request = if token { request.bearer(TOKEN) } else { request };
    exchange(Hop::ClientService, request.draft(), status, header, body)
}

fn spec() -> Spec {
    Spec::builtin(SpecVersion::Current)
}

fn keys(header: &str, body: &str) -> ServiceExchange {
    exchange(Hop::ClientKeys, Draft::new("GET", spec().path(Endpoint::KeySet)), 200, header, body)
}

fn check(monitor: ServiceMonitor, exchanges: Vec<ServiceExchange>, broken: bool) {
    let (sessions, path) = (["session".to_owned()].into(), spec().verdict_path().clone());
    let record = ServiceRecord { exchanges, sessions, path };
    let checks = judge_service(monitor, &record, &spec());
    let failed: Vec<_> = checks.iter().filter(|check| !check.ok).map(|check| &check.actual).collect();
    assert_eq!(!failed.is_empty(), broken, "{failed:?}");
}

#[rstest]
#[case::no_store(true, "cache-control: no-store", false)]
#[case::private(true, "cache-control: private", false)]
#[case::public(true, "cache-control: public, max-age=60", true)]
#[case::refusal_for_a_day(false, "cache-control: max-age=86400", true)]
fn no_shared_cache_stores_an_answer(#[case] token: bool, #[case] header: &str, #[case] broken: bool) {
    let (status, body) = if token { (404, PENDING) } else { (401, UNAUTHORIZED) };
    check(ServiceMonitor::Caching, vec![verdict(token, status, header, body)], broken);
}

#[rstest]
#[case::elsewhere("x-request-id: 1", UNAUTHORIZED.to_owned(), false)]
#[case::in_the_body("x-request-id: 1", format!(r#"{{"error":"unauthorized","token":"{TOKEN}"}}"#), true)]
#[case::in_a_header(&format!("www-authenticate: Bearer token={TOKEN}"), UNAUTHORIZED.to_owned(), true)]
fn no_answer_has_the_token(#[case] header: &str, #[case] body: String, #[case] broken: bool) {
    check(ServiceMonitor::NoEcho, vec![verdict(true, 401, header, &body)], broken);
}

#[rstest]
#[case::exact(404, PENDING, false)]
#[case::other_reference(404, r#"{"status":"pending","ref":"two"}"#, true)]
#[case::further_member(404, r#"{"status":"pending","ref":"one","age":1}"#, true)]
#[case::other_status(202, PENDING, true)]
#[case::refusal(401, UNAUTHORIZED, false)]
#[case::refusal_in_plain_text(401, "unauthorized", true)]
fn pending_answers_and_refusals_have_their_bodies(
    #[case] status: u16,
    #[case] body: &str,
    #[case] broken: bool,
) {
    check(ServiceMonitor::Bodies, vec![verdict(true, status, "", body)], broken);
}

#[rstest]
#[case::as_before(vec![verdict(true, 404, "", PENDING), verdict(false, 401, "", UNAUTHORIZED)], false)]
#[case::refuses_the_token(vec![verdict(true, 401, "", UNAUTHORIZED)], true)]
#[case::fails(vec![verdict(true, 500, "", "{}")], true)]
#[case::needs_no_token(vec![verdict(false, 404, "", PENDING)], true)]
fn service_answers_at_the_end_as_before(#[case] exchanges: Vec<ServiceExchange>, #[case] broken: bool) {
    check(ServiceMonitor::Alive, exchanges, broken);
}

#[rstest]
#[case::own("five", false)]
#[case::of_another_session("session", true)]
#[case::of_nobody("six", true)]
fn verdict_names_its_own_session(#[case] named: &str, #[case] broken: bool) {
    let of = |session: &str, named: &str| {
        let request = VerdictRequest::new(spec().verdict_path(), session).bearer(TOKEN).draft();
        exchange(Hop::ClientService, request, 200, "", &format!(r#"{{"ref":"{named}"}}"#))
    };
    let mut exchanges: Vec<_> = ["one", "two", "three", "four"].map(|session| of(session, session)).into();
    exchanges.push(of("five", named));
    check(ServiceMonitor::Own, exchanges, broken);
    // One verdict does not show where its session stands.
    check(ServiceMonitor::Own, vec![of("five", named)], false);
}

#[rstest]
#[case::alike("GET", "x-cache: miss", false)]
#[case::another_value("GET", "x-cache: hit", true)]
#[case::another_field("GET", "x-session: 1", true)]
#[case::another_field_for_head("HEAD", "x-session: 1", true)]
#[case::length_for_head("HEAD", "content-length: 40", false)]
fn no_header_reveals_a_session(#[case] method: &str, #[case] header: &str, #[case] broken: bool) {
    let answered = |reference: &str, header: &str| {
        let request = VerdictRequest::new(spec().verdict_path(), reference).bearer(TOKEN).method(method);
        exchange(Hop::ClientService, request.draft(), 404, header, PENDING)
    };
    let header_of_none = if header.starts_with("x-") { "x-cache: miss" } else { header };
    let mut exchanges = vec![answered("one", header_of_none); 3];
    exchanges.push(answered("session", header));
    check(ServiceMonitor::Alike, exchanges, broken);
}

#[rstest]
#[case::limit("cache-control: max-age=300", false)]
#[case::longer("cache-control: max-age=301", true)]
fn caches_keep_the_key_set_for_its_limit(#[case] header: &str, #[case] broken: bool) {
    check(ServiceMonitor::KeyCaching, vec![keys(header, KEYS)], broken);
}

#[rstest]
#[case::same(KEYS, false)]
#[case::others(OTHER_KEYS, true)]
#[case::private(PRIVATE_KEYS, true)]
#[case::none("{}", true)]
fn key_set_stays_the_same_and_public(#[case] later: &str, #[case] broken: bool) {
    check(ServiceMonitor::SameKeys, vec![keys("", KEYS), keys("", later)], broken);
}
