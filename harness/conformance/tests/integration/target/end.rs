//! However an edge ends, none of its processes is left.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use edgeproof_cli::signals;
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_launch::{Launch, LogTail, RunningProgram};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncBufReadExt;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::program::{command, entry, get, is_gone, launch};
use crate::limited::{self, Watchdog};

/// Timeout of each test.
const LIMIT: Duration = Duration::from_secs(20);

async fn start(line: &str) -> RunningProgram {
    launch(line).start(&EdgeSettings::default()).await.unwrap()
}

/// The number after a word in the log.
async fn number(log: &LogTail, word: &str) -> u32 {
    let find = |text: &str| text.strip_prefix(word)?.trim().parse().ok();
    let lines = log.wait(0, LIMIT, |lines| lines.iter().any(|line| find(&line.text).is_some())).await;
    lines.iter().find_map(|line| find(&line.text)).unwrap()
}

/// A program that starts `child` in the background, prints its process id, and becomes an edge.
fn with_child(child: &str) -> String {
    let edge = command("serve", "");
    format!("sh -c {}", shell_words::quote(&format!("{child} & echo child $!; exec {edge}")))
}

/// How an edge ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Stop,
    Drop,
    Panic,
}

async fn end(edge: RunningProgram, end: End) {
    match end {
        End::Stop => edge.stop().await,
        End::Drop => drop(edge),
        End::Panic => {
            let task = tokio::spawn(async move {
                let _edge = edge;
                panic!("a case panics");
            });
            assert!(task.await.unwrap_err().is_panic());
        }
    }
}

#[rstest]
#[tokio::test]
async fn ended_program_is_gone(#[values(End::Stop, End::Drop, End::Panic)] how: End) {
    let edge = start(&command("serve", "")).await;
    let pid = edge.pid();
    assert!(!is_gone(pid));
    end(edge, how).await;
    assert!(is_gone(pid));
}

#[rstest]
#[case::in_its_group("sleep 600")]
#[case::ignores_sigterm("sh -c 'trap \"\" TERM; sleep 600; sleep 600'")]
#[cfg_attr(target_os = "linux", case::in_another_session("setsid sleep 600"))]
#[cfg_attr(target_os = "linux", case::without_pipes("setsid sleep 600 >/dev/null 2>&1"))]
#[tokio::test]
async fn child_of_an_ended_program_is_gone(
    #[case] child: &str,
    #[values(End::Stop, End::Drop, End::Panic)] how: End,
) {
    let launch = Launch { grace: Duration::from_millis(200), ..launch(&with_child(child)) };
    let edge = launch.start(&EdgeSettings::default()).await.unwrap();
    let pid = number(edge.log(), "child ").await;
    assert!(!is_gone(pid));
    end(edge, how).await;
    assert!(is_gone(pid));
}

#[cfg(target_os = "linux")]
#[rstest]
#[tokio::test]
async fn daemon_of_an_ended_program_is_gone(#[values(End::Stop, End::Drop, End::Panic)] how: End) {
    // The child exits at once, so its own child has no parent.
    let daemon = "setsid sh -c 'sleep 600 >/dev/null 2>&1 & echo daemon $!'";
    let edge = start(&with_child(daemon)).await;
    let pid = number(edge.log(), "daemon ").await;
    assert!(!is_gone(pid));
    end(edge, how).await;
    assert!(is_gone(pid));
}

/// A shell command whose worker leaves everything that could tell its origin: session, parent and environment. It ignores
/// SIGTERM, as all that it starts, and prints its process id.
fn worker(body: &str) -> String {
    let worker = format!("trap \"\" TERM; echo worker $$; {body}");
    // The subshell exits at once.
    format!("(setsid env -i PATH=\"$PATH\" sh -c {} &)", shell_words::quote(&worker))
}

/// An edge with such a worker. The edge waits for nothing.
fn with_worker() -> String {
    let line = format!("{}; exec {}", worker("exec sleep 600"), command("serve", ""));
    format!("sh -c {}", shell_words::quote(&line))
}

#[cfg(target_os = "linux")]
#[rstest]
#[tokio::test]
async fn worker_without_session_parent_and_environment_is_gone(
    #[values(End::Stop, End::Drop, End::Panic)] how: End,
) {
    let launch = Launch { grace: Duration::from_millis(200), ..launch(&with_worker()) };
    let edge = launch.start(&EdgeSettings::default()).await.unwrap();
    let pid = number(edge.log(), "worker ").await;
    assert!(!is_gone(pid));
    end(edge, how).await;
    assert!(is_gone(pid));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn worker_of_a_crashed_program_is_gone() {
    let launch = Launch { grace: Duration::from_millis(200), ..launch(&with_worker()) };
    let edge = launch.start(&EdgeSettings::default()).await.unwrap();
    let pid = number(edge.log(), "worker ").await;
    assert!(get(edge.endpoint(), "/die").await.is_err());
    timeout(LIMIT, edge.died()).await.unwrap();
    assert!(!is_gone(pid));
    drop(edge);
    assert!(is_gone(pid));
}

#[cfg(target_os = "linux")]
#[rstest]
#[case::exits("exit 1")]
#[case::never_answers("exec sleep 600")]
#[tokio::test]
async fn worker_of_a_failed_start_is_gone(#[case] after: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("worker");
    // The program goes on only when its worker is there.
    let line = format!(
        "{}; until [ -s {file} ]; do :; done; {after}",
        worker(&format!("echo $$ >{file}; exec sleep 600", file = file.display())),
        file = file.display()
    );
    let launch = Launch {
        grace: Duration::from_millis(200),
        ready_timeout: Duration::from_secs(2),
        ..launch(&format!("sh -c {}", shell_words::quote(&line)))
    };
    launch.start(&EdgeSettings::default()).await.expect_err("the program is not an edge");
    assert!(is_gone(std::fs::read_to_string(file).unwrap().trim().parse().unwrap()));
}

/// SIGTERM comes first, also for a process outside of the program's group.
#[cfg(target_os = "linux")]
#[rstest]
#[tokio::test]
async fn process_in_another_session_can_clean_up(#[values(End::Stop, End::Drop, End::Panic)] how: End) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cleaned");
    let child =
        format!("trap \"echo yes >{}; exit\" TERM; echo ready $$; while :; do :; done", file.display());
    let edge = start(&with_child(&format!("setsid env -i sh -c {}", shell_words::quote(&child)))).await;
    let pid = number(edge.log(), "ready ").await;
    end(edge, how).await;
    assert!(is_gone(pid));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "yes\n");
}

/// Each of two programs in one process ends its own workers only.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn end_of_a_program_keeps_the_worker_of_another() {
    let launch = Launch { grace: Duration::from_millis(200), ..launch(&with_worker()) };
    let settings = EdgeSettings::default();
    let (one, other) = tokio::join!(launch.start(&settings), launch.start(&settings));
    let (one, other) = (one.unwrap(), other.unwrap());
    let (first, second) = tokio::join!(number(one.log(), "worker "), number(other.log(), "worker "));
    one.stop().await;
    assert_eq!((is_gone(first), is_gone(second)), (true, false));
    other.stop().await;
    assert!(is_gone(second));
}

#[tokio::test]
async fn program_that_ignores_sigterm_is_killed_after_the_grace_period() {
    let line =
        format!("sh -c {}", shell_words::quote(&format!("trap '' TERM; exec {}", command("serve", ""))));
    let launch = Launch { grace: Duration::from_millis(200), ..launch(&line) };
    let edge = launch.start(&EdgeSettings::default()).await.unwrap();
    let pid = edge.pid();
    edge.stop().await;
    assert!(is_gone(pid));
}

#[tokio::test]
async fn output_after_sigterm_is_in_the_log() {
    // The launched program exits first. Its child writes afterwards.
    let edge = command("serve", "");
    let exited =
        if cfg!(target_os = "linux") { "until grep -q \") Z\" /proc/$PPID/stat; do :; done;" } else { "" };
    let last = format!("kill $edge; {exited} echo last line; exit");
    let inner = format!("trap '{last}' TERM; {edge} & edge=$!; wait");
    let outer = format!("sh -c {} & wait", shell_words::quote(&inner));
    let edge = start(&format!("sh -c {}", shell_words::quote(&outer))).await;
    let log = edge.log().clone();
    edge.stop().await;
    let lines = log.since(0);
    assert!(lines.iter().any(|line| line.text == "last line"), "{lines:?}");
    // The log has ended: a wait returns at once.
    timeout(LIMIT, log.wait(log.mark(), Duration::MAX, |_| false)).await.unwrap();
}

#[tokio::test]
async fn program_is_gone_when_its_start_is_dropped() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let launch = launch(&command("call", &format!("CALL={}", listener.local_addr().unwrap())));
    let called = async {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::io::BufReader::new(stream).lines().next_line().await.unwrap().unwrap()
    };
    let called = async { timeout(LIMIT, called).await.unwrap() };
    let settings = EdgeSettings::default();
    let pid = tokio::select! {
        edge = launch.start(&settings) => panic!("the program never listens: {edge:?}"),
        pid = called => pid.parse().unwrap(),
    };
    assert!(is_gone(pid));
}

#[test]
fn program_is_gone_when_the_runtime_is_dropped() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        let edge = start(&command("serve", "")).await;
        sender.send(edge.pid()).unwrap();
        edge.died().await;
    });
    let pid = receiver.recv_timeout(LIMIT).unwrap();
    assert!(!is_gone(pid));
    drop(runtime);
    assert!(is_gone(pid));
}

#[rstest]
#[case(Signal::INT, 130)]
#[case(Signal::TERM, 143)]
#[case(Signal::HUP, 129)]
#[case(Signal::QUIT, 131)]
fn program_is_gone_when_a_signal_ends_the_run(#[case] signal: Signal, #[case] code: u8) {
    let words = entry("target::end::interrupted_program_of_other_tests");
    let mut run = Command::new(&words[0])
        .args(&words[1..])
        .env("RUN_UNTIL_INTERRUPTED", "yes")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let _watchdog = Watchdog::over(&run);
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut pid = |word: &str| lines.find_map(|line| line.strip_prefix(word)?.parse().ok()).unwrap();
    let (edge, worker) = (pid("edge "), pid("worker "));
    assert!(!is_gone(edge) && !is_gone(worker));
    kill_process(Pid::from_child(&run), signal).unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(limited::wait(&mut run).success());
    assert!(rest.contains(&format!("exit code {code}")), "{rest:?}");
    assert!(is_gone(edge) && is_gone(worker));
}

#[tokio::test]
#[ignore = "a program that other tests start"]
async fn interrupted_program_of_other_tests() {
    std::env::var("RUN_UNTIL_INTERRUPTED").expect("other tests set RUN_UNTIL_INTERRUPTED");
    let interrupted = signals::interrupted().unwrap();
    let run = async {
        let line = if cfg!(target_os = "linux") { with_worker() } else { with_child("sleep 600") };
        let launch = Launch { grace: Duration::from_millis(200), ..launch(&line) };
        let edge = launch.start(&EdgeSettings::default()).await.unwrap();
        println!("edge {}", edge.pid());
        let word = if cfg!(target_os = "linux") { "worker " } else { "child " };
        println!("worker {}", number(edge.log(), word).await);
        edge.died().await
    };
    tokio::select! {
        end = run => panic!("{end}"),
        signal = interrupted => println!("exit code {}", signal.exit_code()),
    }
}
