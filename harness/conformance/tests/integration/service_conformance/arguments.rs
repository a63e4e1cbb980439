//! Invalid arguments exit 2 before any request.

use rstest::rstest;

use super::fake_service::{LICENSE, TOKEN};
use super::program::program;
use crate::limited;

fn mistake(arguments: &[&str]) -> String {
    let output = limited::output(program().arg("conformance").args(arguments));
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    // One line, independent of the terminal's width.
    message.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[rstest]
#[case::in_clear(&["service", "--base-url", "http://service.example"], "credentials would be sent unencrypted")]
#[case::no_url(&["service", "--base-url", "service.example"], "as the base URL of a service")]
#[case::own_path(&["service", "--base-url", "https://a.example/v1/verdict"], "one of the service's paths")]
#[case::keys_path(&["keys", "--keys-url", "https://a.example/.well-known/browser-verdict-jwks.json"], "https://a.example/")]
#[case::token_without_address(&["service", "--read-token", TOKEN], "use --read-token without --base-url")]
#[case::keys_without_address(&["keys", "--base-url", "https://a.example"], "use --base-url without --keys-url")]
#[case::keys_for_service(&["service", "--keys-url", "https://a.example"], "cannot use --keys-url with `service`")]
#[case::launch(&["service", "--launch", "node a.mjs"], "cannot use --launch with `service`")]
#[case::edge(&["edge", "--base-url", "https://a.example"], "cannot use --base-url with an edge")]
#[case::license_as_token(&["service", "--base-url", "https://a.example", "--read-token", LICENSE], "it is a license")]
#[case::token_as_license(&["service", "--base-url", "https://a.example", "--license", TOKEN], "it is a read token")]
#[case::no_token(&["service", "--base-url", "https://a.example", "--read-token", "a b"], "it is not a token")]
#[case::no_file(&["service", "--base-url", "https://a.example", "--read-token", "@/nowhere/token"], "/nowhere/token")]
#[case::no_authority(&["service", "--base-url", "https://a.example", "--service-ca", "/nowhere/ca.pem"], "read the CA file")]
#[case::no_session(&["service", "--base-url", "https://a.example", "--session-ref", ""], "the value of --session-ref: it is empty")]
#[case::no_such_case(&["service", "--filter", "refusal.*"], "`edgeproof conformance service --list`")]
fn invalid_arguments_exit_2_with_an_explanation(#[case] arguments: &[&str], #[case] text: &str) {
    let message = mistake(arguments);
    assert!(message.contains(text), "{message}");
    for secret in [TOKEN, LICENSE] {
        assert!(!message.contains(&secret[20..40]), "{message}");
    }
}

#[test]
fn read_token_is_read_from_a_file_without_its_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, format!("{}\n", TOKEN.trim_start_matches("service_read_"))).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime
        .block_on(super::fake_service::FakeService::start(super::fake_service::FakeServiceFault::None));
    let token = format!("@{}", path.display());
    let url = service.url();
    let arguments = ["service", "--base-url", &url, "--read-token", &token, "--filter", "verdict.sanity.*"];
    let run = super::program::conformance(&arguments, None);
    assert_eq!(run.exit, 0, "{}", run.out);
    assert_eq!(run.ended("pass").len(), 2);
}

#[rstest]
#[case("service", "verdict.exactly.read-token-revoked")]
#[case("keys", "keys.verifies-verdict")]
fn list_option_lists_cases(#[case] target: &str, #[case] id: &str) {
    let output = limited::output(program().args(["conformance", target, "--list"]));
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains(id));
}

#[test]
fn verdict_and_key_rows_list_their_cases() {
    let output = limited::output(program().args(["spec", "list", "--json"]));
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for row in
        rows.as_array().unwrap().iter().filter(|row| row["table"] == "verdict" || row["table"] == "keys")
    {
        assert!(!row["cases"].as_array().unwrap().is_empty(), "{row}");
    }
}
