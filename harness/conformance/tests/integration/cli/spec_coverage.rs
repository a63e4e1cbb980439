//! `edgeproof spec coverage`: which rows several reports prove.

use edgeproof_fixtures::spec::Spec;
use rstest::rstest;

use super::spec_reports::{REPORTS, matrix, report, with_unusable_reports};
use super::support::{Folder, check};

#[test]
fn coverage_adds_reports_by_section_and_lists_rows() {
    let seen = REPORTS.folder().seen(&["spec", "coverage", "edge.json", "service.json"]);
    // Most rows are untested here. A new row or case elsewhere changes none of these lines.
    let kept = ["$", "exit", "section ", "1.3 ", "9.1 ", "failed", "warned", "excluded", "untested"];
    let ids = ["relay.409.", "refusal.", "keys.etag", "keys.shape", "statement.http2", "limit.service-port"];
    let is_kept = |line: &&str| {
        kept.iter().any(|start| line.starts_with(start))
            || ids.iter().any(|id| line.trim_start().starts_with(id))
    };
    check("spec_coverage", &seen.lines().filter(is_kept).collect::<Vec<_>>().join("\n"));
}

#[rstest]
#[case::observes(&[], 0)]
#[case::untested(&["--fail-on", "untested"], 1)]
#[case::failed(&["--fail-on", "failed"], 1)]
#[case::both(&["--fail-on", "failed", "--fail-on", "untested"], 1)]
fn state_of_a_row_can_fail_the_command(#[case] options: &[&str], #[case] code: i32) {
    let args = [&["spec", "coverage", "edge.json", "service.json"], options].concat();
    assert_eq!(REPORTS.folder().run(&args).status.code(), Some(code));
}

#[test]
fn no_failed_row_passes_fail_on_failed() {
    let folder = Folder::new().with("empty.json", &report(&[], Spec::current().digest()));
    let run = folder.run(&["spec", "coverage", "empty.json", "--fail-on", "failed"]);
    assert_eq!(run.status.code(), Some(0));
}

#[rstest]
fn unreadable_report_is_one_message(
    #[values(&["coverage"][..], &["export", "markdown"][..], &["export", "html"][..])] command: &[&str],
) {
    let folder = REPORTS.folder();
    let text = folder.read("edge.json");
    let folder = with_unusable_reports(folder, &text);
    for name in ["missing.json", "cut.json", "other.json", "list.json"] {
        let output = folder.run(&[&["spec"], command, &["edge.json", name]].concat());
        assert_eq!(output.status.code(), Some(2), "{name} {output:?}");
        assert!(output.stdout.is_empty(), "{name} {output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(name) && errors.matches('×').count() == 1, "{errors}");
    }
}

/// After an upgrade of edgeproof an older report still counts; edited tables do not have the name for it.
#[test]
fn report_of_another_release_counts_and_is_named() {
    let folder = REPORTS.folder().with("older.json", &report(&[], "0123456789abcdef"));
    let seen = folder.seen(&["spec", "coverage", "edge.json", "older.json"]);
    let head = seen.split("\n\n").next().unwrap_or_default();
    check("spec_coverage_releases", &head.replace(&Spec::current().digest()[..12], "DIGEST"));
    let page = folder.seen(&["spec", "coverage", "older.json", "--format", "html"]);
    assert!(page.contains("is about other tables of current: digest 0123456789ab, not "), "{page}");
    assert_eq!(folder.run(&["spec", "export", "tables", "mine"]).status.code(), Some(0));
    let path = folder.0.path().join("mine/relay.toml");
    let edited = std::fs::read_to_string(&path).unwrap().replace("\"missing_license\"", "\"no_license\"");
    std::fs::write(&path, edited).unwrap();
    let output = folder.run(&["spec", "coverage", "older.json", "--spec", "./mine"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn same_run_twice_is_one_message() {
    let folder = REPORTS.folder();
    let text = folder.read("edge.json");
    let folder = folder.with("copy.json", &text);
    let seen = ["edge.json", "./edge.json", "copy.json"]
        .map(|name| folder.seen(&["spec", "coverage", "service.json", "edge.json", name]));
    check("spec_coverage_twice", &seen.join("\n"));
}

#[test]
fn mutants_of_a_matrix_are_counted_by_row_and_section() {
    let folder = REPORTS.folder().with("mutants.json", &matrix(Spec::current().digest()));
    let args = ["spec", "coverage", "edge.json", "--matrix", "mutants.json"];
    let seen = folder.seen(&args);
    let kept = ["section ", "7.3 ", "total ", "survived", "  relay.409.replayed-bundle/"];
    let lines = seen.lines().filter(|line| kept.iter().any(|start| line.starts_with(start)));
    // A new row changes the first counts.
    let shown = lines.map(|line| line.split_once("excluded").map_or(line, |(_, after)| after));
    let shown: Vec<_> = shown.map(|line| line.get(line.len().saturating_sub(60)..).unwrap_or(line)).collect();
    check("spec_coverage_mutants", &shown.join("\n"));
}

#[test]
fn page_of_evidence_names_reports_rows_and_mutants() {
    let folder = REPORTS.folder().with("mutants.json", &matrix(Spec::current().digest()));
    let args =
        ["spec", "coverage", "edge.json", "service.json", "--matrix", "mutants.json", "--format", "html"];
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = String::from_utf8(output.stdout).unwrap();
    for row in Spec::current().rows() {
        assert_eq!(page.matches(&format!("id=\"{}\"", row.id)).count(), 1, "{}", row.id);
    }
    for text in
        [Spec::current().digest(), "2026-01-01T00:00:00Z", "embedded", "3 mutants", "there is no entity tag"]
    {
        assert!(page.contains(text), "{text}");
    }
}

#[rstest]
#[case::missing(&[], "missing.json")]
#[case::report(&[], "edge.json")]
#[case::other_interface(&[], "other.json")]
#[case::older(&[], "older.json")]
#[case::twice(&["--matrix", "mutants.json"], "mutants.json")]
fn unusable_matrix_is_one_message(
    #[values(&["coverage", "edge.json"][..], &["diff", "current", "pre-seal", "--static"][..])]
    command: &[&str],
    #[case] before: &[&str],
    #[case] file: &str,
) {
    let digest = Spec::current().digest();
    let folder = REPORTS
        .folder()
        .with("mutants.json", &matrix(digest))
        .with("other.json", &matrix("0123456789abcdef"))
        .with("older.json", &matrix(digest).replace(env!("CARGO_PKG_VERSION"), "0.0.1"));
    let output = folder.run(&[&["spec"], command, before, &["--matrix", file]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains(file) && errors.matches('×').count() == 1, "{errors}");
}

#[test]
fn invalid_reports_name_file_and_reason() {
    let folder = REPORTS.folder();
    let text = folder.read("edge.json");
    let folder = with_unusable_reports(folder, &text);
    let seen =
        ["missing.json", "cut.json", "other.json"].map(|name| folder.seen(&["spec", "coverage", name]));
    let none = folder.seen(&["spec", "coverage"]);
    let digest = Spec::current().digest();
    check("spec_coverage_invalid", &[seen.join("\n"), none].join("\n").replace(digest, "DIGEST"));
}
