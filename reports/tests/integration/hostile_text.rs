//! Text from outside never breaks a document, whatever it contains.

use edgeproof_reports::difference::DifferenceKind;
use edgeproof_reports::{
    CaseBasis, CaseLevel, CaseReport, Cause, Confirmation, EdgeNotes, Exchange, Format, Github, Hop,
    Mismatch, Observation, Outcome, Report, Summary, Terminal, TerminalOptions, Titles, render,
};
use proptest::prelude::*;
use quick_xml::events::Event as Xml;

use crate::sample_run::{HOSTILE, report};

/// Any text, and text composed of sequences that formats and terminals interpret.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\x1b[31m",
        "\u{9b}",
        "\0",
        "\r",
        "\n",
        "\t",
        "\u{202e}",
        "\u{ffff}",
        "\u{feff}",
        "::error::",
        "::",
        " ",
        "]]>",
        "<![CDATA[",
        "<!--",
        "-->",
        "</pre>",
        "</script>",
        "</details>",
        "&amp;",
        "&#0;",
        "&",
        "\"",
        "'",
        "```",
        "````",
        "|",
        "@all",
        "# ",
        "%0A",
        ",",
        "plain",
        "日本",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat()),
        Just(HOSTILE.to_owned())
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(Outcome::ALL.to_vec())
}

fn level() -> impl Strategy<Value = CaseLevel> {
    prop::sample::select(vec![CaseLevel::Must, CaseLevel::Should, CaseLevel::Open])
}

fn mismatch() -> impl Strategy<Value = Mismatch> {
    (text(), text(), text(), prop::option::of(text()), level(), text()).prop_map(
        |(what, expected, actual, hint, level, point)| Mismatch {
            place: what.clone(),
            difference: Some(
                DifferenceKind::Pin {
                    rule: None,
                    point,
                    expected: vec![expected.as_str().into()],
                    actual: Some(actual.as_str().into()),
                }
                .into(),
            ),
            what,
            expected,
            actual,
            hint,
            advice: Vec::new(),
            level,
        },
    )
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let hop = prop::sample::select(vec![Hop::ClientEdge, Hop::EdgeService]);
    (hop, text(), text()).prop_map(|(hop, request, response)| Exchange { hop, request, response })
}

fn any_case() -> impl Strategy<Value = CaseReport> {
    let facts = (text(), text(), text(), prop::option::of(text()), prop::collection::vec(text(), 0..3));
    let ending = (outcome(), level(), text(), text(), text(), text());
    let evidence = (
        prop::collection::vec(mismatch(), 0..3),
        prop::collection::vec((text(), text()), 0..3),
        prop::collection::vec(exchange(), 0..3),
        prop::option::of((prop::collection::vec(text(), 0..3), prop::collection::vec(text(), 0..3))),
    );
    (facts, ending, evidence, any::<u32>()).prop_map(|(facts, ending, evidence, duration)| {
        let (id, title, section, standard, rows) = facts;
        let (outcome, level, because, expected, actual, reproduce) = ending;
        let (mismatches, observations, exchanges, edge) = evidence;
        let observations = observations.into_iter().map(observation).collect();
        let edge = edge.map(|(settings, log)| EdgeNotes { settings, log });
        let (basis, duration_us) = (CaseBasis::Standard, u64::from(duration));
        let confirmed = Some(Confirmation::OnlyAfter(vec![id.clone(), title.clone()]));
        CaseReport {
            id,
            title,
            section,
            level,
            basis,
            standard,
            rows,
            since: None,
            outcome,
            because,
            expected,
            actual,
            mismatches,
            observations,
            duration_us,
            varied: duration_us,
            reproduce,
            confirmed,
            exchanges,
            edge,
        }
    })
}

/// An observation with one text for all its values.
fn observation((point, observed): (String, String)) -> Observation {
    let text = Some(observed.clone());
    Observation { point, profile: text.clone(), often_a_mistake: text, observed }
}

/// A cause with one text everywhere, of one of the cases and of one that does not exist.
fn cause(text: &str, at: prop::sample::Index, mismatch: usize, cases: &[CaseReport]) -> Cause {
    let id = if cases.is_empty() { text.to_owned() } else { at.get(cases).id.clone() };
    let text = text.to_owned();
    let mut frameworks = report().causes.swap_remove(0).frameworks;
    frameworks[0].name.clone_from(&text);
    frameworks[1].fix.clone_from(&text);
    Cause {
        id: text.clone(),
        title: text.clone(),
        row: text.clone(),
        level: CaseLevel::Must,
        confidence: 0.5,
        cases: vec![id, "no.such.case".to_owned()],
        passed: vec![text.clone()],
        mismatch,
        explanation: text.clone(),
        fix: text.clone(),
        frameworks,
        rerun: text,
    }
}

fn any_report() -> impl Strategy<Value = Report> {
    let cases = prop::collection::vec(any_case(), 0..4);
    let observed = prop::collection::vec((text(), text()), 0..3);
    let findings = prop::collection::vec(text(), 0..3);
    let causes = prop::collection::vec((text(), any::<prop::sample::Index>(), 0_usize..3), 0..3);
    (cases, causes, observed, findings, text(), any::<u64>(), any::<u8>()).prop_map(
        |(cases, causes, observed, findings, target, seed, exit_code)| {
            let causes =
                causes.iter().map(|(text, at, mismatch)| cause(text, *at, *mismatch, &cases)).collect();
            let mut report = Report { cases, causes, findings, seed, exit_code, ..report() };
            report.summary = Summary::of(report.cases.iter().map(|case| case.outcome));
            report.observations = observed.into_iter().map(observation).collect();
            report.unchecked_pins = report.observations.iter().map(|seen| seen.point.clone()).collect();
            report.target.command = Some(target);
            report
        },
    )
}

/// Names of the elements, in order. Panics unless the text is well-formed XML without invalid characters.
pub(crate) fn elements(xml: &str) -> Vec<String> {
    assert!(!xml.contains(|c: char| (c.is_control() && c != '\n') || u32::from(c) & 0xfffe == 0xfffe));
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut names, mut open) = (Vec::new(), 0_usize);
    loop {
        match reader.read_event().unwrap() {
            Xml::Start(tag) => {
                open += 1;
                names.push(String::from_utf8(tag.name().0.to_vec()).unwrap());
                tag.attributes().for_each(|attribute| drop(attribute.unwrap()));
            }
            Xml::Empty(tag) => {
                names.push(String::from_utf8(tag.name().0.to_vec()).unwrap());
                tag.attributes().for_each(|attribute| drop(attribute.unwrap()));
            }
            Xml::End(_) => open -= 1,
            Xml::GeneralRef(name) => {
                let name = name.decode().unwrap();
                assert!(
                    name.starts_with('#') || ["amp", "lt", "gt", "quot", "apos"].contains(&name.as_ref())
                );
            }
            Xml::Comment(_) | Xml::CData(_) | Xml::PI(_) => panic!("reports contain no such markup"),
            Xml::Eof => break,
            Xml::Text(_) | Xml::Decl(_) | Xml::DocType(_) => {}
        }
    }
    assert_eq!(open, 0);
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn junit_is_well_formed(report in any_report()) {
        let xml = render(Format::Junit, &report, &Titles::new());
        elements(&xml);
        let read = quick_junit::Report::deserialize_from_str(&xml).unwrap();
        prop_assert_eq!(read.tests, report.cases.len());
        prop_assert_eq!(read.failures, report.summary.fail);
        prop_assert_eq!(read.errors, report.summary.not_run);
    }

    #[test]
    fn html_is_well_formed_without_foreign_elements(report in any_report()) {
        let page = render(Format::Html, &report, &Titles::new());
        let names = elements(&page);
        prop_assert!(page.split("<a ").skip(1).all(|link| link.starts_with("href=\"#")), "a link to another page");
        prop_assert!(!names.iter().any(|name| ["img", "iframe", "link", "object"].contains(&name.as_str())));
        for one in ["body", "script", "style", "form"] {
            prop_assert_eq!(names.iter().filter(|name| *name == one).count(), 1, "{}", one);
        }
    }

    #[test]
    fn terminal_output_has_no_control_characters(report in any_report(), quiet: bool, verbose: bool, details: bool) {
        let mut out = Vec::new();
        let options = TerminalOptions { quiet, verbose, details, ..TerminalOptions::default() };
        report.replay(&mut Terminal::new(&mut out, options)).unwrap();
        let out = String::from_utf8(out).unwrap();
        prop_assert!(!out.contains(|c: char| c.is_control() && c != '\n'));
        prop_assert!(!out.lines().any(|line| line.trim_start().starts_with("::")), "a workflow command");
    }

    #[test]
    fn terminal_output_has_no_escape_sequences_but_colors(report in any_report()) {
        let mut out = Vec::new();
        let options = TerminalOptions { color: true, verbose: true, ..TerminalOptions::default() };
        report.replay(&mut Terminal::new(&mut out, options)).unwrap();
        let out = String::from_utf8(out).unwrap();
        for (n, piece) in out.split('\x1b').enumerate() {
            let text = if n == 0 { piece } else {
                let (sequence, text) = piece.split_once('m').unwrap();
                prop_assert!(["[0", "[1", "[2", "[31", "[32", "[33", "[36"].contains(&sequence), "{sequence:?}");
                text
            };
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        }
    }

    #[test]
    fn annotations_are_one_line_each(report in any_report()) {
        let mut out = Vec::new();
        report.replay(&mut Github::new(&mut out)).unwrap();
        let out = String::from_utf8(out).unwrap();
        for command in out.lines() {
            prop_assert!(!command.contains(char::is_control));
            prop_assert!(command.starts_with("::error title=") || command.starts_with("::warning title="));
            let title = command.split_once(" title=").unwrap().1.split("::").next().unwrap();
            prop_assert!(!title.contains([':', ',']));
        }
    }

    #[test]
    fn markdown_keeps_text_in_fences_and_code(report in any_report()) {
        let markdown = render(Format::Markdown, &report, &Titles::new());
        let mut fence: Option<&str> = None;
        for line in markdown.lines() {
            let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
            match fence {
                Some(open) if ticks.len() >= open.len() && line.trim() == ticks => fence = None,
                Some(_) => {}
                None if ticks.len() >= 3 => fence = Some(ticks),
                // Outside of fences, text from outside stands in code, escaped.
                None => {
                    prop_assert!(!line.contains(['@', '\x1b']), "{line}");
                    let own = ["#", "|", "<details>", "</details>"].iter().any(|start| line.starts_with(start));
                    prop_assert!(own || line.is_empty() || line.starts_with(|c: char| c.is_ascii_digit()), "{line}");
                    prop_assert!(!line.contains("<script") && !line.contains("</pre>"));
                }
            }
        }
        prop_assert_eq!(fence, None);
    }

    #[test]
    fn json_round_trips(report in any_report()) {
        let text = render(Format::Json, &report, &Titles::new());
        prop_assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
