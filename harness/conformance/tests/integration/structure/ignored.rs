//! Tests are ignored because they need a program, and `just test-browser` runs them.

use std::path::Path;

use super::imports::sources_of;

/// Programs that not every machine has.
const PROGRAMS: [&str; 8] =
    ["Chromium", "Node", "Python", "curl", "curl and Node", "faketime", "git", "pytest"];

/// Reason and end of the name of a test function that other tests start. The recipe skips it by this end.
const STARTED_BY_TESTS: (&str, &str) = ("a program that other tests start", "_program_of_other_tests");

#[test]
fn ignored_tests_name_the_program_that_they_need() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut found, mut wrong) = (0, Vec::new());
    for folder in ["fixtures", "reports", "harness", "scenarios"] {
        for (file, text) in sources_of(&root, &root.join(folder)) {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("#[ignore")) {
                found += 1;
                let reason = line.split('"').nth(1).unwrap_or_default();
                let name =
                    lines[at..].iter().find_map(|line| line.split_once("fn ")).map_or("", |(_, name)| name);
                let name = name.split('(').next().unwrap_or_default();
                let is_started = reason == STARTED_BY_TESTS.0;
                let is_needed =
                    PROGRAMS.iter().any(|program| reason == format!("needs {program}: just test-browser"));
                if !(is_started || is_needed) || is_started != name.ends_with(STARTED_BY_TESTS.1) {
                    wrong.push(format!("{file}:{}: `{name}` is ignored: {reason:?}", at + 1));
                }
            }
        }
    }
    assert!(found > 5, "{found} ignored tests were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
