//! Output, files and exit codes of runs against a conforming edge, and against edges with small faults.

use std::path::Path;

use edgeproof_reports::Outcome;
use rstest::rstest;
use serde_json::Value;

use super::support::{Folder, check, seen};
use crate::broken_edge::command;
use crate::limited;

const ONE: &str = "accept.exact-body";

#[test]
fn passing_run_exits_0() {
    let folder = Folder::new();
    let filter = ["conformance", "--filter", "accept.*", "--filter", "http2.*"];
    let plain = folder.seen(&filter);
    let quiet = folder.seen(&[&filter[..], &["--quiet"]].concat());
    let verbose = folder.seen(&[&filter[..], &["--verbose"]].concat());
    check("run_passes", &[plain, quiet, verbose].join("\n"));
    assert!(folder.files().is_empty());
}

#[test]
fn embedded_part_is_named() {
    for (part, case, name) in [
        ("service", "verdict.reference.plain", "mock service"),
        ("keys", "keys.shape", "key set of the mock service"),
        ("edge", ONE, "reference edge"),
    ] {
        let output = Folder::new().run(&["conformance", part, "--filter", case]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(&format!("edgeproof {name} · embedded · ")), "{text}");
    }
}

#[test]
fn commands_of_another_interface_name_it() {
    let folder = Folder::new().with("next.toml", "[[change]]\nid = \"edge.200.accepted\"\nstatus = 201\n");
    let launch = format!("{} edge --listen {{host}}:{{port}}", env!("CARGO_BIN_EXE_edgeproof"));
    let args = [
        "conformance",
        "--spec",
        "next.toml",
        "--filter",
        "accept.*",
        "--filter",
        "relay.body.*",
        "--launch",
        &launch,
    ];
    let text = String::from_utf8(folder.run(&args).stdout).unwrap();
    let commands: Vec<_> =
        text.lines().filter(|line| line.contains("again ") || line.contains("edgeproof explain ")).collect();
    assert!(!commands.is_empty() && commands.iter().all(|line| line.contains("--spec next.toml")), "{text}");
}

#[test]
fn color_option_overrides_terminal_detection() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", ONE, "--color", "always"];
    check("run_in_colour", &folder.seen(&args));
    for (name, value, args) in
        [("NO_COLOR", "1", &args[..3]), ("NO_COLOR", "", &args[..3]), ("FORCE_COLOR", "1", &args[..3])]
    {
        let output = limited::output(folder.command(args).env(name, value));
        assert!(!output.stdout.contains(&0x1b), "colour without a terminal: {name}={value}");
    }
    let output = limited::output(folder.command(&args).env("NO_COLOR", "1"));
    assert!(output.stdout.contains(&0x1b), "--color always shows no colour");
}

#[test]
fn shuffled_cases_are_reported_in_plan_order() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", "accept.*", "--shuffle", "--seed", "7", "--report", "json=r.json"];
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("· seed 7\n"));
    let report = folder.report("r.json");
    assert_eq!((report.seed, report.summary.planned), (7, report.cases.len()));
    let list = folder.run(&["conformance", "--filter", "accept.*", "--list"]).stdout;
    let list = String::from_utf8(list).unwrap();
    let listed: Vec<&str> = list.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(report.cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>(), listed);
}

#[test]
fn repeat_reports_the_first_failure() {
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
    assert!(folder.report("r.json").cases[0].because.starts_with("round 1 of 3: "));
}

#[test]
fn violated_should_fails_only_with_strict() {
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
fn stale_baseline_line_exits_1() {
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
fn changed_pinned_point_exits_1() {
    let folder = Folder::new();
    let run = |args: &[&str]| {
        folder.run(&[&["conformance", "--filter", "health.*", "--filter", "paths.root"], args].concat())
    };
    assert_eq!(run(&["--record", "points.toml"]).status.code(), Some(0));
    let recorded = folder.read("points.toml");
    check("points_recorded", &recorded);
    assert_eq!(run(&["--pin", "points.toml"]).status.code(), Some(0));
    let folder = Folder::new().with("changed.toml", &recorded.replace("200 ", "204 "));
    let args = ["conformance", "--filter", "health.*", "--pin", "changed.toml"];
    let output = folder.run(&args);
    check("run_pin_changed", &shown(&args, &output));
    assert_eq!(output.status.code(), Some(1));
    // A line that is deleted is not pinned.
    let kept: Vec<&str> = recorded.lines().filter(|line| !line.starts_with("\"health.")).collect();
    let folder = Folder::new().with("kept.toml", &kept.join("\n"));
    assert_eq!(
        folder.run(&["conformance", "--filter", "health.*", "--pin", "kept.toml"]).status.code(),
        Some(0)
    );
}

/// A pin that nothing observes asserts nothing.
#[test]
fn filtered_run_names_pins_that_it_does_not_check() {
    let pins =
        "\"health.answer\" = '200 {\"ok\":true}'\n\"paths.root\" = \"404\"\n\"paths.query\" = \"200\"\n";
    let folder = Folder::new().with("points.toml", pins);
    let filtered = ["conformance", "--filter", "health.exists", "--pin", "points.toml"];
    let quiet = [&filtered[..], &["--quiet"]].concat();
    check("run_pins_not_checked", &[folder.seen(&filtered), folder.seen(&quiet)].join("\n"));
}

/// An empty record would assert nothing later. The report of the run is written all the same.
#[test]
fn run_that_observes_nothing_writes_no_record() {
    let folder = Folder::new();
    let args = ["conformance", "--launch", "true", "--filter", "health.*", "--record", "points.toml"];
    let output = folder.run(&[&args[..], &["--report", "json=r.json"]].concat());
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(shown.contains("cannot write the record points.toml: the run observed no open point"), "{shown}");
    assert_eq!((output.status.code(), folder.files()), (Some(3), vec!["r.json".to_owned()]));
}

/// `--quick` leaves out the only case that observes this point, and selects all others.
#[test]
fn unfiltered_run_without_a_pinned_point_is_incomplete() {
    let folder = Folder::new().with("points.toml", "\"vary.type.multipart\" = \"415\"\n");
    let args = ["conformance", "--quick", "--quiet", "--pin", "points.toml"];
    check("run_pin_not_observed", &folder.seen(&args));
}

/// A record that an earlier version wrote.
#[rstest]
#[case::unchanged("405", 0)]
#[case::changed("404", 1)]
fn json_record_can_be_pinned(#[case] status: &str, #[case] code: i32) {
    let record = format!(
        r#"{{"schema": "edgeproof.observations/1", "observations": [{{"point": "paths.websocket", "saw": "{status}"}}]}}"#
    );
    let folder = Folder::new().with("points.json", &record);
    let args = ["conformance", "--filter", "paths.websocket", "--pin", "points.json"];
    assert_eq!(folder.run(&args).status.code(), Some(code));
    let again = folder.run(&["conformance", "--filter", "paths.websocket", "--record", "again.json"]);
    assert_eq!(again.status.code(), Some(0));
    let again: Value = serde_json::from_str(&folder.read("again.json")).unwrap();
    assert_eq!(again["observations"][0]["saw"], "405");
}

/// Neither path nor header is a rule, and both often are a mistake.
#[test]
fn summary_names_open_points_that_often_are_a_mistake() {
    let profile =
        "relay.path = \"/collect\"\nrelay.license-header = \"X-License\"\nrelay.license-scheme = \"\"\n";
    let folder = Folder::new().with("edge.toml", profile);
    let args =
        ["conformance", "--launch", "edgeproof edge --profile edge.toml", "--filter", "credentials.license"];
    let run = |more: &[&str]| on_path(&folder, &[&args[..], more].concat());
    let output = run(&["--record", "points.toml", "--report", "json=r.json"]);
    check("run_often_a_mistake", &seen(&args, &output));
    assert_eq!(output.status.code(), Some(0));
    let report = folder.report("r.json");
    let named: Vec<_> = report.observations.iter().filter(|seen| seen.often_a_mistake.is_some()).collect();
    assert_eq!(named.len(), 3, "{:?}", report.observations);
    // A point that is pinned or in the profile of the run is no mistake.
    for known in [["--pin", "points.toml"], ["--profile", "edge.toml"]] {
        let output = run(&known);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(0) && !text.contains("often a mistake"), "{text}");
    }
}

/// The failure names the row of the rule, and no pin.
#[test]
fn broken_rule_is_named() {
    let next = "[[add]]\nid = \"statement.relay-path\"\nsection = \"4\"\ncondition = \"The edge posts to /v1/verify.\"\n\
                point = \"relay.path\"\nvalue = \"/v1/verify\"\n";
    let folder = Folder::new().with("next.toml", next);
    let args = ["conformance", "--spec", "next.toml", "--filter", "rule.*", "--launch", "edgeproof edge"];
    let run = seen(&args, &on_path(&folder, &args));
    let explained = ["rule.relay.path", "statement.relay-path"]
        .map(|id| folder.seen(&["explain", id, "--spec", "next.toml"]));
    check("run_rule_broken", &[run, explained.join("\n")].join("\n"));
}

#[test]
fn rerun_failed_runs_only_failed_cases() {
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
fn hold_prints_how_to_call_the_edge() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", ONE, "--hold", ONE];
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0));
    check("run_held", &shown(&args, &output));
}

#[test]
fn reports_are_written_without_temporary_files() {
    let folder = Folder::new();
    let args = [
        "conformance",
        "--filter",
        ONE,
        "--quiet",
        "--report",
        "json=r.json",
        "junit=r.xml",
        "--report=html=r.html,markdown=r.md",
    ];
    assert_eq!(folder.run(&args).status.code(), Some(0));
    assert_eq!(folder.files(), ["r.html", "r.json", "r.md", "r.xml"]);
    assert_eq!(folder.report("r.json").exit_code, 0);
}

/// Standard output is the report and nothing else; the terminal's text goes to standard error.
#[test]
fn report_goes_to_standard_output() {
    let folder = Folder::new();
    let output = folder.run(&["conformance", "--filter", ONE, "--report", "json=-", "junit=r.xml"]);
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["exit_code"], 0);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("edgeproof reference edge"), "{text}");
    assert!(text.ends_with("cases selected (exit 0)\n"), "{text}");
    assert_eq!(folder.files(), ["r.xml"]);
}

#[test]
fn target_after_reports_is_a_target() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", "keys.*", "--report", "json=r.json", "html=r.html", "keys"];
    assert_eq!(folder.run(&args).status.code(), Some(0));
    assert_eq!(folder.files(), ["r.html", "r.json"]);
}

/// Runs the program with a PATH on which `--launch` finds it.
fn on_path(folder: &Folder, args: &[&str]) -> std::process::Output {
    let mut command = folder.command(args);
    let program = Path::new(env!("CARGO_BIN_EXE_edgeproof")).parent().unwrap();
    command.env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()));
    limited::output(&mut command)
}

/// Output without the path of the launched program, which differs between machines.
fn shown(args: &[&str], output: &std::process::Output) -> String {
    let args: Vec<&str> = args.iter().map(|arg| if arg.starts_with("env ") { "…" } else { arg }).collect();
    seen(&args, output)
}
