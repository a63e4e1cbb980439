//! The examples for test runners of other languages, as a user copies them into a project.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::limited;

/// Copies an example into a project, and runs its tests. Yields their output.
fn tested(example: &str, runner: &[&str], edgeproof: &str) -> (bool, String) {
    let folder = TempDir::new().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples").join(example);
    for file in fs::read_dir(source).unwrap().map(Result::unwrap) {
        if file.file_type().unwrap().is_file() {
            fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
    }
    let temporary = TempDir::new().unwrap();
    let mut command = Command::new(runner[0]);
    command.args(&runner[1..]).current_dir(folder.path()).env("TMPDIR", temporary.path());
    let output = limited::output(command.env("EDGEPROOF", edgeproof).env_remove("NODE_TEST_CONTEXT"));
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_mock = |path: &&std::path::PathBuf| path.to_string_lossy().contains("edgeproof-mock");
    assert!(!left.iter().any(|path| is_mock(&path)), "the mock service was not stopped: {left:?}");
    (output.status.success(), text)
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_edgeproof");

#[test]
#[ignore = "needs pytest: just test-browser"]
fn pytest_example_passes() {
    let runner = ["python3", "-m", "pytest", "-q"];
    let (passes, text) = tested("pytest", &runner, PROGRAM);
    assert!(passes && text.contains("3 passed"), "{text}");
    let (passes, text) = tested("pytest", &runner, "false");
    assert!(!passes && text.contains("false ended before it was ready"), "{text}");
}

#[test]
#[ignore = "needs Node: just test-browser"]
fn node_example_passes() {
    let runner = ["node", "--test", "--test-reporter=tap"];
    let (passes, text) = tested("node", &runner, PROGRAM);
    assert!(passes && text.contains("# pass 3"), "{text}");
    let (passes, text) = tested("node", &runner, "false");
    assert!(!passes && text.contains("edgeproof mock ended before it was ready"), "{text}");
}

/// A failed assertion prints the fixture, and no credential with it.
#[test]
#[ignore = "needs pytest: just test-browser"]
fn failing_test_shows_no_token() {
    let folder = TempDir::new().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/pytest/conftest.py");
    fs::copy(source, folder.path().join("conftest.py")).unwrap();
    fs::write(folder.path().join("test_it.py"), "def test_it(mock):\n    assert mock == mock.url\n").unwrap();
    let mut command = Command::new("python3");
    command.args(["-m", "pytest", "-q", "--showlocals"]).current_dir(folder.path());
    let output = limited::output(command.env("EDGEPROOF", PROGRAM));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("1 failed") && !text.contains("service_read_") && !text.contains("service_license_"),
        "{text}"
    );
}
