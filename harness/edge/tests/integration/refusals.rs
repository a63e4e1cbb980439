use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{LicenseForm, Role, Secret};
use edgeproof_fixtures::spec::Table;
use edgeproof_http::Body;
use edgeproof_mock::{Action, Match, Reply, Script, When};
use rstest::rstest;
use serde_json::json;

use crate::support::{Fixture, OK, ORIGIN, SIGNALS, answer, check, draft, header, text};

fn refused(status: u16, reason: &str) -> String {
    json!({"error": "service_rejected", "reason": reason, "status": status}).to_string()
}

#[tokio::test]
async fn every_table_reason_is_in_the_answer_and_in_the_log() {
    let fixture = Fixture::new().await;
    let rows: Vec<_> = fixture.spec.table(Table::Relay).cloned().collect();
    assert!(rows.len() >= 31);
    for row in rows {
        let (status, code) = (row.status().unwrap(), row.code().unwrap());
        let _scripted = fixture.scripted(status, &json!({"error": code, "reason": code}).to_string());
        let mark = fixture.log.mark();
        check(&fixture.post("{}").await, status, &refused(status, code));
        let lines: Vec<_> = fixture.log.since(mark).into_iter().map(|line| line.text).collect();
        assert_eq!(lines, [format!("refused status={status} reason={code}")]);
    }
}

/// `reason`: of the refusal; unset for an acceptance.
#[rstest]
#[case::payment(answer(402, r#"{"reason":"never_seen_before"}"#), 402, Some("never_seen_before"))]
#[case::teapot(answer(418, r#"{"error":"short_and_stout"}"#), 418, Some("short_and_stout"))]
#[case::rate(answer(429, r#"{"reason":"slow_down:60"}"#), 429, Some("slow_down:60"))]
#[case::internal(answer(500, ""), 500, Some("unknown"))]
#[case::unavailable(answer(503, "<html>busy</html>"), 503, Some("unknown"))]
#[case::unassigned(answer(599, r#"{"reason":"a sentence"}"#), 599, Some("unknown"))]
#[case::null(answer(401, "null"), 401, Some("unknown"))]
#[case::truncated_refusal(cut(401, r#"{"reason":"expired"}"#), 401, Some("unknown"))]
#[case::oversized_refusal(answer(401, &oversized()), 401, Some("unknown"))]
#[case::created(answer(201, ""), 200, None)]
#[case::no_content(answer(204, ""), 200, None)]
#[case::success_with_reason(answer(200, r#"{"ok":false,"reason":"expired"}"#), 200, None)]
#[case::truncated_acceptance(cut(200, OK), 200, None)]
#[tokio::test]
async fn status_accepts_and_plain_reason_is_passed_on(
    #[case] action: Action,
    #[case] status: u16,
    #[case] reason: Option<&str>,
) {
    let fixture = Fixture::new().await;
    let _scripted = fixture.script(action);
    let body = reason.map_or(OK.to_owned(), |reason| refused(status, reason));
    check(&fixture.post("{}").await, status, &body);
    assert_eq!(fixture.lines().len(), usize::from(reason.is_some()));
}

fn cut(status: u16, body: &'static str) -> Action {
    Action::CutBody { status, body: Bytes::from_static(body.as_bytes()), after: 4 }
}

fn oversized() -> String {
    format!(r#"{{"reason":"expired","more":"{}"}}"#, "x".repeat(1024 * 1024))
}

#[rstest]
#[tokio::test]
async fn redirect_is_a_refusal_and_not_followed(#[values(301, 302, 303, 307, 308)] status: u16) {
    let fixture = Fixture::new().await;
    let headers = vec![("location".to_owned(), format!("{}/elsewhere", fixture.service.url()))];
    let _scripted = fixture.script(Action::Answer { status, headers, body: Bytes::new() });
    let answer = fixture.post("{}").await;
    check(&answer, status, &refused(status, "unknown"));
    assert_eq!(header(&answer, "location"), None);
    assert_eq!(fixture.service.journal().len(), 1);
}

#[tokio::test]
async fn refusal_before_the_body_ends_is_passed_on() {
    let fixture = Fixture::new().await;
    let early = Reply {
        delay: Duration::ZERO,
        when: When::BeforeBodyEnds,
        action: answer(413, r#"{"reason":"payload_too_large"}"#),
    };
    let _scripted = fixture.service.script(Match::Everything, Script { replies: vec![early] });
    for size in [900 * 1024, 4 * 1024 * 1024] {
        let large = draft("POST", SIGNALS).body(Body::Sized(vec![b'x'; size].into()));
        check(&fixture.send(&large).await, 413, &refused(413, "payload_too_large"));
    }
}

#[rstest]
#[case::license_of_another_product(
    Some(LicenseForm::OtherProduct),
    Role::ClientForLicense,
    401,
    "product_not_licensed"
)]
#[case::foreign_certificate(None, Role::ClientForeign, 401, "client_cert_required")]
#[case::certificate_of_another_license(
    None,
    Role::ClientForOtherLicense,
    403,
    "client_cert_licence_mismatch"
)]
#[case::revoked_certificate(None, Role::ClientRevoked, 403, "client_cert_revoked")]
#[tokio::test]
async fn refused_credentials_have_their_reason(
    #[case] license: Option<LicenseForm>,
    #[case] certificate: Role,
    #[case] status: u16,
    #[case] reason: &str,
) {
    let fixture = Fixture::new().await;
    let mut settings = fixture.files.settings(&fixture.credentials, &fixture.service.url(), ORIGIN);
    settings.client_cert_file = Some(fixture.files.certificate(certificate));
    settings.client_key_file = fixture.files.key(certificate);
    if let Some(form) = license {
        settings.license = Some(Secret::new(fixture.credentials.license(form)));
    }
    let (_edge, endpoint, _) = crate::support::edge(settings).await;
    let answer = crate::support::exchange(&endpoint, &crate::support::post("{}")).await;
    check(&answer, status, &refused(status, reason));
}

#[tokio::test]
async fn answers_and_log_contain_no_secret_and_no_user_data() {
    let fixture = Fixture::new().await;
    let draft = draft("POST", SIGNALS)
        .header("cookie", "canary-cookie")
        .header("user-agent", "canary-agent")
        .body(Body::Sized(Bytes::from_static(b"canary-body")));
    let mut output = String::new();
    for action in
        [answer(401, r#"{"reason":"expired"}"#), answer(401, "canary-reply"), answer(200, OK), Action::Reset]
    {
        let _scripted = fixture.script(action);
        let answer = fixture.send(&draft).await;
        output.push_str(text(&answer));
        let _ = write!(output, "{:?}", answer.headers);
    }
    output.push_str(&fixture.lines().join("\n"));
    assert_eq!(fixture.lines(), ["refused status=401 reason=expired", "refused status=401 reason=unknown"]);
    assert!(!output.contains("canary"), "{output}");
    assert!(!output.contains(&fixture.credentials.license(LicenseForm::Valid)), "{output}");
}
