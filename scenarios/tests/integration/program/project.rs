//! Load tests of `edgeproof.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use edgeproof_reports::load::{LoadReport, LoadState};
use rstest::rstest;
use tempfile::TempDir;

use crate::support::{MACHINE, ProgramCall};

/// A short run, and one of the verdict endpoint.
const FILE: &str = r#"
[load.checkout]
scenario = "edge-relay"
rate = 80
duration = "500ms"
warm-up = "100ms"
unchecked = true
threshold = ["error-rate<=0%"]
reports = { json = "load.json" }

[load.polls]
scenario = "verdict-polling"
state-header = "Authorization: $NO_SUCH_VARIABLE"
"#;

/// A repository with this file, and a folder in it.
fn project(file: &str) -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".git")).unwrap();
    fs::create_dir(root.path().join("sub")).unwrap();
    fs::write(root.path().join("edgeproof.toml"), file).unwrap();
    let sub = root.path().join("sub");
    (root, sub)
}

fn report(folder: &Path, name: &str) -> LoadReport {
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn load_test_runs_by_its_name_and_the_command_line_goes_first() {
    let _shared = MACHINE.blocking_read();
    let (root, sub) = project(FILE);
    let run = ProgramCall::new("run checkout").within(&sub).output();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.starts_with("using ../edgeproof.toml, load checkout\n"), "{run}");
    let whole = report(root.path(), "load.json");
    // As the file says.
    assert_eq!(whole.state, LoadState::Unchecked);
    let run = ProgramCall::new("run checkout --rate 40 --report json=own.json").within(&sub).output();
    assert_eq!(run.code, Some(0), "{run}");
    let own = report(&sub, "own.json");
    assert_eq!(own.ledger.scheduled * 2, whole.ledger.scheduled);
}

#[test]
fn only_load_test_needs_no_name() {
    let _shared = MACHINE.blocking_read();
    let (root, sub) = project(FILE.split("\n[load.polls]").next().unwrap());
    let run = ProgramCall::new("run --rate 40 --quiet").within(&sub).output();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(report(root.path(), "load.json").ledger.scheduled, 20);
}

#[rstest]
#[case::several("run", FILE, "run checkout | polls")]
#[case::unknown("run chekout", FILE, "did you mean `checkout`?")]
#[case::none("run", "launch = \"node edge.mjs\"\n", "it has no load test")]
#[case::no_scenario("run", "[load.a]\nrate = 1\n", "edgeproof.toml:1: the load test `a` has no `scenario`")]
#[case::scenario("run", "[load.a]\nscenario = \"edge-rely\"\n", "did you mean \"edge-relay\"?")]
#[case::key(
    "run",
    "[load.a]\nscenario = \"journey\"\nrat = 1\n",
    "edgeproof.toml:3: the key `rat` is unknown"
)]
#[case::of_a_run(
    "run",
    "[load.a]\nscenario = \"journey\"\nshards = 2\n",
    "belongs to one run: give it on the command line"
)]
#[case::value("run", "[load.a]\nscenario = \"journey\"\nrate = \"fast\"\n", ":3: `rate`: not a number")]
#[case::kind(
    "run",
    "[load.a]\nscenario = \"journey\"\nthreshold = \"p99<1s\"\n",
    "takes an array of strings"
)]
#[case::conflict(
    "run",
    "[load.a]\nscenario = \"journey\"\nrate = 1\nstages = \"1s:1\"\n",
    "cannot be used with"
)]
#[case::credential(
    "run",
    "[load.a]\nscenario = \"journey\"\nstate-header = \"A: abc\"\n",
    "no place for credentials"
)]
#[case::variable("run polls", FILE, "needs the environment variable NO_SUCH_VARIABLE")]
#[case::option("run checkout --ratee 1", FILE, "unexpected argument")]
#[case::syntax("run", "[load.a\n", "correct the TOML syntax")]
fn wrong_load_test_exits_2_and_runs_nothing(#[case] line: &str, #[case] file: &str, #[case] expected: &str) {
    let (root, sub) = project(file);
    let run = ProgramCall::new(line).within(&sub).output();
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    assert!(run.stderr.replace("\n  ", " ").contains(expected), "{run}");
    assert!(!run.stderr.contains("abc"), "{run}");
    assert!(!root.path().join("load.json").exists());
}

#[test]
fn run_without_a_file_says_where_it_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let run = ProgramCall::new("run").within(folder.path()).output();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("no load test: there is no edgeproof.toml"), "{run}");
}
