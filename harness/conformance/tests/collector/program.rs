//! Summaries, recorded points, and the reference collector. The target `integration` tests arguments and lists.

use crate::limited;
use crate::support::{Folder, check};
use crate::wrapped::folder_with;

const RIGHT: &str = r#"export { create } from "./library.js";"#;

#[test]
fn summary_of_a_passing_run() {
    let args = [
        "conformance",
        "collector",
        "--module",
        "collector.mjs",
        "--filter",
        "mode.*",
        "--filter",
        "abort.*",
    ];
    check("collector_passes", &folder_with(RIGHT).seen(&args));
}

#[test]
fn reference_collector_conforms_in_every_version() {
    for version in ["current", "pre-seal"] {
        let folder = Folder::new();
        let args = ["conformance", "collector", "--spec", version, "--strict", "--report", "json=r.json"];
        let output = folder.run(&args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{version}: {text}");
        let report = folder.report("r.json");
        assert_eq!(report.summary.planned, report.cases.len(), "{version}");
        assert!(report.summary.pass > 80, "{version}: {text}");
    }
}

#[test]
fn behaviour_at_open_points_is_recorded_and_pinned() {
    let folder = folder_with(RIGHT);
    let filter = ["conformance", "collector", "--module", "collector.mjs", "--filter", "mode.observed"];
    let recorded = folder.run(&[&filter[..], &["--record", "points.json"]].concat());
    assert_eq!(recorded.status.code(), Some(0), "{recorded:?}");
    let again = folder.run(&[&filter[..], &["--pin", "points.json"]].concat());
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let points = folder.read("points.json").replace("unknown mode", "no such mode");
    let folder = folder.with("points.json", &points);
    let changed = folder.run(&[&filter[..], &["--pin", "points.json"]].concat());
    assert_eq!(changed.status.code(), Some(1), "{changed:?}");
}

#[test]
fn browser_that_does_not_start_exits_3() {
    let folder = Folder::new();
    let mut command = folder.command(&["conformance", "collector", "--filter", "mode.full"]);
    let output = limited::output(command.env("CHROME", "/nowhere/chromium"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("/nowhere/chromium") && text.contains("incomplete: nothing is proven"), "{text}");
}
