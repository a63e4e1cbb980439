//! `edgeproof report show`: a saved run in each format.

use edgeproof_fixtures::spec::Spec;
use rstest::rstest;

use super::spec_reports::{REPORTS, report, with_unusable_reports};
use super::support::{Folder, check};
use crate::broken_edge::command;

/// Each format is what the run itself wrote, and the text is what it printed.
#[test]
fn saved_run_is_shown_as_the_run_was() {
    let folder = Folder::new();
    let launch = command("hands-on");
    let formats = ["json=r.json", "junit=r.junit", "html=r.html", "markdown=r.markdown"];
    let filter = ["--filter", "refusal.409.*", "--filter", "accept.exact-body", "--filter", "health.*"];
    let args = [&["conformance", "--launch", &launch], &filter[..], &["--report"], &formats].concat();
    let printed = folder.run(&args);
    assert_eq!(printed.status.code(), Some(1));
    for format in ["json", "junit", "html", "markdown"] {
        let shown = folder.run(&["report", "show", "r.json", "--as", format]);
        assert_eq!((shown.status.code(), shown.stderr), (Some(0), Vec::new()), "{format}");
        assert!(shown.stdout == folder.read(&format!("r.{format}")).into_bytes(), "{format} differs");
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let shown = text(folder.run(&["report", "show", "r.json"]).stdout);
    assert_eq!(shown, text(printed.stdout).replace("--report html=FILE", "--as html"));

    let details = text(folder.run(&["report", "show", "r.json", "--details"]).stdout);
    assert!(details.contains("\nFailures\n\nfail  refusal.409.replayed-bundle\n"), "{details}");
}

#[test]
fn report_show_help_lists_formats_and_exit_codes() {
    check("help_report_show", &Folder::new().seen(&["report", "show", "--help"]));
}

#[test]
fn embedded_part_is_named_by_its_cases() {
    let folder = REPORTS.folder();
    let head = |name: &str| {
        let text = String::from_utf8(folder.run(&["report", "show", name]).stdout).unwrap();
        text.lines().next().unwrap().split(" · ").next().unwrap().to_owned()
    };
    assert_eq!(head("edge.json"), "edgeproof reference edge");
}

#[rstest]
fn invalid_report_is_one_message(#[values("text", "html", "markdown", "junit", "json")] format: &str) {
    let whole = report(&[("accept.exact-body", "edge.200.accepted", "pass", "")], Spec::current().digest());
    let folder = with_unusable_reports(Folder::new(), &whole)
        .with("load.json", &whole.replace("edgeproof.report/1", "edgeproof.load/1"));
    for name in ["missing.json", "cut.json", "newer.json", "load.json", "list.json"] {
        let output = folder.run(&["report", "show", name, "--as", format]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout), (Some(2), Vec::new()), "{errors}");
        assert!(errors.contains(name) && errors.matches('×').count() == 1, "{errors}");
    }
}

#[test]
fn wrong_options_of_report_show_exit_2() {
    let folder = REPORTS.folder();
    let commands: [&[&str]; 3] = [
        &["report", "show", "edge.json", "--as", "pdf"],
        &["report", "show", "edge.json", "--as", "html", "--details"],
        &["report", "show"],
    ];
    check("report_show_invalid", &commands.map(|args| folder.seen(args)).join("\n"));
}
