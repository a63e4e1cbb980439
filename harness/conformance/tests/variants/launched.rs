//! Variants as launched programs, with log pipes and a start that takes time. The program is this test executable: an
//! environment variable selects its entry point.

use std::env;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use edgeproof::target::{FaultInjection, Target};
use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_launch::{CommandLine, Launch};
use rstest::rstest;

use crate::conformance_run::{CaseSelection, RunCredentials, mismatches};
use crate::edge_variant::{EdgeVariant, LogFormat};

/// Environment variable with log format, log stream and start delay (ms), such as `json-stdout:400`. If it is unset,
/// `edge_program` does nothing.
const VARIANT: &str = "EDGE_VARIANT";

#[rstest]
#[case::text_to_stderr("text-stderr", 0)]
#[case::json_to_stdout_after_slow_start("json-stdout", 400)]
#[case::among_others_to_stderr("others-stderr", 0)]
#[tokio::test(flavor = "multi_thread")]
async fn launched_variant_conforms(#[case] log: &str, #[case] start: u64) {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let words = [&program, "--exact", "launched::edge_program", "--ignored", "--nocapture", "--quiet"];
    let line = format!("env {VARIANT}={log}:{start} {}", shell_words::join(words));
    let launch =
        Launch { ready_timeout: Duration::from_secs(60), ..Launch::new(CommandLine::parse(&line).unwrap()) };
    let spec = Arc::new(Spec::builtin(Version::Current));
    let (credentials, target) = (RunCredentials::new(), Target::Launched(launch));
    let found = mismatches(&spec, &credentials, target, CaseSelection::All, log).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
#[ignore = "program that other tests launch"]
fn edge_program() {
    let Ok(variant) = env::var(VARIANT) else { return };
    let (log, start) = variant.split_once(':').unwrap();
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

#[expect(clippy::disallowed_methods, reason = "a launched program may block; tests may not")]
fn delay_start(time: Duration) {
    std::thread::sleep(time);
}
