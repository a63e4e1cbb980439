//! Targets that exit on a request. The case that sent it fails, what could not run afterwards is not run, and the exit code
//! is 1.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_mock::{ListenerMode, MockService, ServiceOptions};
use edgeproof_reports::{CaseReport, Outcome, Report};
use rstest::rstest;
use tempfile::TempDir;

use super::program::{DIES, INNER, ONCE, command};
use super::watched;
use crate::limited::{self, Watchdog};

/// The variables of a process that dies of a request. `once`: later processes with the same folder live on.
fn dying(folder: &Path, dies: &str, once: bool) -> String {
    let once = if once { format!("{ONCE}={}", folder.join("died").display()) } else { String::new() };
    format!("{DIES}={} {once}", shell_words::quote(dies))
}

/// A process that a shell started, perhaps again after each exit.
struct Mortal {
    child: Child,
    output: BufReader<Box<dyn Read + Send>>,
    url: String,
    _watchdog: Watchdog,
}

impl Mortal {
    /// `settings`: shell text before the command. `dies`: the request that ends the process.
    fn start(folder: &Path, settings: &str, variables: &str, dies: &str, restarts: bool) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program = command("dies", &format!("PORT={port} {variables} {}", dying(folder, dies, true)));
        let again = if restarts { program.as_str() } else { "" };
        let line = format!("{settings} {program}; {again}");
        let mut shell = Command::new("setsid");
        shell.args(["sh", "-c", &line]).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let watchdog = Watchdog::over(&child);
        let output: Box<dyn Read + Send> = Box::new(child.stdout.take().unwrap());
        let mut mortal = Self {
            child,
            output: BufReader::new(output),
            url: format!("http://127.0.0.1:{port}"),
            _watchdog: watchdog,
        };
        mortal.listens();
        mortal
    }

    fn listens(&mut self) {
        let mut line = String::new();
        while !line.starts_with("listening on ") {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "it does not start");
        }
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}

/// A run against a mortal target.
struct Run {
    code: Option<i32>,
    report: Report,
    out: String,
}

impl Run {
    fn start(folder: &TempDir, jobs: &[&str], args: &[&str]) -> Self {
        let args = [&["conformance", "--color", "never", "--report", "json=r.json"], args, jobs].concat();
        let output = limited::output(&mut watched::command(folder.path(), &args));
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let report =
            Report::load(&folder.path().join("r.json")).unwrap_or_else(|why| panic!("{why}: {output:?}"));
        Self { code: output.status.code(), report, out }
    }

    fn these(&self, outcome: Outcome) -> Vec<&CaseReport> {
        self.report.cases.iter().filter(|case| case.outcome == outcome).collect()
    }

    /// The death is the one failure of the run, and this case is to blame.
    fn blames(&self, id: &str, target: &str) {
        let failed: Vec<_> = self.these(Outcome::Fail).iter().map(|case| (&case.id, &case.because)).collect();
        assert_eq!(failed.len(), 1, "{failed:?}\n{}", self.out);
        assert_eq!(failed[0].0, id, "{failed:?}");
        let because = failed[0].1;
        assert!(
            because.starts_with(&format!("{target}: expected keeps running, got it died after ")),
            "{because}"
        );
        assert!(because.contains(id), "{because}");
        assert_eq!((self.code, &self.report.findings[..]), (Some(1), &[][..]), "{}", self.out);
        assert_eq!(self.these(Outcome::Warn).len(), 0);
    }

    /// Everything after the death could not run, and says why.
    fn rest_is_not_run(&self, target: &str) {
        for case in self.these(Outcome::NotRun) {
            assert!(
                case.because.starts_with(&format!("{target} died after ")),
                "{}: {}",
                case.id,
                case.because
            );
        }
    }
}

/// A conforming service, for a mortal front.
async fn service() -> MockService {
    let options = ServiceOptions { mode: ListenerMode::PlainHttp, ..ServiceOptions::default() };
    MockService::start_with(options).await.unwrap()
}

const SERVICE: [&str; 12] = [
    "--filter",
    "verdict.sanity.*",
    "--filter",
    "verdict.reference.*",
    "--filter",
    "verdict.wait.short",
    "--filter",
    "verdict.method.*",
    "--filter",
    "verdict.unauthorized.*",
    "--filter",
    "verdict.isolation.*",
];

async fn run_service(target: &'static str, dies: &str, restarts: bool, jobs: &'static [&'static str]) -> Run {
    let service = service().await;
    let token = service.credentials().read_token(ReadTokenForm::Valid);
    let inner = format!("{INNER}={}", service.addr());
    let dies = dies.to_owned();
    let run = tokio::task::spawn_blocking(move || {
        let folder = tempfile::tempdir().unwrap();
        let mortal = Mortal::start(folder.path(), "", &inner, &dies, restarts);
        let mut args = vec![target, if target == "keys" { "--keys-url" } else { "--base-url" }, &mortal.url];
        if target == "service" {
            args.extend(["--read-token", &token]);
            args.extend(SERVICE);
        } else {
            // The variations send the same requests.
            args.extend(["--exclude", "vary.*"]);
        }
        Run::start(&folder, jobs, &args)
    });
    run.await.unwrap()
}

const ONE: &[&str] = &["--jobs", "1"];
const DEFAULT: &[&str] = &[];

#[rstest]
#[case::first("service", "verdict.sanity.first", "1:-unknown ")]
#[case::middle("service", "verdict.reference.markup", "1:script")]
#[case::malformed("service", "verdict.reference.nul", "1:%00")]
#[case::method("service", "verdict.method.put", "1:PUT ")]
#[case::last("service", "verdict.sanity.last", "2:-unknown ")]
#[case::after_its_answer("service", "verdict.sanity.last", "after:2:-unknown ")]
#[case::first_of_keys("keys", "keys.sanity.first", "2:GET ")]
#[case::middle_of_keys("keys", "keys.head", "1:HEAD ")]
#[case::method_of_keys("keys", "keys.method.put", "1:PUT ")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn death_of_a_service_fails_its_case(
    #[case] target: &'static str,
    #[case] id: &str,
    #[case] dies: &str,
    #[values(ONE, DEFAULT)] jobs: &'static [&'static str],
) {
    let run = run_service(target, dies, false, jobs).await;
    let name = if target == "keys" { "the key set" } else { "the service" };
    run.blames(id, name);
    run.rest_is_not_run(name);
    let is_last = id.ends_with("last");
    assert_eq!(run.these(Outcome::NotRun).is_empty(), is_last, "{}", run.out);
    assert!(!id.ends_with("first") || run.these(Outcome::Pass).is_empty(), "{}", run.out);
}

/// A supervisor starts the service again: later cases run.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_that_comes_back_fails_one_case(#[values(ONE, DEFAULT)] jobs: &'static [&'static str]) {
    let run = run_service("service", "1:PUT ", true, jobs).await;
    run.blames("verdict.method.put", "the service");
    assert!(run.these(Outcome::NotRun).is_empty(), "{}", run.out);
}

/// Settings of `mint edge-settings`, and a port for the mock service.
fn minted(folder: &TempDir) -> &'static str {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let args = ["mint", "edge-settings", "--out", "settings", "--service-port", &port];
    assert!(limited::output(&mut watched::command(folder.path(), &args)).status.success());
    "set -a; . settings/edge/edge.env; set +a;"
}

/// The sanity check posts two collections, and each exclusive case one more.
#[rstest]
#[case::first("sanity.first", "3:POST ")]
#[case::middle("method.put", "1:PUT ")]
#[case::last("sanity.last", "5:POST ")]
fn death_of_an_attached_edge_fails_its_case(
    #[case] id: &str,
    #[case] dies: &str,
    #[values(ONE, DEFAULT)] jobs: &[&str],
) {
    let folder = tempfile::tempdir().unwrap();
    let edge = Mortal::start(folder.path(), minted(&folder), "", dies, false);
    let filters = ["--filter", "sanity.*", "--filter", "method.put"];
    let run =
        Run::start(&folder, jobs, &[&["--url", &edge.url, "--settings", "settings"], &filters[..]].concat());
    run.blames(id, "the edge");
    run.rest_is_not_run("the edge");
    assert_eq!(run.these(Outcome::NotRun).is_empty(), id == "sanity.last", "{}", run.out);
}

/// Other cases use the edge at the same time.
#[rstest]
fn death_among_shared_cases_fails_its_case(#[values(ONE, DEFAULT)] jobs: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let edge = Mortal::start(folder.path(), minted(&folder), "", "1:100-continue", false);
    let filters =
        ["--filter", "relay.*", "--filter", "refusal.*", "--filter", "cors.*", "--filter", "monitor.*"];
    let run =
        Run::start(&folder, jobs, &[&["--url", &edge.url, "--settings", "settings"], &filters[..]].concat());
    run.blames("relay.framing.expect-continue", "the edge");
    run.rest_is_not_run("the edge");
    // Monitors judge whole runs.
    let not_run = run.these(Outcome::NotRun);
    assert!(not_run.iter().any(|case| case.id == "monitor.alive"), "{}", run.out);
}

/// Launched edges are started again, so everything else runs. The filters leave more than one case on the shared edge.
#[rstest]
#[case::first("sanity.first", "3:POST ", true)]
#[case::exclusive("method.invented", "1:EDGEPROOF ", false)]
#[case::exclusive_once("method.invented", "1:EDGEPROOF ", true)]
#[case::shared("relay.framing.expect-continue", "1:100-continue", false)]
#[case::shared_once("relay.framing.expect-continue", "1:100-continue", true)]
#[case::after_its_answer("relay.framing.expect-continue", "after:1:100-continue", false)]
fn death_of_a_launched_edge_fails_its_case(
    #[case] id: &str,
    #[case] dies: &str,
    #[case] once: bool,
    #[values(ONE, DEFAULT)] jobs: &[&str],
) {
    let folder = tempfile::tempdir().unwrap();
    let edge = command("dies", &dying(folder.path(), dies, once));
    // A death that no case repeats is certain only where cases run one at a time.
    let jobs = if once { ONE } else { jobs };
    let filters =
        ["--filter", "sanity.*", "--filter", "relay.*", "--filter", "refusal.*", "--filter", "method.*"];
    let run = Run::start(&folder, jobs, &[&["--launch", &edge], &filters[..]].concat());
    run.blames(id, "the edge");
    assert!(run.these(Outcome::NotRun).is_empty(), "{}", run.out);
    let failed = run.these(Outcome::Fail)[0];
    assert!(failed.because.contains("exit status: 7"), "{}", failed.because);
    let log = &failed.edge.as_ref().unwrap().log;
    assert!(log.contains(&"dying of a request".to_owned()), "{log:?}");
}
