//! A summary for a pull request or a job. Nothing that came from outside is read as Markdown: it stands in code.

use std::fmt::Write as _;

use crate::escape::{markup, one_line};
use crate::json::Report;
use crate::{CaseReport, Outcome, Summary, Titles, detail, figures, sections};

/// Bytes after which failures are only named: a comment on GitHub takes 65,536 characters.
const ENOUGH: usize = 44_000;
/// Bytes that a list may take; there are six at most.
const ENOUGH_OF_A_LIST: usize = 3_400;
/// Longest line of prose within a fence.
const WIDTH: usize = 100;

/// The document.
pub fn render(report: &Report, titles: &Titles) -> String {
    let mut out = String::new();
    let verdict = figures::verdict(report.exit_code, &report.summary, report.findings.len());
    let mark = if report.exit_code == 0 { "✅" } else { "❌" };
    put(&mut out, format_args!("### {mark} edgeproof: {verdict}\n\n{}\n\n", report.summary.line()));
    put(&mut out, format_args!("| | |\n|---|---|\n"));
    let target = format!("{} {}", report.target.kind.name(), report.target.given());
    put(&mut out, format_args!("| Target | {} |\n", code(target.trim_end())));
    let spec = format!("{} {}", report.spec.version, report.spec.digest);
    put(&mut out, format_args!("| Interface | {} |\n", code(&spec)));
    if let Some(latency) = &report.latency {
        put(&mut out, format_args!("| Latency the edge adds | {} |\n", figures::latency(latency)));
    }
    let took = figures::took(report.duration_ms);
    put(&mut out, format_args!("| Took | {took}, seed {} |\n\n", report.seed));

    table(&mut out, report, titles);
    findings(&mut out, report);
    details(&mut out, report, titles, Outcome::Fail, "Failures");
    not_run(&mut out, report);
    details(&mut out, report, titles, Outcome::Warn, "Warnings");
    known(&mut out, report);
    observations(&mut out, report);
    out
}

fn table(out: &mut String, report: &Report, titles: &Titles) {
    let shown = columns(&report.summary);
    let heads: String = shown.iter().fold(String::new(), |heads, outcome| heads + outcome.words() + " | ");
    put(
        out,
        format_args!("| Section | planned | {}\n|---|--:|{}\n", heads.trim_end(), "--:|".repeat(shown.len())),
    );
    for section in sections::by_section(&report.cases) {
        let counts = section.summary();
        let cells = shown.iter().fold(String::new(), |cells, outcome| match counts.get(*outcome) {
            0 => cells + " · |",
            count => format!("{cells} {count} |"),
        });
        let name = code(&sections::titled(section.number, titles));
        put(out, format_args!("| {name} | {} |{cells}\n", counts.planned));
    }
    out.push('\n');
}

/// The outcomes that deserve a column: what nothing ended as is left out, a pass never.
fn columns(summary: &Summary) -> Vec<Outcome> {
    Outcome::ALL
        .into_iter()
        .filter(|outcome| *outcome == Outcome::Pass || summary.get(*outcome) > 0)
        .collect()
}

fn details(out: &mut String, report: &Report, titles: &Titles, outcome: Outcome, heading: &str) {
    let cases: Vec<&CaseReport> = report.cases.iter().filter(|case| case.outcome == outcome).collect();
    if cases.is_empty() {
        return;
    }
    put(out, format_args!("#### {heading}\n\n"));
    for (n, case) in cases.iter().enumerate() {
        let lines = detail::full(case, titles, WIDTH);
        let block = format!(
            "<details><summary>{} {}</summary>\n\n{}\n</details>\n\n",
            code(&case.id),
            code(&case.because),
            fenced(&detail::plain(&lines))
        );
        if out.len() + block.len() > ENOUGH {
            let rest: Vec<String> = cases[n..].iter().map(|case| case.id.clone()).collect();
            let named = fenced(&listed(&rest));
            put(
                out,
                format_args!(
                    "{} more; the HTML and JSON reports have them in full:\n\n{named}\n",
                    rest.len()
                ),
            );
            return;
        }
        out.push_str(&block);
    }
}

fn findings(out: &mut String, report: &Report) {
    if !report.findings.is_empty() {
        let findings: Vec<String> = report
            .findings
            .iter()
            .flat_map(|text| text.lines())
            .map(|text| one_line(text).into_owned())
            .collect();
        put(out, format_args!("#### Findings\n\n{}\n", fenced(&listed(&findings))));
    }
}

fn not_run(out: &mut String, report: &Report) {
    let cases = report.cases.iter().filter(|case| case.outcome == Outcome::NotRun);
    let mut lines = Vec::new();
    for (reason, cases) in sections::by_reason(cases) {
        lines.push(format!("{} × {}", cases.len(), one_line(reason)));
        lines.extend(cases.iter().map(|case| format!("  {}", one_line(&case.id))));
    }
    folded(out, report.summary.not_run, "not run", &lines);
}

fn known(out: &mut String, report: &Report) {
    let cases = report.cases.iter().filter(|case| case.outcome == Outcome::Known);
    let lines: Vec<String> =
        cases.map(|case| format!("{}: {}", one_line(&case.id), one_line(&case.because))).collect();
    folded(out, lines.len(), "known", &lines);
}

fn observations(out: &mut String, report: &Report) {
    let seen = report.observations.iter();
    let lines: Vec<String> =
        seen.map(|seen| format!("{}: {}", one_line(&seen.point), one_line(&seen.saw))).collect();
    folded(out, lines.len(), "observed at open points", &lines);
}

fn folded(out: &mut String, count: usize, name: &str, lines: &[String]) {
    if count == 0 {
        return;
    }
    let text = listed(lines);
    put(out, format_args!("<details><summary>{count} {name}</summary>\n\n{}\n</details>\n\n", fenced(&text)));
}

/// Lines up to a length that leaves room for the rest of the document.
fn listed(lines: &[String]) -> String {
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        if text.len() + line.len() > ENOUGH_OF_A_LIST {
            put(&mut text, format_args!("… and {} more\n", lines.len() - n));
            break;
        }
        put(&mut text, format_args!("{line}\n"));
    }
    text
}

/// A code block whose fence is longer than any in the text.
fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// Code in a cell of a table. As HTML and not between backticks, which a `|` in the text would cut.
fn code(text: &str) -> String {
    let mut shown = String::from("<code>");
    for c in markup(&one_line(text)).chars() {
        match c {
            // Within a line of Markdown these would still mean something, even between HTML tags.
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | ':' | '@' | '#' | '$' => {
                put(&mut shown, format_args!("&#{};", u32::from(c)));
            }
            other => shown.push(other),
        }
    }
    shown + "</code>"
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string never fails");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("a ```` b\n"), "`````text\na ```` b\n`````\n");
        assert_eq!(fenced("plain"), "```text\nplain\n```\n");
    }

    #[test]
    fn a_cell_means_nothing_to_markdown() {
        assert_eq!(
            code("a|b`@me`\n<x>"),
            "<code>a&#124;b&#96;&#64;me&#96;\\n&lt;x&gt;</code>".replace('\\', "&#92;")
        );
    }
}
