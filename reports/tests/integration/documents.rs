//! JUnit, HTML, Markdown and GitHub annotations of the sample run.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use edgeproof_reports::{Event, Format, Github, Outcome, Reader, Titles, render};
use rstest::rstest;
use sha2::{Digest as _, Sha256};

use crate::sample_run::{case, events, report, send, titles};

#[test]
fn junit_shows_every_outcome() {
    insta::assert_snapshot!(render(Format::Junit, &report(), &titles()));
}

#[test]
fn html_shows_every_case() {
    let page = render(Format::Html, &report(), &titles());
    let (_, body) = page.split_once("<body>").unwrap();
    let (body, _) = body.split_once("<script>").unwrap();
    insta::assert_snapshot!(body);
}

#[test]
fn html_admits_its_own_script_and_style_only() {
    let page = render(Format::Html, &report(), &titles());
    let between = |start: &str, end: &str| page.split_once(start).unwrap().1.split_once(end).unwrap().0;
    let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let (style, script) = (between("<style>", "</style>"), between("<script>", "</script>"));
    assert!(script.contains("addEventListener") && style.contains("prefers-color-scheme: dark"));
    assert_eq!(
        between("<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"/>"),
        format!(
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
            source(style),
            source(script)
        )
    );
    assert!(!page.contains(" style=") && !page.contains(" onclick="), "the policy refuses attributes");
}

/// A report that is published elsewhere keeps its links.
#[test]
fn html_has_an_anchor_for_each_case_row_and_cause() {
    let report = report();
    let page = render(Format::Html, &report, &titles());
    let anchors: BTreeSet<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let rows = report.cases.iter().flat_map(|case| &case.rows).map(|row| format!("row-{row}"));
    let cases = report.cases.iter().map(|case| format!("case-{}", case.id));
    let causes = report.causes.iter().map(|cause| format!("cause-{}", cause.id));
    for anchor in rows.chain(cases).chain(causes) {
        assert!(anchors.contains(anchor.as_str()), "{anchor} is missing");
    }
}

#[test]
fn html_runs_each_case_of_a_cause_again() {
    let page = render(Format::Html, &report(), &titles());
    let (_, case) = page.split_once("<div id=\"case-relay.body.number-forms\">").unwrap();
    let (case, _) = case.split_once("</details>\n<details class=\"case").unwrap_or((case, ""));
    let again = "--launch &#34;node my-edge.mjs&#34; --filter relay.body.number-forms</pre>";
    assert!(case.contains(again), "{case}");
}

#[test]
fn markdown_shows_causes_first() {
    insta::assert_snapshot!(render(Format::Markdown, &report(), &titles()));
}

#[test]
fn github_annotates_each_cause_once() {
    let mut out = Vec::new();
    let mut github = Github::new(&mut out);
    send(&events(), &mut github);
    github.finish().unwrap();
    let out = String::from_utf8(out).unwrap();
    insta::assert_snapshot!(out);
    assert!(out.lines().all(|line| line.starts_with("::")), "each command is one line");
    let annotations = out.lines().filter(|line| line.contains("%0Aagain     edgeproof conformance --launch"));
    assert_eq!(annotations.count(), report().causes.len());
}

#[rstest]
#[case(Outcome::Pass, "tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"0\"")]
#[case(Outcome::Warn, "tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"0\"")]
#[case(Outcome::Observed, "tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"0\"")]
#[case(Outcome::Fail, "tests=\"1\" skipped=\"0\" failures=\"1\" errors=\"0\"")]
#[case(Outcome::NotRun, "tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"1\"")]
#[case(Outcome::Known, "tests=\"1\" skipped=\"1\" failures=\"0\" errors=\"0\"")]
#[case(Outcome::NotApplicable, "tests=\"1\" skipped=\"1\" failures=\"0\" errors=\"0\"")]
fn junit_counts_each_outcome(#[case] outcome: Outcome, #[case] counts: &str) {
    let mut report = report();
    report.cases = vec![case("a.case", "2", outcome)];
    let junit = render(Format::Junit, &report, &Titles::new());
    assert!(junit.contains(counts), "{junit}");
}

#[test]
fn markdown_fits_into_a_github_comment() {
    let mut report = report();
    let failed = report.cases[2].clone();
    report.cases = (0..800)
        .map(|n| {
            let mut case = failed.clone();
            case.id = format!("refusal.{n}");
            case.outcome = [Outcome::Fail, Outcome::Warn, Outcome::Known, Outcome::NotRun][n % 4];
            case
        })
        .collect();
    report.summary = edgeproof_reports::Summary::of(report.cases.iter().map(|case| case.outcome));
    let markdown = render(Format::Markdown, &report, &titles());
    assert!(markdown.len() < 65_536, "{} bytes", markdown.len());
    assert!(markdown.contains("more; see the HTML or JSON report"), "omitted cases are mentioned");
}

/// Cases of one cause stand together, after the causes.
#[test]
fn cases_follow_their_causes() {
    let text = render(Format::Markdown, &report(), &titles());
    let texts = [
        "The body is changed",
        "The reason of the service",
        "Failures",
        "relay.body.number-forms",
        "refusal.401.bad",
    ];
    let mut rest = text.as_str();
    for text in texts {
        let at = rest.find(text).unwrap_or_else(|| panic!("{text} is missing after the previous text"));
        rest = &rest[at..];
    }
}

#[test]
fn notices_make_no_annotation() {
    let mut out = Vec::new();
    Github::new(&mut out).read(&Event::Notice("held".to_owned()));
    assert!(out.is_empty());
}
