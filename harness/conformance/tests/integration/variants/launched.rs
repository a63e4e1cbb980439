//! Variants as launched programs, with log pipes and a start that takes time. The program is this test executable: an
//! environment variable selects its entry point.

use std::env;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_launch::{CommandLine, Launch};
use edgeproof_targets::{FaultInjection, Target};
use rstest::rstest;

use super::conformance_run::{CaseSelection, RunCredentials, ids, mismatches};
use super::edge_variant::{EdgeVariant, LogFormat};

/// Environment variable with log format, log stream, start delay (ms) and what the program needs to start (optional),
/// such as `json-stdout:400:service`.
const VARIANT: &str = "EDGE_VARIANT";

#[rstest]
#[case::text_to_stderr("text-stderr", 0)]
#[case::json_to_stdout_after_slow_start("json-stdout", 400)]
#[case::among_others_to_stderr("others-stderr", 0)]
#[tokio::test(flavor = "multi_thread")]
async fn launched_variant_conforms(#[case] log: &str, #[case] start: u64) {
    let found = run(&format!("{log}:{start}"), CaseSelection::All).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn edge_that_does_not_start_without_its_service_is_warned() {
    let found = run("text-stderr:0:service", CaseSelection::Starts).await;
    assert!(ids(&found, "edge Fail ").is_empty(), "{}", found.join("\n"));
    let warned = ids(&found, "edge Warn ");
    assert_eq!(warned.len(), found.len(), "{}", found.join("\n"));
    assert!(warned.contains(&"unreachable.name-unresolved") && warned.contains(&"unreachable.port-closed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn edge_that_does_not_start_without_license_fails() {
    let found = run("text-stderr:0:license", CaseSelection::Starts).await;
    let failed = ["credentials.end-to-end.without-license", "credentials.page-authorization"];
    assert_eq!(ids(&found, "edge Fail "), failed, "{}", found.join("\n"));
}

/// Mismatches of this variant as a launched program.
async fn run(variant: &str, cases: CaseSelection) -> Vec<String> {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let words = [
        &program,
        "--exact",
        "variants::launched::edge_program_of_other_tests",
        "--ignored",
        "--nocapture",
        "--quiet",
    ];
    let line = format!("env {VARIANT}={variant} {}", shell_words::join(words));
    let launch =
        Launch { ready_timeout: Duration::from_secs(60), ..Launch::new(CommandLine::parse(&line).unwrap()) };
    let spec = Arc::new(Spec::builtin(Version::Current));
    let (credentials, target) = (RunCredentials::new(), Target::Launched(launch));
    mismatches(&spec, &credentials, target, cases, "edge").await
}

#[test]
#[ignore = "a program that other tests start"]
fn edge_program_of_other_tests() {
    let variant = env::var(VARIANT).expect("other tests set the variant");
    let mut words = variant.split(':');
    let (log, start) = (words.next().unwrap(), words.next().unwrap());
    let starts = match words.next() {
        Some("service") => reaches_service(&env::var("SERVICE_URL").unwrap()),
        Some("license") => env::var_os("LICENSE").is_some(),
        _ => true,
    };
    assert!(starts, "a setting is wrong");
    let (format, stream) = log.split_once('-').unwrap();
    let log = match format {
        "json" => LogFormat::Json,
        "others" => LogFormat::AmongOthers,
        _ => LogFormat::Text,
    };
    let sink = match stream {
        "stderr" => LogSink::new(|line| eprintln!("{line}")),
        _ => LogSink::new(|line| println!("{line}")),
    };
    delay_start(Duration::from_millis(start.parse().unwrap()));
    let listen = SocketAddr::from(([127, 0, 0, 1], env::var("PORT").unwrap().parse().unwrap()));
    let settings = EdgeSettings::from_env(|name| env::var(name).ok());
    let spec = Arc::new(Spec::builtin(Version::Current));
    let mut options = EdgeOptions { listen, ..EdgeOptions::new(spec, settings, sink) };
    EdgeVariant { log, ..EdgeVariant::default() }.edge(&mut options);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let _edge = Edge::start(options).await.unwrap();
        std::future::pending::<()>().await;
    });
}

fn reaches_service(url: &str) -> bool {
    let url = url::Url::parse(url).unwrap();
    url.socket_addrs(|| None).is_ok_and(|addrs| std::net::TcpStream::connect(&addrs[..]).is_ok())
}

#[expect(clippy::disallowed_methods, reason = "a launched program may block; tests may not")]
fn delay_start(time: Duration) {
    std::thread::sleep(time);
}
