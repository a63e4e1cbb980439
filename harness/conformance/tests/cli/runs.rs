//! Runs against an edge that is as it should be, or off by a little: what is told, written and returned.

use edgeproof_reports::Outcome;
use serde_json::Value;

use crate::golden::{Folder, check, seen};
use crate::program::command;

const ONE: &str = "accept.exact-body";

#[test]
fn a_run_that_passes() {
    let folder = Folder::new();
    let filter = ["conformance", "--filter", "accept.*", "--filter", "http2.*"];
    let plain = folder.seen(&filter);
    let quiet = folder.seen(&[&filter[..], &["--quiet"]].concat());
    let verbose = folder.seen(&[&filter[..], &["--verbose"]].concat());
    check("run_passes", &[plain, quiet, verbose].join("\n"));
    assert!(folder.files().is_empty());
}

#[test]
fn colours_are_used_where_they_are_wanted() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", ONE, "--color", "always"];
    check("run_in_colour", &folder.seen(&args));
    for (name, value, args) in
        [("NO_COLOR", "1", &args[..3]), ("NO_COLOR", "", &args[..3]), ("FORCE_COLOR", "1", &args[..3])]
    {
        let output = folder.command(args).env(name, value).output().unwrap();
        assert!(!output.stdout.contains(&0x1b), "no terminal, no colours: {name}={value}");
    }
    let output = folder.command(&args).env("NO_COLOR", "1").output().unwrap();
    assert!(output.stdout.contains(&0x1b), "whoever says always means it");
}

#[test]
fn the_seed_makes_the_order() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", "accept.*", "--shuffle", "--seed", "7", "--report", "json=r.json"];
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("· seed 7\n"));
    let report = folder.report("r.json");
    assert_eq!((report.seed, report.summary.planned), (7, report.cases.len()));
    // Whatever order they ran in, they are told in that of the plan.
    let list = folder.run(&["conformance", "--filter", "accept.*", "--list"]).stdout;
    let list = String::from_utf8(list).unwrap();
    let listed: Vec<&str> = list.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(report.cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>(), listed);
}

#[test]
fn a_case_is_played_again_until_it_is_not_right() {
    let folder = Folder::new();
    let right = folder.seen(&["conformance", "--filter", ONE, "--repeat", "3"]);
    check("run_repeated", &right);
    let launch = command("no-allow");
    let args = [
        "conformance",
        "--launch",
        &launch,
        "--filter",
        "method.allow",
        "--repeat",
        "3",
        "--report",
        "json=r.json",
    ];
    assert_eq!(folder.run(&args).status.code(), Some(0));
    assert!(folder.report("r.json").cases[0].because.starts_with("time 1 of 3: "));
}

#[test]
fn a_broken_should_counts_only_where_it_is_asked_to() {
    let folder = Folder::new();
    let launch = command("no-allow");
    let args = ["conformance", "--launch", &launch, "--filter", "method.allow", "--filter", "method.get"];
    let warned = folder.run(&args);
    check("run_warns", &shown(&args, &warned));
    let strict = folder.run(&[&args[..], &["--strict"]].concat());
    assert_eq!((warned.status.code(), strict.status.code()), (Some(0), Some(1)));
    assert!(
        String::from_utf8(strict.stdout)
            .unwrap()
            .ends_with("does not conform: --strict treats warnings as failures (exit 1)\n")
    );
}

#[test]
fn known_failures_are_known_until_they_pass() {
    let folder = Folder::new()
        .with("known.txt", "# ticket 17\nmethod.allow our proxy eats Allow\n")
        .with("stale.txt", "method.get  fixed long ago\n\nno.such.case  was renamed\n");
    let launch = command("no-allow");
    let args = ["conformance", "--launch", &launch, "--filter", "method.*", "--strict"];
    let known = folder.run(&[&args[..], &["--baseline", "known.txt"]].concat());
    let stale = folder.run(&["conformance", "--filter", "method.*", "--baseline", "stale.txt"]);
    let texts = [
        shown(
            &["conformance", "--launch", "…", "--filter", "method.*", "--strict", "--baseline", "known.txt"],
            &known,
        ),
        shown(&["conformance", "--filter", "method.*", "--baseline", "stale.txt"], &stale),
    ];
    check("run_baseline", &texts.join("\n"));
    assert_eq!((known.status.code(), stale.status.code()), (Some(0), Some(1)));
}

#[test]
fn open_points_are_recorded_and_pinned() {
    let folder = Folder::new();
    let run = |args: &[&str]| {
        folder.run(&[&["conformance", "--filter", "health.*", "--filter", "paths.root"], args].concat())
    };
    assert_eq!(run(&["--record", "points.json"]).status.code(), Some(0));
    let recorded = folder.read("points.json");
    check("points_recorded", &recorded);
    assert_eq!(run(&["--pin", "points.json"]).status.code(), Some(0));
    let changed: Value = serde_json::from_str(&recorded.replace("200 ", "204 ")).unwrap();
    let folder = Folder::new().with("changed.json", &changed.to_string());
    let args = ["conformance", "--filter", "health.*", "--pin", "changed.json"];
    let output = folder.run(&args);
    check("run_pin_changed", &shown(&args, &output));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_failed_is_run_again_alone() {
    let folder = Folder::new();
    let launch = command("as-502");
    let args =
        ["conformance", "--launch", &launch, "--filter", "cors.readable.4*", "--report", "json=r.json"];
    assert_eq!(folder.run(&args).status.code(), Some(1));
    let failed = |report: &edgeproof_reports::Report| -> Vec<String> {
        let failed = report.cases.iter().filter(|case| case.outcome == Outcome::Fail);
        failed.map(|case| case.id.clone()).collect()
    };
    let before = failed(&folder.report("r.json"));
    assert_eq!(before.len(), 5, "{before:?}");
    let again = ["conformance", "--rerun-failed", "r.json", "--report", "json=again.json"];
    assert_eq!(folder.run(&again).status.code(), Some(0));
    let report = folder.report("again.json");
    assert_eq!(report.cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>(), before);
}

#[test]
fn a_case_is_held_and_told_how_to_call() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", ONE, "--hold", ONE];
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0));
    check("run_held", &shown(&args, &output));
}

#[test]
fn reports_are_written_whole_and_beside_nothing() {
    let folder = Folder::new();
    let args = [
        "conformance",
        "--filter",
        ONE,
        "--quiet",
        "--report",
        "json=r.json",
        "--report",
        "junit=r.xml",
        "--report",
        "html=r.html",
        "--report",
        "markdown=r.md",
    ];
    assert_eq!(folder.run(&args).status.code(), Some(0));
    assert_eq!(folder.files(), ["r.html", "r.json", "r.md", "r.xml"]);
    assert_eq!(folder.report("r.json").exit_code, 0);
}

/// The launched program's path differs from machine to machine.
fn shown(args: &[&str], output: &std::process::Output) -> String {
    let args: Vec<&str> = args.iter().map(|arg| if arg.starts_with("env ") { "…" } else { arg }).collect();
    seen(&args, output)
}
