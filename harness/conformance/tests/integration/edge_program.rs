//! The reference edge as a program. This test has a process of its own, because it sends itself a signal.

use std::sync::Arc;
use std::time::Duration;

use edgeproof_cli::signals::interrupted;
use edgeproof_edge::{EdgeError, ProgramOptions, run_program};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, Role};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Draft, ServerAddress, send};
use edgeproof_launch::LogTail;
use rstest::rstest;
use rustix::process::{Signal, getpid, kill_process};
use url::Url;

const LIMIT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn edge_prints_its_address_and_stops_on_sigterm() {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let options = ProgramOptions {
        cert: Some(files.certificate(Role::EdgeServer)),
        key: files.key(Role::EdgeServer),
        listen: None,
    };
    let env = |name: &str| match name {
        "SERVICE_URL" => Some("https://service.example".to_owned()),
        "SERVICE_CA_FILE" => Some(files.certificate(Role::ServiceAuthority).display().to_string()),
        "HOST" => Some("localhost".to_owned()),
        "PORT" => Some("0".to_owned()),
        _ => None,
    };
    let log = LogTail::default();
    let until = interrupted().unwrap();
    let until = async {
        until.await;
    };
    let running = run(env, options, log.clone(), until);
    let calling = async {
        let lines = log.wait(0, LIMIT, |lines| !lines.is_empty()).await;
        let url = lines[0].text.strip_prefix("edge listening on ").unwrap();
        let ca = files.certificate(Role::EdgeAuthority);
        let endpoint = ServerAddress::resolve(&Url::parse(url).unwrap(), Some(&ca)).await.unwrap();
        let answer = send(&endpoint, &Draft::new("GET", "/health"), LIMIT).await.reply.unwrap();
        assert_eq!(answer.status, 200);
        kill_process(getpid(), Signal::TERM).unwrap();
    };
    let (ended, ()) = tokio::time::timeout(LIMIT, async { tokio::join!(running, calling) }).await.unwrap();
    ended.unwrap();
}

#[rstest]
#[case::port("PORT", "80a", r#"PORT "80a" is no port"#)]
#[case::port_too_large("PORT", "65536", r#"PORT "65536" is no port"#)]
#[case::host(
    "HOST",
    "no such host",
    r#"HOST is invalid: cannot listen on "no such host:0": the host does not resolve"#
)]
#[case::no_service_url("SERVICE_URL", "", "SERVICE_URL is not set")]
#[tokio::test]
async fn invalid_setting_is_named_in_the_error(
    #[case] setting: &str,
    #[case] value: &str,
    #[case] message: &str,
) {
    let env = |name: &str| match name {
        name if name == setting => Some(value.to_owned()),
        "SERVICE_URL" => Some("http://service.example".to_owned()),
        "PORT" => Some("0".to_owned()),
        _ => None,
    };
    let ended = run(env, ProgramOptions::default(), LogTail::default(), std::future::ready(())).await;
    assert_eq!(ended.unwrap_err().to_string(), message);
}

#[tokio::test]
async fn certificate_without_key_is_an_error() {
    let options = ProgramOptions { cert: Some("edge.pem".into()), ..ProgramOptions::default() };
    let ended = run(|_| None, options, LogTail::default(), std::future::ready(())).await;
    assert_eq!(ended.unwrap_err().to_string(), "--key is not set");
}

async fn run(
    env: impl Fn(&str) -> Option<String>,
    options: ProgramOptions,
    log: LogTail,
    until: impl Future<Output = ()>,
) -> Result<(), EdgeError> {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let profile = spec.profile().clone();
    run_program(spec, profile, env, options, log.into(), until).await
}
