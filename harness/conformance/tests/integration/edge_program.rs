//! The reference edge as a program.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_edge::{EdgeError, LogSink, ProgramOptions, run_program};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, MintOptions, Role};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Draft, ServerAddress, send};
use edgeproof_launch::{LogTail, Stream};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};

use crate::limited::{self, Watchdog};
use crate::tested_program;

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn edge_prints_its_address_and_stops_on_sigterm() {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let mut command = tested_program::edgeproof();
    command.arg("edge").arg("--cert").arg(files.certificate(Role::EdgeServer));
    command.arg("--key").arg(files.key(Role::EdgeServer).unwrap());
    for name in EdgeSettings::NAMES {
        command.env_remove(name);
    }
    command.env("SERVICE_URL", "https://service.example").env("HOST", "localhost").env("PORT", "0");
    command.env("SERVICE_CA_FILE", files.certificate(Role::ServiceAuthority));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let watchdog = Watchdog::over(&child);
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("edge listening on ").unwrap().parse().unwrap();
    let ca = files.certificate(Role::EdgeAuthority);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(async {
        let endpoint = ServerAddress::resolve(&url, Some(&ca)).await.unwrap();
        send(&endpoint, &Draft::new("GET", "/health"), LIMIT).await.reply.unwrap()
    });
    assert_eq!(answer.status, 200);
    drop(watchdog);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = limited::end(child);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[rstest]
#[case::port("PORT", "80a", r#"PORT "80a" is not a port number"#)]
#[case::port_too_large("PORT", "65536", r#"PORT "65536" is not a port number"#)]
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
    let sink = LogSink::new(move |line| log.push(Stream::Out, line));
    run_program(spec, profile, env, options, sink, until).await
}
