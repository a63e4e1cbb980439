//! Shell lines that the program or the documentation prints, as they are. The tests of `mock_program` check the rest without
//! curl.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;

use crate::limited;
use crate::mock_program::{GUIDE, Mock};

/// Runs lines in a shell with `edgeproof` in its PATH.
fn shell(lines: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_edgeproof")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let paths = std::iter::once(program).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).unwrap();
    limited::output(Command::new("sh").args(["-euc", lines]).current_dir(folder).env("PATH", path))
}

fn succeeds(lines: &str, folder: &Path) -> String {
    let output = shell(lines, folder);
    assert!(output.status.success(), "{lines}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[rstest]
#[case::with_tls(&[])]
#[case::without(&["--plain", "127.0.0.1:0"])]
#[ignore = "needs curl: just test-browser"]
fn printed_curl_command_works(#[case] more: &[&str]) {
    let mut mock = Mock::start(&[&["--listen", "127.0.0.1:0"], more].concat());
    let block = mock.printed("curl ");
    let curl = block.lines().last().unwrap();
    let verdict = succeeds(&format!("{curl} --silent --show-error"), Path::new("/"));
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!((&verdict["ref"], &verdict["decision"]), (&"magic.verdict-ready".into(), &"allow".into()));
    // The whole block is valid shell text.
    let license =
        succeeds(&format!("{} >&2 2>/dev/null\necho \"$LICENSE\"", block.trim_end()), Path::new("/"));
    assert!(license.starts_with("service_license_"), "the block sets LICENSE");
    mock.stop();
}

#[test]
#[ignore = "needs curl and Node: just test-browser"]
fn session_of_the_guide_works() {
    let blocks: Vec<_> =
        GUIDE.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let walk = blocks.into_iter().find(|block| block.contains("mint collection --mock")).unwrap();
    let folder = TempDir::new().unwrap();
    // A failing line must not leave the mock service running.
    let lines = format!("trap 'kill $! 2>/dev/null || true' EXIT\n{walk}\nwait");
    let printed = succeeds(&lines, folder.path());
    let (edge, claims) = printed.split_once('\n').map_or((printed.as_str(), ""), |(edge, rest)| (edge, rest));
    let (edge, claims) = match edge.strip_prefix(r#"{"ok":true}"#) {
        Some(rest) => (r#"{"ok":true}"#, format!("{rest}{claims}")),
        None => (edge, claims.to_owned()),
    };
    assert_eq!(edge, r#"{"ok":true}"#, "{printed}");
    let claims: Value = serde_json::from_str(claims.trim().strip_prefix("true ").unwrap()).unwrap();
    assert_eq!(claims["sub"], "order 4711");
    let log = fs::read_to_string(folder.path().join("mock.log")).unwrap();
    let endpoints: Vec<_> =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["endpoint"].clone()).collect();
    assert_eq!(endpoints, ["relay", "verdict", "keys"]);
}

/// The lines of the guide work one after the other, at the admin port of a mock service.
#[test]
#[ignore = "needs curl: just test-browser"]
fn admin_commands_of_the_guide_work() {
    let mut mock = Mock::start(&["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--json"]);
    let ready = mock.ready();
    let lines: Vec<_> = GUIDE.lines().filter(|line| line.starts_with("curl http://127.0.0.1:8484")).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let script = lines.join("\n").replace("http://127.0.0.1:8484", ready["admin"].as_str().unwrap());
    let printed = succeeds(&script.replace("curl ", "curl -sSf "), Path::new("/"));
    let [script, clock, journal] = printed.lines().collect::<Vec<_>>()[..] else { panic!("{printed}") };
    assert!(script.contains(r#""skip":1"#) && clock.contains("ahead") | clock.contains("now"), "{printed}");
    assert!(journal.starts_with(r#"{"entries":[]"#), "{printed}");
    mock.stop();
}
