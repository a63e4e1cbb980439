//! Every output is well-formed and harmless: no terminal sequence, script or link of a peer.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use edgeproof_reports::{CaseReport, Outcome, Report};
use html5gum::{Token, Tokenizer};
use pulldown_cmark::{Event as Md, Options, Parser, Tag, TagEnd};
use quick_xml::Reader;
use quick_xml::events::Event;
use ring::digest::{SHA256, digest};

use super::hostility::EVIL;
use super::watched::Ran;

/// Checks all outputs of a run.
#[track_caller]
pub(crate) fn check(ran: &Ran) -> Report {
    let read = |name: &str| fs::read_to_string(ran.folder.path().join(name)).unwrap();
    let terminal = String::from_utf8(ran.output.stdout.clone()).unwrap();
    let errors = String::from_utf8(ran.output.stderr.clone()).unwrap();
    let summary = read("summary.md");
    for (name, text) in [
        ("terminal", &terminal),
        ("standard error", &errors),
        ("json", &read("r.json")),
        ("junit", &read("r.xml")),
        ("html", &read("r.html")),
        ("markdown", &read("r.md")),
        ("summary", &summary),
    ] {
        let hidden = text.chars().find(|c| *c != '\n' && (c.is_control() || *c == '\u{202e}'));
        assert_eq!(hidden, None, "{name}");
        assert!(text.len() < 5_000_000, "{name} has {} bytes", text.len());
    }
    annotations(&terminal);
    xml(&read("r.xml"));
    html(&without_own_script(&read("r.html")));
    markdown(&read("r.md"));
    markdown(&summary);
    let report = Report::load(&ran.folder.path().join("r.json")).unwrap();
    assert_eq!(report.summary.planned, report.cases.len());
    assert_eq!(Some(i32::from(report.exit_code)), ran.code());
    report
}

/// Checks all outputs of a run, and that every case failed. One that waits for an answer may be not run instead: the other
/// tests use the processors meanwhile, or enough cases had none before it.
#[track_caller]
pub(crate) fn check_all_failed(ran: &Ran) -> Report {
    let report = check(ran);
    for case in &report.cases {
        let was_given_up = case.outcome == Outcome::NotRun && case.because.contains(" hangs since ");
        let is_judged = case.outcome == Outcome::Fail || was_given_up;
        assert!(is_judged || was_too_busy(case), "{}: {}", case.id, case.because);
    }
    let code = if report.summary.fail > 0 { 1 } else { 3 };
    assert_eq!(ran.code(), Some(code), "{}", ran.out());
    report
}

/// Whether other programs, which are the other tests, used too much of the machine to judge this case.
pub(crate) fn was_too_busy(case: &CaseReport) -> bool {
    case.outcome == Outcome::NotRun && case.because.contains("this machine is too busy")
}

/// Only the program begins workflow commands, each with its properties.
fn annotations(terminal: &str) {
    for line in terminal.lines().filter(|line| line.trim_start().starts_with("::")) {
        assert!(line.starts_with("::error title=") || line.starts_with("::warning title="), "{line}");
    }
}

fn xml(text: &str) {
    let mut reader = Reader::from_str(text);
    let mut open = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                assert!(start.attributes().all(|attribute| attribute.is_ok()), "{start:?}");
                open.push(start.name().as_ref().to_vec());
            }
            Event::Empty(empty) => {
                assert!(empty.attributes().all(|attribute| attribute.is_ok()), "{empty:?}");
            }
            // The parser compares it with the start tag.
            Event::End(_) => drop(open.pop()),
            Event::CData(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {
                panic!("none of these is written")
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(open, [] as [Vec<u8>; 0]);
}

/// Void elements of the page.
const VOID: [&str; 5] = ["meta", "br", "hr", "link", "input"];

/// The page without its last script, which its policy has to admit. Text that became a script comes before it.
fn without_own_script(page: &str) -> String {
    let (before, rest) = page.rsplit_once("<script>").unwrap();
    let (script, after) = rest.split_once("</script>").unwrap();
    let hash = STANDARD.encode(digest(&SHA256, script.as_bytes()));
    assert!(
        before.contains(&format!("script-src 'sha256-{hash}'\"/>")),
        "the policy does not admit the script"
    );
    assert_eq!(before.matches("<form").count(), 1);
    before.replacen("<form", "<div", 1).replacen("</form>", "</div>", 1) + after
}

/// Parses like a browser: no error, every element closed in order, none that loads or runs anything.
fn html(text: &str) {
    let mut open: Vec<String> = Vec::new();
    for Ok(token) in Tokenizer::new(text) {
        match token {
            Token::Error(error) => panic!("{error:?}"),
            Token::Comment(comment) => panic!("{comment:?}"),
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let foreign = ["script", "img", "iframe", "object", "embed", "form", "svg", "base", "link"];
                assert!(!foreign.contains(&name.as_str()), "<{name}>");
                for attribute in tag.attributes.keys() {
                    let attribute = String::from_utf8_lossy(attribute).into_owned();
                    assert!(!attribute.starts_with("on") && attribute != "src", "<{name} {attribute}>");
                }
                if !VOID.contains(&name.as_str()) && !tag.self_closing {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                assert_eq!(open.pop().unwrap().as_bytes(), &tag.name[..]);
            }
            Token::String(_) | Token::Doctype(_) => {}
        }
    }
    assert_eq!(open, [] as [String; 0]);
}

/// Parses like GitHub: only the program's HTML, no link or image, and text of peers only as code.
fn markdown(text: &str) {
    let mut code = 0_usize;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_GFM) {
        match event {
            Md::Html(html) | Md::InlineHtml(html) => {
                for Ok(token) in Tokenizer::new(&*html) {
                    let name = match &token {
                        Token::StartTag(tag) => {
                            assert!(tag.attributes.is_empty(), "{html}");
                            &tag.name
                        }
                        Token::EndTag(tag) => &tag.name,
                        _ => continue,
                    };
                    let name = String::from_utf8_lossy(name);
                    assert!(["details", "summary", "code"].contains(&name.as_ref()), "{html}");
                }
            }
            Md::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("a link: {text}"),
            Md::Start(Tag::CodeBlock(_)) => code += 1,
            Md::End(TagEnd::CodeBlock) => code -= 1,
            Md::Text(words) if code == 0 => assert!(!words.contains("script>"), "{words}"),
            _ => {}
        }
    }
}

#[test]
fn harmful_output_is_found() {
    let caught = |check: fn(&str), text: &str| std::panic::catch_unwind(|| check(text)).is_err();
    assert!(caught(html, &format!("<html><body><pre>{EVIL}</pre></body></html>")));
    assert!(caught(html, "<html><body><details></body></html>"));
    assert!(caught(html, "<p title=\"a\" onclick=\"b\"></p>"));
    assert!(caught(xml, &format!("<a>{EVIL}</a>")));
    assert!(caught(xml, "<a b=\"c\" b=\"d\"></a>"));
    assert!(caught(markdown, &format!("```\nx\n```\n{EVIL}")));
    assert!(caught(markdown, "[a](https://b.example)"));
    assert!(caught(annotations, "ok\n::set-output name=a::b"));
    assert!(!caught(html, "<!doctype html><html><body><p>a</p><br></body></html>"));
    assert!(!caught(markdown, "<details><summary>`a`</summary>\n\n```\n<script>\n```\n</details>\n"));
}
