//! A correct service of another implementation conforms.

use rstest::rstest;

use super::fake_service::{
    EXPIRED, FakeService, FakeServiceChoice, FakeServiceFault, LICENSE, SESSION, TOKEN, claims_read_token,
    jws_header, jws_read_token, paseto_read_token, with_all_inputs,
};
use super::program::conformance;

#[tokio::test(flavor = "multi_thread")]
async fn correct_service_conforms() {
    let service = FakeService::start(FakeServiceFault::None).await;
    let url = service.url();
    let arguments = with_all_inputs(&url);
    let run = conformance(&arguments, Some(TOKEN));
    assert_eq!((run.exit, run.ended("fail"), run.ended("warn")), (0, vec![], vec![]), "{}", run.out);
    assert!(run.ended("not-run").is_empty());
    assert_eq!(run.report["target"]["kind"], "attached");
    assert_eq!(run.report["target"]["url"], format!("{url}/"));
    assert_eq!(run.report["exit_code"], 0);
    // Only cases that need a state or --waits do not apply.
    for id in run.ended("not-applicable") {
        let because = run.case(&id)["because"].as_str().unwrap().to_owned();
        assert!(
            ["a state hook", "READ_TOKEN_", "--waits", "HTTP/2"].iter().any(|word| because.contains(word)),
            "{id}: {because}"
        );
    }
    assert!(run.ended("pass").len() > 60, "{:?}", run.report["summary"]);
    assert_eq!(run.case("verdict.reason-member")["observations"][0]["saw"], "details.code");
}

/// The read token and the verdict tokens share their header and their first claim, which are public.
#[rstest]
#[case::jws(jws_read_token())]
#[case::paseto(paseto_read_token())]
#[case::claims(claims_read_token())]
#[tokio::test(flavor = "multi_thread")]
async fn service_with_one_token_format_conforms(#[case] token: String) {
    let service = FakeService::start(FakeServiceFault::None).await;
    let url = service.url();
    let run = conformance(&with_all_inputs(&url), Some(&token));
    assert_eq!((run.exit, run.ended("fail"), run.ended("warn")), (0, vec![], vec![]), "{}", run.out);
    // The report shows the verdict token.
    let verdict = run.case("verdict.not-echoed.available")["exchanges"].to_string();
    assert!(verdict.contains(&jws_header()), "{verdict}");
    assert!(!run.report.to_string().contains(&token));
}

#[rstest]
#[case::jws(jws_read_token())]
#[case::paseto(paseto_read_token())]
#[case::claims(claims_read_token())]
#[tokio::test(flavor = "multi_thread")]
async fn echo_of_a_signed_read_token_fails(#[case] token: String) {
    let service = FakeService::start(FakeServiceFault::EchoesInVerdict).await;
    let run = conformance(&with_all_inputs(&service.url()), Some(&token));
    assert_eq!(run.exit, 1);
    assert_eq!(run.ended("fail"), ["verdict.not-echoed.available", "monitor.service.no-echo"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_report_contains_a_token() {
    let service = FakeService::start(FakeServiceFault::EchoesToken).await;
    let url = service.url();
    let arguments = ["service", "--base-url", &url, "--expired-token", EXPIRED, "--license", LICENSE, "-v"];
    let run = conformance(&arguments, Some(TOKEN));
    assert_eq!(run.exit, 1);
    let report = run.report.to_string();
    for secret in [TOKEN, EXPIRED, LICENSE] {
        for text in [&run.out, &run.err, &report] {
            assert!(!text.contains(&secret[20..44]), "{text}");
        }
    }
    assert!(report.contains("[read-token given"));
}

#[tokio::test(flavor = "multi_thread")]
async fn case_without_its_input_names_the_option() {
    let service = FakeService::start(FakeServiceFault::None).await;
    let run = conformance(&["service", "--base-url", &service.url()], None);
    assert_eq!(run.exit, 0, "{}", run.out);
    for (id, option) in [
        ("verdict.sanity.first", "READ_TOKEN"),
        ("verdict.refused.expired", "READ_TOKEN_EXPIRED"),
        ("verdict.unauthorized.license", "--license"),
    ] {
        let case = run.case(id);
        assert_eq!(case["outcome"], "not-applicable");
        assert!(case["because"].as_str().unwrap().contains(option), "{case}");
    }
    assert_eq!(run.case("verdict.unauthorized.missing")["outcome"], "pass");
    let run = conformance(&["service", "--base-url", &service.url()], Some(TOKEN));
    assert!(run.case("verdict.available")["because"].as_str().unwrap().contains("--session-ref"));
}

#[tokio::test(flavor = "multi_thread")]
async fn session_without_a_verdict_exits_3() {
    let service = FakeService::start(FakeServiceFault::None).await;
    let url = service.url();
    let run = conformance(&["service", "--base-url", &url, "--session-ref", "long ago"], Some(TOKEN));
    assert_eq!(run.exit, 3, "{}", run.out);
    assert!(run.ended("not-run").contains(&"verdict.available".to_owned()));
    assert!(run.case("verdict.available")["because"].as_str().unwrap().contains("two minutes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_read_token_is_one_finding() {
    let service = FakeService::start(FakeServiceFault::None).await;
    let run = conformance(&["service", "--base-url", &service.url()], Some(EXPIRED));
    assert_eq!(run.exit, 3, "{}", run.out);
    let finding = run.report["findings"][0].as_str().unwrap();
    assert!(finding.contains("does not accept the read token: 401 {\"error\":\"expired\"}"), "{finding}");
    assert_eq!(run.report["findings"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_server_exits_3_with_an_explanation() {
    let other = wiremock::MockServer::start().await;
    let run = conformance(&["service", "--base-url", &other.uri()], Some(TOKEN));
    assert_eq!(run.exit, 3, "{}", run.out);
    let finding = run.report["findings"][0].as_str().unwrap();
    assert!(
        finding.contains("no verdict endpoint of this interface") && finding.contains("--base-url"),
        "{finding}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn correct_key_set_conforms_and_verifies_verdicts() {
    let service = FakeService::start(FakeServiceFault::None).await;
    let url = service.url();
    let arguments = ["keys", "--keys-url", &url, "--base-url", &url, "--session-ref", SESSION];
    let run = conformance(&arguments, Some(TOKEN));
    assert_eq!((run.exit, run.ended("fail"), run.ended("warn")), (0, vec![], vec![]), "{}", run.out);
    assert_eq!(run.case("keys.verifies-verdict")["outcome"], "pass");
    let run = conformance(&["keys", "--keys-url", &url], None);
    assert_eq!(run.exit, 0, "{}", run.out);
    let missing = [
        "keys.during-outage",
        "keys.verifies-verdict",
        "keys.verifies-every",
        "keys.token-times",
        "keys.token-begun",
        "keys.token-renewed",
        "keys.token-header",
        "keys.token-claims",
        "keys.token-id",
        "keys.token-claims.numbers",
        "keys.rotation.verifies",
        "keys.rotation.twice",
        "keys.rotation.second",
        "keys.rotation.during",
        "keys.rotation.cached",
    ];
    assert_eq!(run.ended("not-applicable"), missing);
    assert!(run.case("keys.verifies-verdict")["because"].as_str().unwrap().contains("--base-url"));
}

#[rstest]
#[case(FakeServiceChoice::KeysNotStored)]
#[case(FakeServiceChoice::KeysNotStoredTagged)]
#[tokio::test(flavor = "multi_thread")]
async fn key_set_that_no_cache_stores_conforms(#[case] choice: FakeServiceChoice) {
    let service = FakeService::with(choice).await;
    let url = service.url();
    let arguments = ["keys", "--keys-url", &url, "--base-url", &url, "--session-ref", SESSION];
    let run = conformance(&arguments, Some(TOKEN));
    assert_eq!((run.exit, run.ended("fail"), run.ended("warn")), (0, vec![], vec![]), "{}", run.out);
}
