//! Documents about an interface: two versions compared, and what reports prove of one.

use edgeproof_reports::ReportedSpec;
use edgeproof_reports::interface::{
    ChangedPart, ChangedRow, ChangedValue, Class, Coverage, CoveredReport, CoveredRow, CoveredSection,
    EvidenceCounts, MutantCounts, OwnerItems, RowState, SpecDiff, TextForm, WireLine,
};

use crate::hostile_text::elements;
use crate::sample_run::HOSTILE;

#[test]
fn comparison_is_text_for_a_terminal() {
    insta::assert_snapshot!(diff("a text").to_text(TextForm::Terminal));
}

#[test]
fn comparison_is_markdown_for_a_pull_request() {
    insta::assert_snapshot!(diff("a text").to_text(TextForm::Markdown));
}

#[test]
fn comparison_is_a_page() {
    insta::assert_snapshot!(body(&diff("a text").to_html()));
}

#[test]
fn equal_versions_are_no_difference_in_every_form() {
    let mut equal = diff("");
    equal.new = equal.old.clone();
    (equal.changes, equal.points) = (Vec::new(), Vec::new());
    for text in [equal.to_text(TextForm::Terminal), equal.to_text(TextForm::Markdown), equal.to_html()] {
        assert!(text.contains("no difference"), "{text}");
    }
}

#[test]
fn coverage_is_text_for_a_terminal() {
    insta::assert_snapshot!(coverage("a text").to_text());
}

#[test]
fn coverage_is_a_page_of_evidence() {
    insta::assert_snapshot!(body(&coverage("a text").to_html()));
}

#[test]
fn coverage_without_a_matrix_counts_no_mutants() {
    let mut without = coverage("a text");
    without.matrices.clear();
    assert!(!without.to_html().contains("mutants") && !without.to_text().contains("mutants"));
}

#[test]
fn hostile_text_stays_text_on_every_page() {
    for hostile in
        [HOSTILE, "</style><script>alert(1)</script>", "\" onload=\"alert(1)", "\u{202e}\u{0}{{ 7 }}"]
    {
        for (plain, page) in [
            (diff("a text").to_html(), diff(hostile).to_html()),
            (coverage("a text").to_html(), coverage(hostile).to_html()),
        ] {
            assert_eq!(elements(&page), elements(&plain), "{page}");
            assert!(page.contains("default-src 'none'"), "the page may load and run nothing");
            assert!(!page.contains("url("), "the page loads nothing");
        }
        let texts = [diff(hostile).to_text(TextForm::Terminal), coverage(hostile).to_text()];
        assert!(texts.iter().all(|text| !text.contains(|c: char| c.is_control() && c != '\n')));
    }
}

/// The page without its style.
fn body(html: &str) -> String {
    html.split_once("<body>").unwrap().1.to_owned()
}

fn version(name: &str) -> ReportedSpec {
    ReportedSpec { version: name.into(), digest: format!("{:0>12}", name.len()) }
}

/// A comparison with changes of every kind. `text`: in each place for text from outside.
fn diff(text: &str) -> SpecDiff {
    let part = |part, class, because: &str| ChangedPart { part, class, because: format!("{because} {text}") };
    let value = |name: &str| ChangedValue { name: name.into(), old: format!("old {text}"), new: text.into() };
    SpecDiff {
        old: version("current"),
        new: ReportedSpec { version: format!("next {text}"), ..version("next") },
        changes: vec![
            ChangedRow {
                id: format!("edge.502.service-unreachable{text}"),
                kind: "changed",
                was: Some(format!("edge.502.unreachable {text}")),
                condition: text.into(),
                parts: vec![
                    part("edge", Class::Breaking, "13 of 13 cases: unreachable.port-closed"),
                    part("service", Class::Compatible, "1 case passed"),
                ],
                target: Some("the target follows the old version"),
                fields: vec![value("status")],
                wire: vec![WireLine::Old(text.into()), WireLine::New(format!("503 {text}"))],
                mutants: vec![format!("edge.502.service-unreachable/status {text}")],
            },
            ChangedRow {
                id: "relay.401.bad-footer".into(),
                kind: "removed",
                parts: vec![part("edge", Class::Untested, "the new version has nothing to play")],
                ..ChangedRow::default()
            },
        ],
        points: vec![value("relay.path")],
        owners: vec![OwnerItems {
            heading: format!("what the owner of an edge does {text}"),
            items: vec![text.into()],
        }],
        touched: vec![format!("added cases: {text}")],
        not_run: vec![format!("accept.exact-body: no answer {text}")],
        notes: vec![format!("accepted: relay.401.bad-footer: {text}")],
    }
}

/// Evidence with rows of every state. `text`: in each place for text from outside.
fn coverage(text: &str) -> Coverage {
    let mutants = MutantCounts { planted: 3, killed: 1, noticed: 1 };
    let counts = EvidenceCounts { cases: 2, varied: 30, mutants };
    let row = |state: RowState| CoveredRow {
        id: format!("row.{}{text}", state.name()),
        section: "7.2".into(),
        level: "must",
        authority: format!("standard, {text}"),
        condition: text.into(),
        state,
        why: vec![format!("a.case: {text}"), text.into()],
        counts: if state == RowState::Untested { EvidenceCounts::default() } else { counts },
        survived: if state == RowState::Proven { vec![text.into()] } else { Vec::new() },
    };
    let section = |heading: &str, states: &[RowState]| CoveredSection {
        heading: format!("{heading} {text}"),
        rows: states.iter().copied().map(row).collect(),
        counts,
    };
    Coverage {
        name: text.into(),
        spec: version("current"),
        reports: vec![CoveredReport {
            part: "edge".into(),
            target: format!("launched {text}"),
            started: "2026-01-01T00:00:00Z".into(),
            tool: text.into(),
            summary: "3 planned · 3 pass".into(),
            other_tables: Some("0123456789ab".into()),
        }],
        matrices: vec![format!("3 mutants × 2 cases {text}")],
        sections: vec![
            section("7.2 Answers of the edge", RowState::ALL),
            section("8 Limits", &[RowState::Excluded]),
        ],
        total: counts,
    }
}
