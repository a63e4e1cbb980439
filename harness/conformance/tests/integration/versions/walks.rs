//! The walks of docs/interface-changes.md, with its overlays, commands and quoted output, and the recipe `spec-change`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::mock_program::edgeproof;

/// Text of a file of this repository.
fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// The blocks of a language in a document.
fn blocks<'t>(document: &'t str, language: &str) -> Vec<&'t str> {
    let fenced = document.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// Inline code of a text without blocks.
fn inline(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " ")).collect()
}

/// A folder with the overlays of the document: `next.toml`, and `rule.toml`, which makes an open point a rule.
fn folder(document: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let [next, rule] = blocks(document, "toml")[..] else { panic!("two overlays are expected") };
    fs::write(folder.path().join("next.toml"), next).unwrap();
    fs::write(folder.path().join("rule.toml"), rule).unwrap();
    folder
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs a command of the document in its folder.
fn run(folder: &TempDir, command: &str) -> (Option<i32>, String) {
    let words = shell_words::split(command).unwrap();
    let [program, arguments @ ..] = &words[..] else { panic!("{command}") };
    assert_eq!(program, "edgeproof");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = edgeproof(&arguments).current_dir(folder.path()).output().unwrap();
    (output.status.code(), shown(&output))
}

/// A new reason and another status: one overlay has both.
#[test]
fn first_two_walks_print_what_the_document_shows() {
    let document = text("docs/interface-changes.md");
    let folder = folder(&document);
    let compare = "edgeproof spec diff current next.toml";
    assert!(blocks(&document, "sh").iter().any(|block| block.trim() == compare), "{compare}");
    let (code, printed) = run(&folder, compare);
    assert_eq!(code, Some(0), "{printed}");
    let walks = document.split("\n## Three changes\n").nth(1).unwrap();
    let [first, second] = ["**A new reason code.**", "**Another status.**"]
        .map(|title| inline(walks.split(title).nth(1).unwrap().split("\n\n").next().unwrap()));
    let quoted: Vec<_> =
        first.iter().chain(&second).filter(|code| code.contains(": ") && !code.contains('=')).collect();
    assert_eq!(quoted.len(), 3, "{quoted:?}");
    for quote in quoted {
        let start = quote.split('…').next().unwrap();
        assert!(printed.contains(start), "{start} is not in\n{printed}");
    }
    // The launched edge is the reader's own: ours stands for it.
    let filtered = first
        .iter()
        .find(|code| code.starts_with("edgeproof conformance"))
        .unwrap()
        .replace(" --launch …", "");
    let (code, printed) = run(&folder, &filtered);
    assert!(code == Some(0) && printed.contains("7.3 Reasons of the service"), "{printed}");
    let whole = second.iter().find(|code| code.starts_with("edgeproof conformance")).unwrap();
    let (code, printed) = run(&folder, &format!("{whole} --filter 'unreachable.port-closed'"));
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn third_walk_has_the_case_that_the_document_names() {
    let document = text("docs/interface-changes.md");
    let folder = folder(&document);
    let (_, printed) = run(&folder, "edgeproof spec diff current rule.toml");
    assert!(printed.contains("edge: breaking (1 of 1 case: rule.relay.path)"), "{printed}");
    assert!(document.contains("the case `rule.relay.path` judges"));
    let (code, printed) = run(&folder, "edgeproof conformance --spec rule.toml --filter rule.relay.path");
    assert!(code == Some(0) && printed.contains("1 planned · 1 pass"), "{printed}");
}

/// The recipe as `just` runs it: its script, with our program.
#[test]
fn spec_change_leads_through_a_change() {
    let document = text("docs/interface-changes.md");
    let folder = folder(&document);
    let recipes = text("justfile");
    let recipe = recipes.split("\nspec-change NEXT ").nth(1).unwrap().split("\n\n").next().unwrap();
    let lines = recipe.lines().skip(1).map(|line| line.strip_prefix("    ").unwrap());
    let script =
        lines.collect::<Vec<_>>().join("\n").replace("{{ edgeproof }}", env!("CARGO_BIN_EXE_edgeproof"));
    let run = |next: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", &script, "spec-change", next, "current", "snapshots"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        shown(&output)
    };
    for _ in 0..2 {
        // The old snapshots are written once, and the differences stay until the new ones are written.
        let printed = run("next.toml");
        for part in [
            "edge: breaking (16 of 17 cases",
            "edge.502.service-unreachable.http",
            "snapshot snapshots --spec next.toml",
        ] {
            assert!(printed.contains(part), "{part} is not in\n{printed}");
        }
    }
    let written = PathBuf::from("snapshots/edge.502.service-unreachable.http");
    assert!(fs::read_to_string(folder.path().join(written)).unwrap().contains("502"));
}
