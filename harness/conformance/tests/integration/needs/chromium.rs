//! Test targets that open a browser are not compiled by default. For each an ignored test stands in the default output.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use edgeproof_browser::find_chromium;
use toml::{Table, Value};

use crate::limited;

/// For each target a test of its name that finds the Chromium which the target starts, and the list of all targets.
macro_rules! targets {
    ($($name:ident: $package:literal $target:literal,)*) => {
        const TARGETS: &[(&str, &str)] = &[$(($package, $target)),*];

        $(
            #[test]
            #[ignore = "needs Chromium: just test-browser"]
            fn $name() {
                finds_chromium();
            }
        )*
    };
}

targets! {
    browser_of_edgeproof_browser: "edgeproof-browser" "browser",
    collector_of_edgeproof: "edgeproof" "collector",
    journey_of_edgeproof_browser: "edgeproof-browser" "journey",
    report_page_of_edgeproof_browser: "edgeproof-browser" "report_page",
}

/// Prints the version of the Chromium that the tests would start.
#[track_caller]
fn finds_chromium() {
    let executable = find_chromium(None)
        .unwrap_or_else(|why| panic!("{why}\n{}", miette::Diagnostic::help(&why).unwrap()));
    let output = limited::output(Command::new(&executable).arg("--version"));
    let version = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && version.contains("Chrom"), "{}: {output:?}", executable.display());
    println!("{}: {}", executable.display(), version.trim());
}

fn manifest(folder: &Path) -> Table {
    let file = folder.join("Cargo.toml");
    let text = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    text.parse().unwrap()
}

/// Folders of the workspace's members. `harness/*` is every package in the folder.
fn members(root: &Path) -> Vec<std::path::PathBuf> {
    let workspace = manifest(root);
    let patterns =
        workspace["workspace"]["members"].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
    let folders = patterns.flat_map(|pattern| match pattern.strip_suffix("/*") {
        Some(parent) => {
            let entries = fs::read_dir(root.join(parent)).unwrap().map(|entry| entry.unwrap().path());
            entries.filter(|folder| folder.join("Cargo.toml").is_file()).collect()
        }
        None => vec![root.join(pattern)],
    });
    folders.collect()
}

#[test]
fn each_test_target_with_required_features_has_an_ignored_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut optional = BTreeSet::new();
    for folder in members(&root) {
        let manifest = manifest(&folder);
        let package = manifest["package"]["name"].as_str().unwrap();
        let targets = manifest.get("test").and_then(Value::as_array).into_iter().flatten();
        for target in targets.filter(|target| target.get("required-features").is_some()) {
            optional.insert((package.to_owned(), target["name"].as_str().unwrap().to_owned()));
        }
    }
    let listed: BTreeSet<_> =
        TARGETS.iter().map(|(package, name)| (package.to_string(), name.to_string())).collect();
    assert_eq!(optional, listed, "add a line to `targets!` in {}", file!());
}

/// CI fails with this test when a target is left out.
#[test]
fn recipe_runs_each_of_these_targets() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/test-browser");
    let script = fs::read_to_string(script).unwrap();
    for (_, name) in TARGETS {
        assert!(
            script.contains(&format!(" --test {name} ")),
            ".ci/test-browser does not run `--test {name}`"
        );
    }
}
