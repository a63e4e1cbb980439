//! The same as programs: logs go through pipes, and a start takes time. The program is this very executable, told by a
//! variable to be an edge.

use std::env;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use edgeproof::target::Target;
use edgeproof_edge::style::{Log, LogTo, Style};
use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_launch::{CommandLine, Launch};
use rstest::rstest;

use crate::played::{Cases, Ground, blamed};

/// Says how to log, and how long to take; without it, the entry point below does nothing.
const STYLE: &str = "EDGE_STYLE";

#[rstest]
#[case::text_to_stderr("text-stderr", 0)]
#[case::json_to_stdout_after_a_slow_start("json-stdout", 400)]
#[case::among_others_to_stderr("others-stderr", 0)]
#[tokio::test(flavor = "multi_thread")]
async fn as_a_program(#[case] style: &str, #[case] start: u64) {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let words = [&program, "--exact", "launched::edge_program", "--ignored", "--nocapture", "--quiet"];
    let line = format!("env {STYLE}={style}:{start} {}", shell_words::join(words));
    let launch =
        Launch { ready_timeout: Duration::from_secs(60), ..Launch::new(CommandLine::parse(&line).unwrap()) };
    let spec = Arc::new(Spec::builtin(Version::Current));
    let blamed = blamed(&spec, &Ground::new(), Target::Launched(launch), Cases::All, style).await;
    assert!(blamed.is_empty(), "{}", blamed.join("\n"));
}

#[test]
#[ignore = "a program for other tests to start"]
fn edge_program() {
    let Ok(style) = env::var(STYLE) else { return };
    let (style, start) = style.split_once(':').unwrap();
    let (log, to) = style.split_once('-').unwrap();
    let style = Style {
        log: match log {
            "json" => Log::Json,
            "others" => Log::AmongOthers,
            _ => Log::Text,
        },
        log_to: if to == "stderr" { LogTo::Stderr } else { LogTo::Stdout },
        ..Style::default()
    };
    pause(Duration::from_millis(start.parse().unwrap()));
    let listen = SocketAddr::from(([127, 0, 0, 1], env::var("PORT").unwrap().parse().unwrap()));
    let settings = EdgeSettings::from_env(|name| env::var(name).ok());
    let log = LogSink::new(move |line| match style.log_to {
        LogTo::Stdout => println!("{line}"),
        LogTo::Stderr => eprintln!("{line}"),
    });
    let spec = Arc::new(Spec::builtin(Version::Current));
    let options = EdgeOptions { listen, style, ..EdgeOptions::new(spec, settings, log) };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let _edge = Edge::start(options).await.unwrap();
        std::future::pending::<()>().await;
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the program that takes its time, not a test that waits"
)]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
