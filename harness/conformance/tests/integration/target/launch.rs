//! Launched programs: start, readiness and errors.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use edgeproof::cases::Setup;
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, MintOptions, Role};
use edgeproof_http::NoAnswer;
use edgeproof_launch::{Launch, LaunchError, LogLine, Scheme};
use miette::Diagnostic;
use rstest::rstest;
use tokio::time::timeout;

use super::program::{command, entry, get, launch};
use crate::limited;

/// Timeout of each test.
const LIMIT: Duration = Duration::from_secs(20);

fn says(text: &str) -> impl Fn(&[LogLine]) -> bool {
    move |lines| lines.iter().any(|line| line.text.contains(text))
}

/// The error as the program prints it.
fn message(error: &LaunchError) -> String {
    format!("{error}\nhelp: {}", error.help().unwrap())
}

async fn failure(launch: &Launch) -> LaunchError {
    launch.start(&EdgeSettings::default()).await.expect_err("the program is not an edge")
}

#[rstest]
#[case::the_variable_port("serve", "", "PORT")]
#[case::another_variable("serve", "EDGE_PROGRAM_PORT_FROM=EDGE_PORT", "EDGE_PORT")]
#[case::a_word_of_the_command("serve", "EDGE_PROGRAM_PORT_FROM=WORD WORD={port}", "UNUSED")]
#[tokio::test]
async fn program_gets_its_port(#[case] behaviour: &str, #[case] variables: &str, #[case] name: &str) {
    let launch = Launch { port_name: name.parse().unwrap(), ..launch(&command(behaviour, variables)) };
    let edge = launch.start(&EdgeSettings::default()).await.unwrap();
    assert_eq!(edge.endpoint().url().as_str(), format!("http://127.0.0.1:{}/", edge.addr().port()));
    assert_eq!(get(edge.endpoint(), "/anything").await.unwrap().status, 404);
    assert_eq!(edge.exited(), None);
    let log = edge.log().clone();
    let lines = log.wait(0, LIMIT, says("listening on")).await;
    assert!(says(&format!("listening on {}", edge.addr()))(&lines), "{lines:?}");
    edge.stop().await;
}

#[tokio::test]
async fn omitted_settings_are_unset() {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let settings = Setup::NoCaFile.settings(&credentials, &files, "https://127.0.0.1:1").unwrap();
    let edge = launch(&command("settings", "")).start(&settings).await.unwrap();
    let lines = edge.log().wait(0, LIMIT, says("listening on")).await;
    for (name, value) in settings.env() {
        assert!(says(&format!("{name} is {}", value.display()))(&lines), "{lines:?}");
    }
    assert!(says("SERVICE_CA_FILE is absent")(&lines), "{lines:?}");
    assert!(says("HOST is 127.0.0.1")(&lines), "{lines:?}");
    edge.stop().await;
}

#[test]
fn settings_of_the_own_environment_are_not_inherited() {
    let words = entry("target::launch::unset_program_of_other_tests");
    let mut outer = Command::new(&words[0]);
    outer.args(&words[1..]).env("START_WITHOUT_SETTINGS", "yes");
    for name in EdgeSettings::NAMES {
        outer.env(name, "leaked");
    }
    let output = limited::output(outer.env("HOST", "0.0.0.0").env("PORT", "1"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for name in EdgeSettings::NAMES {
        assert!(text.contains(&format!("{name} is absent")), "{text}");
    }
    assert!(text.contains("HOST is 127.0.0.1"), "{text}");
    assert!(!text.contains("leaked"), "{text}");
}

#[tokio::test]
#[ignore = "a program that other tests start"]
async fn unset_program_of_other_tests() {
    std::env::var("START_WITHOUT_SETTINGS").expect("other tests set START_WITHOUT_SETTINGS");
    let edge = launch(&command("settings", "")).start(&EdgeSettings::default()).await.unwrap();
    for line in edge.log().wait(0, LIMIT, says("listening on")).await {
        println!("{}", line.text);
    }
    edge.stop().await;
}

#[tokio::test]
async fn early_exit_is_an_error_with_the_last_output() {
    let error = failure(&launch("sh -c 'echo getting up; echo no thanks >&2; exit 3'")).await;
    let mut lines = error.last_output().to_vec();
    lines.sort(); // Two pipes have no common order.
    assert_eq!(lines, ["getting up", "no thanks"]);
    assert!(matches!(error, LaunchError::ExitedEarly { status, .. } if status.code() == Some(3)));

    let mut messages = String::new();
    for line in ["sh -c 'echo no thanks; exit 3'", "sh -c 'kill -9 $$'", "false"] {
        messages += &message(&failure(&launch(line)).await);
        messages += "\n\n";
    }
    insta::assert_snapshot!("ended_early", messages);
}

#[tokio::test]
async fn program_that_never_listens_is_not_ready() {
    let launch = Launch {
        ready_timeout: Duration::from_millis(200),
        ..launch("sh -c 'printf \"thinking about it\"; exec sleep 600'")
    };
    let error = failure(&launch).await;
    let LaunchError::NotReady { url, observed: NoAnswer::NotConnected(why), .. } = &error else {
        panic!("{error:?}")
    };
    let message = message(&error).replace(url.as_str(), "URL").replace(why, "WHY");
    insta::assert_snapshot!("not_ready", message);
}

#[rstest]
#[case::elsewhere("elsewhere", if cfg!(target_os = "linux") { "it listens on 127.0.0.1:" } else { "it has to listen" })]
#[case::no_http("garbage", "did not answer GET /health in HTTP")]
#[case::no_answer("mute", "did not answer GET /health in HTTP")]
#[tokio::test]
async fn program_without_http_answer_is_not_ready(#[case] behaviour: &str, #[case] advice: &str) {
    let launch = Launch { ready_timeout: Duration::from_secs(1), ..launch(&command(behaviour, "")) };
    let error = failure(&launch).await;
    assert!(matches!(error, LaunchError::NotReady { .. }), "{error:?}");
    assert!(cfg!(not(target_os = "linux")) || message(&error).contains(advice), "{}", message(&error));
}

#[tokio::test]
async fn script_without_interpreter_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("edge");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let error = failure(&launch(script.to_str().unwrap())).await;
    assert!(matches!(error, LaunchError::NotStarted { .. }), "{error:?}");
    assert!(message(&error).contains("check the interpreter"), "{}", message(&error));
}

#[tokio::test]
async fn secrets_in_the_last_output_are_redacted() {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let settings = Setup::Standard.settings(&credentials, &files, "https://127.0.0.1:1").unwrap();
    let launch = launch(r#"sh -c 'echo "license: $LICENSE"; cat "$EDGE_CLIENT_KEY_FILE"; exit 1'"#);
    let error = launch.start(&settings).await.unwrap_err();
    let text = format!("{} {error:?}", message(&error));
    assert!(text.contains("license: [license"), "{text}");
    let key =
        fs::read_to_string(settings.client_key_file.as_deref().map_or(Path::new(""), Path::new)).unwrap();
    let secrets = key.lines().filter(|line| !line.starts_with("--")).chain([settings
        .license
        .as_ref()
        .unwrap()
        .expose()]);
    for secret in secrets {
        assert!(!text.contains(&secret[secret.len() - 20..]), "{text}");
    }
}

#[rstest]
#[case("flood")]
#[case("flood-without-line-ends")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flood_of_output_needs_bounded_memory(#[case] behaviour: &str) {
    let edge = launch(&command(behaviour, "")).start(&EdgeSettings::default()).await.unwrap();
    assert_eq!(get(edge.endpoint(), "/wrote").await.unwrap().status, 404);
    let log = edge.log().clone();
    edge.stop().await;
    let lines = log.since(0);
    assert!(lines.len() <= 20_000);
    assert!(lines.iter().all(|line| line.text.len() <= 16 * 1024));
    assert!(lines.iter().map(|line| line.text.len()).sum::<usize>() <= 4 * 1024 * 1024);
}

#[tokio::test]
async fn exit_of_a_program_is_reported() {
    let edge = launch(&command("serve", "")).start(&EdgeSettings::default()).await.unwrap();
    assert_eq!(edge.exited(), None);
    assert_eq!(get(edge.endpoint(), "/die").await, Err(NoAnswer::Closed));
    let end = timeout(LIMIT, edge.died()).await.unwrap();
    assert_eq!(end.status.code(), Some(7));
    assert!(end.last.contains(&"dying of a request".to_owned()), "{end:?}");
    assert_eq!(edge.exited().unwrap().status, end.status);
    edge.stop().await;
}

#[tokio::test]
async fn https_program_is_ready_when_its_certificate_verifies() {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let path = |path: PathBuf| shell_words::quote(path.to_str().unwrap()).into_owned();
    let certificate = path(files.certificate(Role::EdgeServer));
    let key = path(files.key(Role::EdgeServer).unwrap());
    let line = command("reference", &format!("EDGE_CERT={certificate} EDGE_KEY={key}"));
    let settings = Setup::Standard.settings(&credentials, &files, "https://127.0.0.1:1").unwrap();
    let with = |role| Launch {
        scheme: Scheme::Https,
        ca: Some(files.certificate(role)),
        ready_timeout: Duration::from_secs(2),
        ..launch(&line)
    };

    let edge = with(Role::EdgeAuthority).start(&settings).await.unwrap();
    assert_eq!(edge.endpoint().url().as_str(), format!("https://localhost:{}/", edge.addr().port()));
    assert!(edge.addr().ip().is_loopback() && edge.addr().is_ipv4());
    assert_eq!(get(edge.endpoint(), "/health").await.unwrap().status, 200);
    edge.stop().await;

    let error = with(Role::ServiceAuthority).start(&settings).await.unwrap_err();
    assert!(matches!(error, LaunchError::NotReady { observed: NoAnswer::NoTls(_), .. }), "{error:?}");
    assert!(message(&error).contains("--edge-ca FILE"), "{}", message(&error));
}
