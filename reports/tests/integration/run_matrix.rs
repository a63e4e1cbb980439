//! Several runs side by side.

use edgeproof_reports::comparison::ComparisonError;
use edgeproof_reports::run_matrix::{NamedRun, RunMatrix};
use edgeproof_reports::{CaseReport, Observation, Outcome, Report, ReportedSpec, Summary, Tool};

use crate::hostile_text::elements;
use crate::sample_run::{HOSTILE, case, report, titles};

type Played<'a> = (&'a str, &'a str, &'a [&'a str], Outcome);

fn run(cases: &[Played<'_>], points: &[(&str, &str)], command: &str) -> Report {
    let cases: Vec<_> = cases
        .iter()
        .map(|(id, section, rows, outcome)| {
            let rows = rows.iter().map(|row| (*row).to_owned()).collect();
            CaseReport { rows, ..case(id, section, *outcome) }
        })
        .collect();
    let observation = |(point, observed): &(&str, &str)| Observation {
        point: (*point).to_owned(),
        observed: (*observed).to_owned(),
        ..Observation::default()
    };
    let mut target = report().target;
    target.command = Some(command.to_owned());
    Report {
        target,
        summary: Summary::of(cases.iter().map(|case| case.outcome)),
        cases,
        causes: Vec::new(),
        observations: points.iter().map(observation).collect(),
        ..report()
    }
}

/// Three runs: of two edges, and of an edge with another edgeproof and other tables. `text` is in every place for text.
pub(crate) fn side_by_side(text: &str) -> RunMatrix {
    let (body, large, hidden) = ("statement.body", "statement.large", text);
    let first = run(
        &[
            ("relay.a", "2", &[body], Outcome::Pass),
            ("relay.b", "2", &[body, large], Outcome::Observed),
            ("reason.a", "7.3", &["relay.401"], Outcome::Pass),
            ("other", "10", &[hidden], Outcome::NotApplicable),
        ],
        &[("health.body", "ok"), ("health.status", ""), ("same", text), ("only.here", text)],
        text,
    );
    let second = run(
        &[
            ("relay.a", "2", &[body], Outcome::Fail),
            ("relay.b", "2", &[body, large], Outcome::Pass),
            ("reason.a", "7.3", &["relay.401"], Outcome::Warn),
            ("method.a", "7.2", &["method.get", body], Outcome::Known),
        ],
        &[("health.body", "ok"), ("health.body", text), ("health.status", "200"), ("same", text)],
        "python edge.py",
    );
    let mut third = run(
        &[("relay.a", "2", &[body], Outcome::NotRun), ("relay.b", "2", &[body, large], Outcome::Pass)],
        &[("health.body", "ok"), ("health.status", "200")],
        "node edge.mjs",
    );
    third.tool = Tool { version: "0.0.9".to_owned() };
    third.spec = ReportedSpec { digest: "0123456789abcdef".to_owned(), ..third.spec };
    third.exit_code = 3;
    let runs = [("node", "node.json", &first), (text, "python.json", &second), ("old", text, &third)]
        .map(|(name, file, report)| NamedRun { name, file, report });
    RunMatrix::new(&runs, &titles()).unwrap()
}

#[test]
fn text_shows_what_does_not_pass_in_each_run() {
    insta::assert_snapshot!(side_by_side("a text").to_text());
}

#[test]
fn markdown_folds_rows_in_which_nothing_failed() {
    insta::assert_snapshot!(side_by_side("a text").to_markdown());
}

/// The page without its style.
#[test]
fn page_has_a_column_for_each_run() {
    let html = side_by_side("a text").to_html();
    insta::assert_snapshot!(html.split_once("<body>").unwrap().1);
}

#[test]
fn hostile_text_stays_text_in_each_form() {
    for hostile in [HOSTILE, "</style><script>alert(1)</script>", "\" onload=\"alert(1)", "{{ 7 }}"] {
        let (plain, matrix) = (side_by_side("a text"), side_by_side(hostile));
        assert_eq!(elements(&plain.to_html()), elements(&matrix.to_html()));
        let text = matrix.to_text();
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert_eq!(text.lines().count(), plain.to_text().lines().count(), "{text}");
        let markdown = matrix.to_markdown();
        assert_eq!(markdown.lines().count(), plain.to_markdown().lines().count(), "{markdown}");
        assert!(!markdown.contains("<script") && !markdown.contains('@'), "{markdown}");
    }
}

#[test]
fn one_run_is_a_matrix_and_has_no_differing_point() {
    let report = report();
    let matrix =
        RunMatrix::new(&[NamedRun { name: "a", file: "a.json", report: &report }], &titles()).unwrap();
    assert!(matrix.observations.is_empty() && matrix.to_html().contains("1 run side by side"));
}

#[test]
fn runs_of_other_interfaces_and_parts_stand_in_no_matrix() {
    let (first, mut next, mut keys) = (report(), report(), report());
    next.spec = ReportedSpec { version: "next".to_owned(), digest: "0".to_owned() };
    keys.cases.iter_mut().for_each(|case| case.id.insert_str(0, "keys."));
    let made = |second: &Report| {
        let run = |file, report| NamedRun { name: file, file, report };
        RunMatrix::new(&[run("a.json", &first), run("b.json", second)], &titles()).unwrap_err()
    };
    assert!(matches!(made(&next), ComparisonError::OtherInterface { .. }));
    assert!(matches!(made(&keys), ComparisonError::NothingInCommon { .. }));
}
