//! Markdown summary for a pull request or a job. Text from outside stands in code, so that it is never Markdown.

use crate::model::{
    CauseGroup, Outcome, Report, Titles, by_reason, by_section, cases_by_cause, cause_groups, headline,
    titled,
};
use crate::text::case::full;
use crate::text::cause::{self, CauseDepth};
use crate::text::escape::{markup_line, one_line};
use crate::text::markdown::{code, fenced, literal};
use crate::text::open_points;
use crate::text::styled::{StyledLine, TextStyle, line, paint_all, wrap};
use crate::text::units::{self, counted};
use crate::text::verdict::verdict;

/// Bytes of the document after which failures are only listed: a GitHub comment takes 65,536 characters.
const DETAIL_LIMIT: usize = 44_000;
/// Bytes of the document after which causes are only counted.
const CAUSE_LIMIT: usize = 24_000;
/// Bytes of a list; a document has at most eight lists.
const LIST_LIMIT: usize = 2_500;
/// Longest line of prose in a code block, in characters.
const WIDTH: usize = 100;

/// The document.
pub(super) fn render(report: &Report, titles: &Titles) -> String {
    let mut out = String::new();
    let verdict = verdict(report);
    let mark = if report.exit_code == 0 { "✅" } else { "❌" };
    put!(out, "### {mark} edgeproof: {}\n\n{}\n\n", markup_line(&verdict), report.summary.line());
    let groups = cause_groups(&report.causes, &report.cases);
    causes(&mut out, report, &groups, Outcome::Fail);
    causes(&mut out, report, &groups, Outcome::Warn);
    put!(out, "| | |\n|---|---|\n| Target | {} |\n", code(&report.target.to_string()));
    put!(out, "| Interface | {} |\n", code(&report.spec.to_string()));
    if let Some(version) = report.cases_of {
        put!(out, "| Cases | of edgeproof {version} |\n");
    }
    if let Some(latency) = &report.latency {
        put!(out, "| Edge-added latency | {} |\n", units::latency(latency));
    }
    put!(out, "| Exchanges | {} |\n", units::count(report.exchange_count));
    put!(out, "| Duration | {} |\n| Seed | {} |\n\n", units::duration(report.duration_ms), report.seed);

    sections(&mut out, report, titles);
    findings(&mut out, report);
    details(&mut out, &groups, titles, Outcome::Fail, "Failures");
    not_run(&mut out, report);
    not_applicable(&mut out, report);
    details(&mut out, &groups, titles, Outcome::Warn, "Warnings");
    known(&mut out, report);
    observations(&mut out, report);
    out
}

fn sections(out: &mut String, report: &Report, titles: &Titles) {
    let columns: Vec<Outcome> = report.summary.shown().map(|(outcome, _)| outcome).collect();
    out.push_str("| Section | planned |");
    for outcome in &columns {
        put!(out, " {} |", outcome.label());
    }
    put!(out, "\n|---|--:|{}\n", "--:|".repeat(columns.len()));
    for section in by_section(&report.cases) {
        let counts = section.summary();
        put!(out, "| {} | {} |", code(&titled(section.number, titles)), counts.planned);
        for outcome in &columns {
            match counts.get(*outcome) {
                0 => out.push_str(" · |"),
                count => put!(out, " {count} |"),
            }
        }
        out.push('\n');
    }
    out.push('\n');
}

/// A heading and a code block for each cause.
fn causes(out: &mut String, report: &Report, groups: &[CauseGroup<'_>], outcome: Outcome) {
    let groups: Vec<&CauseGroup<'_>> = groups.iter().filter(|group| group.outcome == outcome).collect();
    if groups.is_empty() {
        return;
    }
    put!(out, "#### {}\n\n", headline(&groups, outcome));
    for (n, group) in groups.iter().enumerate() {
        let mut lines = Vec::new();
        if group.is_explained() {
            let text = wrap(&group.cause.explanation, WIDTH).into_iter();
            lines.extend(text.map(|text| line(TextStyle::Plain, text)));
            lines.push(StyledLine::new());
        }
        lines.extend(cause::lines(group, &report.summary, CauseDepth::Full, WIDTH));
        let block = format!(
            "##### {} · {} · {}\n\n{}\n",
            literal(&group.cause.title),
            counted(group.cases.len(), "case"),
            code(&group.cause.row),
            fenced(&paint_all(&lines, false))
        );
        if out.len() + block.len() > CAUSE_LIMIT {
            put!(out, "##### {} more; see the HTML or JSON report\n\n", groups.len() - n);
            return;
        }
        out.push_str(&block);
    }
}

fn details(out: &mut String, groups: &[CauseGroup<'_>], titles: &Titles, outcome: Outcome, heading: &str) {
    let cases = cases_by_cause(groups, outcome);
    if cases.is_empty() {
        return;
    }
    put!(out, "#### {heading}\n\n");
    for (n, case) in cases.iter().enumerate() {
        let block = format!(
            "<details><summary>{} {}</summary>\n\n{}\n</details>\n\n",
            code(&case.id),
            code(&case.because),
            fenced(&paint_all(&full(case, titles, WIDTH), false))
        );
        if out.len() + block.len() > DETAIL_LIMIT {
            let rest: Vec<String> = cases[n..].iter().map(|case| case.id.clone()).collect();
            put!(out, "{} more; see the HTML or JSON report:\n\n{}\n", rest.len(), fenced(&listed(&rest)));
            return;
        }
        out.push_str(&block);
    }
}

fn findings(out: &mut String, report: &Report) {
    if !report.findings.is_empty() {
        let lines = report.findings.iter().flat_map(|text| text.lines());
        let lines: Vec<String> = lines.map(|text| one_line(text).into_owned()).collect();
        put!(out, "#### Findings\n\n{}\n", fenced(&listed(&lines)));
    }
}

fn not_run(out: &mut String, report: &Report) {
    let cases = report.cases.iter().filter(|case| case.outcome == Outcome::NotRun);
    let mut lines = Vec::new();
    for (reason, cases) in by_reason(cases) {
        lines.push(format!("{} × {}", cases.len(), one_line(reason)));
        lines.extend(cases.iter().map(|case| format!("  {}", one_line(&case.id))));
    }
    folded(out, report.summary.not_run, "not run", &lines);
}

fn not_applicable(out: &mut String, report: &Report) {
    let cases = report.cases.iter().filter(|case| case.outcome == Outcome::NotApplicable);
    let reasons = by_reason(cases).into_iter();
    let lines: Vec<String> =
        reasons.map(|(reason, cases)| format!("{} × {}", cases.len(), one_line(reason))).collect();
    if !lines.is_empty() {
        put!(out, "#### Not applicable\n\n{}\n", fenced(&listed(&lines)));
    }
}

fn known(out: &mut String, report: &Report) {
    let cases = report.cases.iter().filter(|case| case.outcome == Outcome::Known);
    let lines: Vec<String> =
        cases.map(|case| format!("{}: {}", one_line(&case.id), one_line(&case.because))).collect();
    folded(out, lines.len(), "known", &lines);
}

fn observations(out: &mut String, report: &Report) {
    let observations = report.observations.iter();
    let lines: Vec<String> = observations
        .map(|observed| format!("{}: {}", one_line(&observed.point), one_line(&observed.observed)))
        .collect();
    if let Some(unchecked) = open_points::unchecked_pins(report) {
        put!(out, "#### Not checked\n\n{}\n", fenced(&unchecked));
    }
    let doubtful = open_points::doubtful(report);
    if !doubtful.is_empty() {
        put!(out, "#### Often a mistake\n\n{}\n", fenced(&listed(&doubtful)));
    }
    folded(out, lines.len(), "observed at open points", &lines);
}

fn folded(out: &mut String, count: usize, name: &str, lines: &[String]) {
    if count == 0 {
        return;
    }
    put!(out, "<details><summary>{count} {name}</summary>\n\n{}\n</details>\n\n", fenced(&listed(lines)));
}

/// Lines up to the limit of a list, then the number of lines left out.
fn listed(lines: &[String]) -> String {
    let mut text = String::new();
    for (n, line) in lines.iter().enumerate() {
        if text.len() + line.len() > LIST_LIMIT {
            put!(text, "… and {} more\n", lines.len() - n);
            break;
        }
        put!(text, "{line}\n");
    }
    text
}
