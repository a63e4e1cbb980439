//! Markdown: a heading for each row, so that links to rows work. Text from tables and reports stays text.

use std::fmt::Write as _;

use edgeproof_reports::counted;
use edgeproof_reports::escape::one_line;

use super::document::{Document, DocumentRow};

/// The document.
pub(super) fn render(document: &Document<'_>) -> String {
    let mut out = format!("# {}\n\nDigest {}", prose(&document.title), code(document.digest));
    let rows: usize = document.sections.iter().map(|section| section.rows.len()).sum();
    _ = writeln!(out, ", {} in {}.", counted(rows, "row"), counted(document.sections.len(), "section"));
    if document.reports > 0 {
        let counts = document.counts.iter().map(|(state, count)| format!("{count} {}", state.name()));
        let counts: Vec<_> = counts.collect();
        _ = writeln!(out, "\nIn {}: {}.", counted(document.reports, "report"), counts.join(", "));
    }
    for section in &document.sections {
        _ = writeln!(out, "\n## {}", prose(&section.heading));
        section.rows.iter().for_each(|row| entry(&mut out, row));
    }
    out
}

fn entry(out: &mut String, row: &DocumentRow<'_>) {
    _ = writeln!(out, "\n### {}\n\n{}\n", code(row.id), prose(row.condition));
    _ = writeln!(out, "- {} ({})", row.level, prose(&row.authority));
    for (name, value) in &row.facts {
        _ = writeln!(out, "- {name}: {}", code(value));
    }
    if let Some(why) = row.excluded {
        _ = writeln!(out, "- excluded: {}", prose(why));
    }
    if let Some(result) = &row.result {
        _ = writeln!(out, "- outcome: **{}**", result.state.name());
        for why in result.why.iter().filter(|_| row.excluded.is_none()) {
            _ = writeln!(out, "  - {}", prose(why));
        }
    }
    let cases =
        row.cases().map(
            |(id, outcomes)| {
                if outcomes.is_empty() { code(id) } else { format!("{} {outcomes}", code(id)) }
            },
        );
    let cases: Vec<_> = cases.collect();
    if !cases.is_empty() {
        _ = writeln!(out, "- cases: {}", cases.join(", "));
    }
    if let Some(mutants) = row.mutants() {
        _ = writeln!(out, "- mutants: {mutants}");
    }
}

/// Inline code on one line. Its fence is longer than any run of backticks in the text.
fn code(text: &str) -> String {
    let text = one_line(text);
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run + 1);
    let pad = if longest_run > 0 || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text on one line without markup.
fn prose(text: &str) -> String {
    let mut escaped = String::new();
    for (index, c) in one_line(text).char_indices() {
        // A first character can begin a list, a quotation or a heading.
        let is_markup = "\\`*_[]<>|~&#".contains(c) || index == 0 && c.is_ascii_punctuation();
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Parser};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::markup("*a* _b_ `c` [d](e) <f> &amp; ~g~ \\h | #i")]
    #[case::list("- a")]
    #[case::quotation("> a")]
    #[case::heading("# a")]
    #[case::apostrophe("a verdict's token: it verifies")]
    fn text_stays_text(#[case] text: &str) {
        for (markdown, inline) in [(prose(text), false), (code(text), true)] {
            let mut shown = String::new();
            for event in Parser::new(&markdown) {
                match event {
                    Event::Text(part) => shown += &part,
                    Event::Code(part) if inline => shown += &part,
                    Event::Start(_) | Event::End(_) => {}
                    other => panic!("{markdown}: {other:?}"),
                }
            }
            // A control character or backslash is shown as escaped.
            assert_eq!(shown.trim(), text, "{markdown}");
        }
    }
}
