//! `edgeproof conformance` with `--explore`, `--save` and `--replay`.

use std::fs;

use edgeproof::cases::explore::sequence::{generate, render};
use edgeproof_reports::{Outcome, Report};
use tempfile::TempDir;

use super::fake_target::edge_model;
use crate::limited;
use crate::tested_program;

fn conform(folder: &TempDir, args: &[&str]) -> Report {
    let mut command = tested_program::edgeproof();
    command.args(["conformance", "--report", "json=r.json"]).args(args).current_dir(folder.path());
    let output = limited::output(command.env_remove("GITHUB_STEP_SUMMARY"));
    let path = folder.path().join("r.json");
    assert!(path.exists(), "{output:?}");
    let report = Report::load(&path).unwrap();
    assert_eq!(output.status.code(), Some(i32::from(report.exit_code)), "{output:?}");
    assert_eq!(report.summary.planned, report.cases.len());
    report
}

fn write_sequence(folder: &TempDir, number: u32) -> String {
    let model = edge_model();
    let (name, text) = render(&model, &generate(&model, 5, number));
    fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
    name
}

#[test]
fn sequences_are_cases_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let names = [write_sequence(&folder, 1), write_sequence(&folder, 2)];
    let files = names.clone().map(|name| format!("{name}.toml"));
    let report = conform(
        &folder,
        &[
            "--explore",
            "3",
            "--seed",
            "9",
            "--save",
            "found/here",
            "--replay",
            &files[0],
            "--replay",
            &files[1],
            "--filter",
            "explore.*",
            "--filter",
            "replay.*",
            "--filter",
            "accept.exact-body",
        ],
    );
    let outcomes: Vec<_> = report.cases.iter().map(|case| (case.id.as_str(), case.outcome)).collect();
    let replays = names.map(|name| format!("replay.{name}"));
    assert_eq!(
        outcomes,
        [
            ("accept.exact-body", Outcome::Pass),
            ("explore.edge", Outcome::Pass),
            (replays[0].as_str(), Outcome::Pass),
            (replays[1].as_str(), Outcome::Pass),
        ]
    );
    assert!(folder.path().join("found/here").is_dir());
}

#[test]
fn launched_edge_passes_random_and_saved_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{}.toml", write_sequence(&folder, 3));
    let launch = format!("{} edge", shell_words::quote(env!("CARGO_BIN_EXE_edgeproof")));
    let args = ["--launch", &launch, "--explore", "20", "--seed", "1", "--replay", &file];
    let selection = ["--filter", "explore.*", "--filter", "replay.*", "--filter", "monitor.*"];
    let report = conform(&folder, &[&args[..], &selection].concat());
    let problems: Vec<_> =
        report.cases.iter().filter(|case| case.outcome != Outcome::Pass).map(|case| &case.because).collect();
    assert_eq!((report.exit_code, report.cases.len()), (0, 11), "{problems:?}");
}

#[test]
fn seed_repeats_the_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let steps = || {
        let report = conform(&folder, &["--explore", "5", "--seed", "77", "--filter", "explore.*"]);
        report.cases[0].actual.clone()
    };
    assert_eq!(steps(), steps());
}
