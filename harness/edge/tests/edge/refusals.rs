use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{LicenseForm, Role, Secret};
use edgeproof_fixtures::spec::Table;
use edgeproof_http::Body;
use edgeproof_mock::{Action, Match, Reply, Script, When};
use rstest::rstest;
use serde_json::json;

use crate::support::{OK, ORIGIN, SIGNALS, World, answer, check, draft, header, text};

fn refused(status: u16, reason: &str) -> String {
    json!({"error": "service_rejected", "reason": reason, "status": status}).to_string()
}

#[tokio::test]
async fn every_reason_of_the_tables_reaches_the_page_and_the_log() {
    let world = World::new().await;
    let rows: Vec<_> = world.spec.table(Table::Relay).cloned().collect();
    assert!(rows.len() >= 31);
    for row in rows {
        let (status, code) = (row.status().unwrap(), row.code().unwrap());
        let _scripted = world.scripted(status, &json!({"error": code, "reason": code}).to_string());
        let mark = world.log.mark();
        check(&world.post("{}").await, status, &refused(status, code));
        let lines: Vec<_> = world.log.since(mark).into_iter().map(|line| line.text).collect();
        assert_eq!(lines, [format!("refused status={status} reason={code}")]);
    }
}

#[rstest]
#[case::payment(402, r#"{"reason":"never_seen_before"}"#, "never_seen_before")]
#[case::teapot(418, r#"{"error":"short_and_stout"}"#, "short_and_stout")]
#[case::rate(429, r#"{"reason":"slow_down:60"}"#, "slow_down:60")]
#[case::internal(500, "", "unknown")]
#[case::unavailable(503, "<html>busy</html>", "unknown")]
#[case::unassigned(599, r#"{"reason":"a sentence"}"#, "unknown")]
#[case::null(401, "null", "unknown")]
#[tokio::test]
async fn what_the_tables_do_not_list_is_passed_on_all_the_same(
    #[case] status: u16,
    #[case] body: &str,
    #[case] reason: &str,
) {
    let world = World::new().await;
    let _scripted = world.scripted(status, body);
    check(&world.post("{}").await, status, &refused(status, reason));
}

#[rstest]
#[tokio::test]
async fn a_redirect_is_a_refusal_and_nobody_follows_it(#[values(301, 302, 303, 307, 308)] status: u16) {
    let world = World::new().await;
    let headers = vec![("location".to_owned(), format!("{}/elsewhere", world.service.url()))];
    let _scripted = world.script(Action::Answer { status, headers, body: Bytes::new() });
    let answer = world.post("{}").await;
    check(&answer, status, &refused(status, "unknown"));
    assert_eq!(header(&answer, "location"), None);
    assert_eq!(world.service.journal().len(), 1);
}

#[rstest]
#[case::created(201, "")]
#[case::no_content(204, "")]
#[case::another_body(200, r#"{"ok":false,"reason":"expired"}"#)]
#[tokio::test]
async fn any_2xx_is_acceptance(#[case] status: u16, #[case] body: &str) {
    let world = World::new().await;
    let _scripted = world.scripted(status, body);
    check(&world.post("{}").await, 200, OK);
    assert!(world.lines().is_empty());
}

#[tokio::test]
async fn an_acceptance_that_is_cut_is_one() {
    let world = World::new().await;
    let _scripted =
        world.script(Action::CutBody { status: 200, body: Bytes::from_static(OK.as_bytes()), after: 4 });
    check(&world.post("{}").await, 200, OK);
}

#[tokio::test]
async fn a_refusal_that_is_cut_has_no_reason() {
    let world = World::new().await;
    let body = Bytes::from_static(br#"{"reason":"expired"}"#);
    let _scripted = world.script(Action::CutBody { status: 401, body, after: 12 });
    check(&world.post("{}").await, 401, &refused(401, "unknown"));
}

#[tokio::test]
async fn a_refusal_without_end_has_no_reason() {
    let world = World::new().await;
    let body = format!(r#"{{"reason":"expired","more":"{}"}}"#, "x".repeat(1024 * 1024));
    let _scripted = world.scripted(401, &body);
    check(&world.post("{}").await, 401, &refused(401, "unknown"));
}

#[tokio::test]
async fn a_refusal_before_the_body_was_read_is_passed_on() {
    let world = World::new().await;
    let early = Reply {
        delay: Duration::ZERO,
        when: When::BeforeBodyEnds,
        action: answer(413, r#"{"reason":"payload_too_large"}"#),
    };
    let _scripted = world.service.script(Match::Everything, Script { replies: vec![early] });
    for size in [900 * 1024, 4 * 1024 * 1024] {
        let large = draft("POST", SIGNALS).body(Body::Sized(vec![b'x'; size].into()));
        check(&world.send(&large).await, 413, &refused(413, "payload_too_large"));
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
async fn settings_that_the_service_refuses(
    #[case] license: Option<LicenseForm>,
    #[case] certificate: Role,
    #[case] status: u16,
    #[case] reason: &str,
) {
    let proper = World::new().await;
    let mut settings = proper.files.settings(&proper.credentials, &proper.service.url(), ORIGIN);
    settings.client_cert_file = Some(proper.files.certificate(certificate));
    settings.client_key_file = proper.files.key(certificate);
    if let Some(form) = license {
        settings.license = Some(Secret::new(proper.credentials.license(form)));
    }
    let (_edge, endpoint, _) = crate::support::edge(settings).await;
    let answer = crate::support::exchange(&endpoint, &crate::support::post("{}")).await;
    check(&answer, status, &refused(status, reason));
}

#[tokio::test]
async fn neither_answers_nor_log_hold_secrets_or_users() {
    let world = World::new().await;
    let draft = draft("POST", SIGNALS)
        .header("cookie", "canary-cookie")
        .header("user-agent", "canary-agent")
        .body(Body::Sized(Bytes::from_static(b"canary-body")));
    let mut said = String::new();
    for action in
        [answer(401, r#"{"reason":"expired"}"#), answer(401, "canary-reply"), answer(200, OK), Action::Reset]
    {
        let _scripted = world.script(action);
        let answer = world.send(&draft).await;
        said.push_str(text(&answer));
        let _ = write!(said, "{:?}", answer.headers);
    }
    said.push_str(&world.lines().join("\n"));
    assert_eq!(world.lines(), ["refused status=401 reason=expired", "refused status=401 reason=unknown"]);
    assert!(!said.contains("canary"), "{said}");
    assert!(!said.contains(&world.credentials.license(LicenseForm::Valid)), "{said}");
}
