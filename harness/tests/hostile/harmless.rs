//! Every output is well-formed, and does nothing to who looks at it.

use std::fs;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::watched::Ran;

/// Looks at all of them.
#[track_caller]
pub(crate) fn check(ran: &Ran) -> reports::Report {
    let read = |name: &str| fs::read_to_string(ran.folder.path().join(name)).unwrap();
    let terminal = String::from_utf8(ran.output.stdout.clone()).unwrap();
    let errors = String::from_utf8(ran.output.stderr.clone()).unwrap();
    for (name, text) in [
        ("terminal", &terminal),
        ("standard error", &errors),
        ("json", &read("r.json")),
        ("junit", &read("r.xml")),
        ("html", &read("r.html")),
        ("markdown", &read("r.md")),
    ] {
        let hidden = text.chars().find(|c| *c != '\n' && (c.is_control() || *c == '\u{202e}'));
        assert_eq!(hidden, None, "{name}");
        assert!(text.len() < 2_000_000, "{name} has {} bytes", text.len());
    }
    // Workflow commands are the program's own, each with its properties, and nothing of the edge begins one.
    for line in terminal.lines().filter(|line| line.trim_start().starts_with("::")) {
        assert!(line.starts_with("::error title=") || line.starts_with("::warning title="), "{line}");
    }
    well_formed(&read("r.xml"));
    let html = read("r.html").to_lowercase();
    for markup in ["<script>alert", "<img", "</details>\n```"] {
        assert!(!html.contains(markup), "{markup} in the page");
    }
    assert!(html.trim_end().ends_with("</html>"));
    no_markup_outside_of_code(&read("r.md"));
    let report = reports::Report::load(&ran.folder.path().join("r.json")).unwrap();
    assert_eq!(report.summary.planned, report.cases.len());
    assert_eq!(Some(i32::from(report.exit_code)), ran.output.status.code());
    report
}

fn well_formed(xml: &str) {
    let mut reader = Reader::from_str(xml);
    let mut open = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(_) => open += 1,
            Event::End(_) => open -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open, 0);
}

/// In a fence, markup is text. A fence ends with as many backticks as it began with, and nothing else on the line.
fn no_markup_outside_of_code(markdown: &str) {
    let mut fence: Option<usize> = None;
    for line in markdown.lines() {
        let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
        match fence {
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            None if ticks >= 3 => fence = Some(ticks),
            None => assert!(!line.contains("<script") && !line.contains("<img"), "{line}"),
            Some(_) => {}
        }
    }
    assert_eq!(fence, None);
}
