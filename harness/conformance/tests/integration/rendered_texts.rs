//! Decisions read kinds and values of differences, never their texts.

use std::path::{Path, PathBuf};

/// The texts of a check or mismatch.
const TEXTS: [&str; 4] = [".what", ".expected", ".actual", ".hint"];
/// Calls that hand a text on.
const SAME: [&str; 8] = [
    ".as_str()",
    ".as_deref()",
    ".as_ref()",
    ".unwrap_or_default()",
    ".trim()",
    ".unwrap()",
    ".clone()",
    "()",
];
/// Calls and operators that read a text.
const READS: [&str; 16] = [
    ".starts_with(",
    ".ends_with(",
    ".contains(",
    ".split",
    ".rsplit",
    ".strip_",
    ".find(",
    ".matches(",
    ".lines(",
    ".parse",
    ".chars(",
    ".bytes(",
    ".get(",
    " == \"",
    " != \"",
    ".eq_ignore",
];
/// Source files of the crates that judge, explain and show differences. Load reports have none.
const FOLDERS: [&str; 4] =
    ["harness/conformance/src", "harness/mutants/src", "reports/src/text", "reports/src/format"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The lines of a source text that read a rendered text.
fn reads(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut found = Vec::new();
    for text in TEXTS {
        for (at, _) in code.match_indices(text) {
            let mut rest = code[at + text.len()..].trim_start();
            while let Some(next) = SAME.iter().find_map(|same| rest.strip_prefix(same)) {
                rest = next.trim_start();
            }
            // White space before an operator was trimmed.
            if READS.iter().any(|read| rest.starts_with(read.trim_start())) {
                found.push(code[at..].lines().next().unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn no_decision_reads_a_rendered_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = Vec::new();
    for folder in FOLDERS {
        files(&root.join(folder), &mut sources);
    }
    sources.retain(|path| !path.ends_with("tests.rs") && !path.to_string_lossy().ends_with("_tests.rs"));
    assert!(sources.len() > 200, "{} files", sources.len());
    for path in sources {
        let found = reads(&std::fs::read_to_string(&path).unwrap());
        assert!(found.is_empty(), "{} decides by a text: {found:?}", path.display());
    }
}

#[test]
fn reading_a_rendered_text_is_noticed() {
    assert_eq!(reads("may && !check.actual.ends_with(\": *\")").len(), 1);
    assert_eq!(reads("mismatch.what == \"module\"").len(), 1);
    assert_eq!(reads("found.hint.as_deref()\n    .unwrap_or_default().starts_with(\"a\")").len(), 1);
    assert!(reads("lines.push(check.actual.clone())").is_empty());
}
