//! Targets that exit on a request. The case that sent it fails, what could not run afterwards is not run, and the exit code
//! is 1.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_mock::{ListenerMode, MockService, ServiceOptions};
use edgeproof_reports::{CaseReport, Outcome, Report};
use rstest::rstest;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::program::{DIES, INNER, ONCE, command};
use super::watched;
use crate::held_port::HeldPort;
use crate::limited::{self, Watchdog};
use crate::together::together;

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
    /// Nobody else gets its port while it starts again.
    _port: HeldPort,
    _watchdog: Watchdog,
}

impl Mortal {
    /// `settings`: shell text before the command. `dies`: the request that ends the process.
    fn start(folder: &Path, settings: &str, variables: &str, dies: &str, restarts: bool) -> Self {
        let held = HeldPort::new();
        let port = held.number();
        let program = command("dies", &format!("PORT={port} {variables} {}", dying(folder, dies, true)));
        // A restart that takes less than the tolerance of refused connections is no death.
        let again = if restarts { format!("sleep 1; {program}") } else { String::new() };
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
            _port: held,
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

fn run_service(target: &str, dies: &str, restarts: bool, jobs: &[&str]) -> Run {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(service());
    let token = service.credentials().read_token(ReadTokenForm::Valid);
    let inner = format!("{INNER}={}", service.addr());
    let folder = tempfile::tempdir().unwrap();
    let mortal = Mortal::start(folder.path(), "", &inner, dies, restarts);
    let mut args = vec![target, if target == "keys" { "--keys-url" } else { "--base-url" }, &mortal.url];
    if target == "service" {
        args.extend(["--read-token", &token]);
        args.extend(SERVICE);
    } else {
        // The variations send the same requests.
        args.extend(["--exclude", "vary.*"]);
    }
    Run::start(&folder, jobs, &args)
}

const ONE: &[&str] = &["--jobs", "1"];
const DEFAULT: &[&str] = &[];

/// Both numbers of jobs for each case.
fn with_jobs<C: Copy>(cases: &[C]) -> impl Iterator<Item = (C, &'static [&'static str])> {
    cases.iter().flat_map(|case| [(*case, ONE), (*case, DEFAULT)])
}

/// Target, case to blame, and the request that ends the process. A run waits seconds until a target counts as gone.
const OF_SERVICES: [(&str, &str, &str); 9] = [
    ("service", "verdict.sanity.first", "1:-unknown "),
    ("service", "verdict.reference.markup", "1:script"),
    ("service", "verdict.reference.nul", "1:%00"),
    ("service", "verdict.method.put", "1:PUT "),
    ("service", "verdict.sanity.last", "2:-unknown "),
    ("service", "verdict.sanity.last", "after:2:-unknown "),
    ("keys", "keys.sanity.first", "2:GET "),
    ("keys", "keys.head", "1:HEAD "),
    ("keys", "keys.method.put", "1:PUT "),
];

#[test]
fn death_of_a_service_fails_its_case() {
    together(with_jobs(&OF_SERVICES), |((target, id, dies), jobs)| {
        let run = run_service(target, dies, false, jobs);
        let name = if target == "keys" { "the key set" } else { "the service" };
        run.blames(id, name);
        run.rest_is_not_run(name);
        let is_last = id.ends_with("last");
        assert_eq!(run.these(Outcome::NotRun).is_empty(), is_last, "{}", run.out);
        assert!(!id.ends_with("first") || run.these(Outcome::Pass).is_empty(), "{}", run.out);
    });
}

/// A supervisor starts the service again: later cases run.
#[rstest]
fn service_that_comes_back_fails_one_case(#[values(ONE, DEFAULT)] jobs: &'static [&'static str]) {
    let run = run_service("service", "1:PUT ", true, jobs);
    run.blames("verdict.method.put", "the service");
    assert!(run.these(Outcome::NotRun).is_empty(), "{}", run.out);
}

/// Settings of `mint edge-settings`, and a port for the mock service.
fn minted(folder: &TempDir, port: &HeldPort) -> &'static str {
    let port = port.number().to_string();
    let args = ["mint", "edge-settings", "--out", "settings", "--service-port", &port];
    assert!(limited::output(&mut watched::command(folder.path(), &args)).status.success());
    "set -a; . settings/edge/edge.env; set +a;"
}

/// Case to blame, and the request that ends the process. The sanity check posts two collections, and each exclusive case
/// one more.
const OF_ATTACHED_EDGES: [(&str, &str); 3] =
    [("sanity.first", "3:POST "), ("method.put", "1:PUT "), ("sanity.last", "5:POST ")];

#[test]
fn death_of_an_attached_edge_fails_its_case() {
    together(with_jobs(&OF_ATTACHED_EDGES), |((id, dies), jobs)| {
        let folder = tempfile::tempdir().unwrap();
        let port = HeldPort::new();
        let edge = Mortal::start(folder.path(), minted(&folder, &port), "", dies, false);
        let filters = ["--filter", "sanity.*", "--filter", "method.put"];
        let args = [&["--url", &edge.url, "--settings", "settings"], &filters[..]].concat();
        let run = Run::start(&folder, jobs, &args);
        run.blames(id, "the edge");
        run.rest_is_not_run("the edge");
        assert_eq!(run.these(Outcome::NotRun).is_empty(), id == "sanity.last", "{}", run.out);
    });
}

/// Other cases use the edge at the same time.
#[rstest]
fn death_among_shared_cases_fails_its_case(#[values(ONE, DEFAULT)] jobs: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let port = HeldPort::new();
    let edge = Mortal::start(folder.path(), minted(&folder, &port), "", "1:100-continue", false);
    let filters =
        ["--filter", "relay.*", "--filter", "refusal.*", "--filter", "cors.*", "--filter", "monitor.*"];
    let args = [&["--url", &edge.url, "--settings", "settings"], &filters[..]].concat();
    let run = Run::start(&folder, jobs, &args);
    run.blames("relay.framing.expect-continue", "the edge");
    run.rest_is_not_run("the edge");
    // Monitors judge whole runs.
    let not_run = run.these(Outcome::NotRun);
    assert!(not_run.iter().any(|case| case.id == "monitor.alive"), "{}", run.out);
}

/// Case to blame, the request that ends the process, and whether it ends only one process.
const OF_LAUNCHED_EDGES: [(&str, &str, bool); 6] = [
    ("sanity.first", "3:POST ", true),
    ("method.invented", "1:EDGEPROOF ", false),
    ("method.invented", "1:EDGEPROOF ", true),
    ("relay.framing.expect-continue", "1:100-continue", false),
    ("relay.framing.expect-continue", "1:100-continue", true),
    ("relay.framing.expect-continue", "after:1:100-continue", false),
];

/// Launched edges are started again, so everything else runs. The filters leave more than one case on the shared edge.
#[test]
fn death_of_a_launched_edge_fails_its_case() {
    // A death that no case repeats is certain only where cases run one at a time.
    let cases = with_jobs(&OF_LAUNCHED_EDGES).filter(|((.., once), jobs)| !once || *jobs == ONE);
    together(cases, |((id, dies, once), jobs)| {
        let folder = tempfile::tempdir().unwrap();
        let edge = command("dies", &dying(folder.path(), dies, once));
        let filters =
            ["--filter", "sanity.*", "--filter", "relay.*", "--filter", "refusal.*", "--filter", "method.*"];
        let run = Run::start(&folder, jobs, &[&["--launch", &edge], &filters[..]].concat());
        run.blames(id, "the edge");
        assert!(run.these(Outcome::NotRun).is_empty(), "{}", run.out);
        let failed = run.these(Outcome::Fail)[0];
        assert!(failed.because.contains("exit status: 7"), "{}", failed.because);
        let log = &failed.edge.as_ref().unwrap().log;
        assert!(log.contains(&"dying of a request".to_owned()), "{log:?}");
    });
}
