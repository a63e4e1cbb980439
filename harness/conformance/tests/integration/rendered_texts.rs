//! Decisions read kinds and values of differences, never their texts.

use std::path::{Path, PathBuf};

/// The texts of a check, mismatch, case or cause.
const TEXTS: [&str; 6] = [".what", ".expected", ".actual", ".hint", ".because", ".fix"];
/// Texts of two mismatches that are compared.
const COMPARED: [&str; 4] = [" == ", " != ", ".eq(", ".cmp("];
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
const FOLDERS: [&str; 8] = [
    "harness/conformance/src",
    "harness/mutants/src",
    "reports/src/model",
    "reports/src/text",
    "reports/src/format",
    "reports/src/comparison",
    "reports/src/matrix",
    "reports/src/run_matrix",
];

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

/// The lines of a source text that read a rendered text, also one that has got a name.
fn reads(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut found = Vec::new();
    for text in TEXTS {
        for (at, _) in code.match_indices(text) {
            let end = at + text.len();
            if is_read(&code[end..]) || is_compared(&code[at..], text) {
                found.push(code[at..].lines().next().unwrap().to_owned());
            } else if let Some(name) = bound(&code[..at], &code[end..]) {
                // Its function ends before the next one begins.
                let rest = code[end..].split("\nfn ").next().unwrap();
                let uses = rest.match_indices(name).filter(|(at, _)| {
                    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                    !rest[..*at].ends_with(is_part) && is_read(&rest[at + name.len()..])
                });
                found.extend(uses.map(|(at, _)| rest[at..].lines().next().unwrap().to_owned()));
            }
        }
    }
    found
}

/// The code after a text, without calls that hand it on.
fn handed_on(rest: &str) -> &str {
    let mut rest = rest.trim_start();
    while let Some(next) = SAME.iter().find_map(|same| rest.strip_prefix(same)) {
        rest = next.trim_start();
    }
    rest
}

fn is_read(rest: &str) -> bool {
    let rest = handed_on(rest);
    // White space before an operator was trimmed.
    READS.iter().any(|read| rest.starts_with(read.trim_start()))
}

/// Whether the text, alone or in a tuple, is compared with that of another value: `a.what == b.what`.
fn is_compared(rest: &str, text: &str) -> bool {
    let statement = rest.split([';', '{', '}']).next().unwrap();
    let Some(at) = COMPARED.iter().filter_map(|compares| statement.find(compares)).min() else {
        return false;
    };
    let (own, other) = statement.split_at(at);
    let is_operand = own.chars().all(|c| c.is_alphanumeric() || " _&.,()".contains(c)) && !own.contains("&&");
    is_operand && other.split("&&").next().unwrap().contains(text)
}

/// The name that a statement gives to a text, as in `let seen = &check.actual;`.
fn bound<'c>(before: &'c str, after: &str) -> Option<&'c str> {
    let statement = before.rsplit([';', '{', '}']).next()?.trim_start();
    let (name, value) = statement.strip_prefix("let ")?.split_once(" = ")?;
    let is_path = value.chars().all(|c| c.is_alphanumeric() || "_&.[]".contains(c));
    let is_end = handed_on(after).starts_with([';', '?']);
    (is_path && is_end && name.chars().all(|c| c.is_alphanumeric() || c == '_')).then_some(name)
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
    assert_eq!(reads("let seen = &check.actual;\nseen.starts_with(\"a\")").len(), 1);
    assert_eq!(reads("let seen = check.actual.as_str();\nif seen == \"none\" {}").len(), 1);
    assert!(reads("let seen = &check.actual;\nlines.push(seen)").is_empty());
    assert_eq!(reads("let end = self.what.strip_suffix(&self.place);").len(), 1);
    assert_eq!(reads("a.what == b.what").len(), 1);
    assert_eq!(reads("(&a.expected, &a.actual, a.level) == (&b.expected, &b.actual, b.level)").len(), 2);
    assert!(reads("let place = (a.what.clone(), b == c);").is_empty());
    assert!(reads("let seen = &check.actual;\nunseen.contains('a')").is_empty());
}
