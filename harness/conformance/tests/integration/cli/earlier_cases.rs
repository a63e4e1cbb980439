//! `--cases-of`: the cases of an earlier version of edgeproof.

use std::collections::BTreeSet;

use edgeproof::cases::Releases;
use rstest::rstest;

use super::support::{Folder, check};

/// The first version, whose cases stay the same.
fn first() -> String {
    Releases::builtin().released[0].version.to_string()
}

#[rstest]
fn each_part_lists_the_cases_of_a_version(#[values("edge", "service", "keys", "collector")] part: &str) {
    let folder = Folder::new();
    let list = |more: &[&str]| -> BTreeSet<String> {
        let output = folder.run(&[&["conformance", part, "--list"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let (first, all) = (list(&["--cases-of", &first()]), list(&[]));
    let released = &Releases::builtin().released[0].cases;
    assert!(!first.is_empty() && first.iter().all(|id| released.contains(id)));
    assert_eq!(first, all.into_iter().filter(|id| released.contains(id)).collect());
}

#[test]
fn report_names_the_version_and_each_case_has_its_own() {
    let folder = Folder::new();
    let first = first();
    let filter = ["--filter", "accept.exact-body"];
    let run = |more: &[&str]| {
        folder.run(&[&["conformance", "--report", "json=r.json"], &filter[..], more].concat())
    };
    let output = run(&["--cases-of", &first]);
    assert_eq!(output.status.code(), Some(0));
    let head = format!(" · 1 case of edgeproof {first} · seed ");
    assert!(String::from_utf8(output.stdout).unwrap().contains(&head));
    let report = folder.report("r.json");
    assert_eq!(report.cases_of.map(|version| version.to_string()), Some(first.clone()));
    assert_eq!(report.cases[0].since.map(|since| since.to_string()), Some(first));
    assert_eq!(run(&[]).status.code(), Some(0));
    assert_eq!(folder.report("r.json").cases_of, None);
}

/// A row of an own table has a case in every version.
#[test]
fn cases_of_own_rows_stay() {
    let row = "[[add]]\nid = \"relay.418.teapot\"\nsection = \"7.3\"\nstatus = 418\ncode = \"teapot\"\n\
               condition = \"A teapot.\"\nstimuli = [\"scripted\"]\n";
    let folder = Folder::new().with("next.toml", row);
    let args =
        ["conformance", "--list", "--spec", "next.toml", "--filter", "refusal.418.*", "--cases-of", &first()];
    let output = folder.run(&args);
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("refusal.418.teapot "));
}

#[test]
fn unknown_version_exits_2_with_the_known_ones() {
    let folder = Folder::new();
    let seen = ["0.0.1", "latest"].map(|version| folder.seen(&["conformance", "--cases-of", version]));
    let known: Vec<String> = Releases::builtin().versions().iter().map(ToString::to_string).collect();
    check("cases_of_unknown", &seen.join("\n").replace(&known.join(", "), "VERSIONS"));
}
