//! HTML page for people. The page is well-formed XML, so that tests can prove that no text leaves its element.

mod causes;

use crate::model::{
    CaseReport, Exchange, Mismatch, Outcome, Report, Titles, by_reason, by_section, cases_by_cause,
    cause_groups, titled,
};
use crate::text::case::{condition, edge_lists, facts, or_nothing};
use crate::text::escape::{markup, markup_line};
use crate::text::open_points;
use crate::text::page::{STYLE, list, page};
use crate::text::units;
use crate::text::verdict::verdict;

/// Labels and classes of two values.
const LABELS: [&str; 2] = ["expected", "actual"];

/// The document.
pub(super) fn render(report: &Report, titles: &Titles) -> String {
    let verdict = verdict(report);
    let mut body = String::with_capacity(16 * 1024);
    header(&mut body, report, &verdict);
    let groups = cause_groups(&report.causes, &report.cases);
    for outcome in [Outcome::Fail, Outcome::Warn] {
        let causes = groups.iter().filter(|group| group.outcome == outcome);
        causes::section(&mut body, &causes.collect::<Vec<_>>(), outcome, report);
    }
    body.push_str(&list("Findings", report.findings.iter().map(|text| markup(text))));
    for (outcome, heading) in [(Outcome::Fail, "Failures"), (Outcome::Warn, "Warnings")] {
        let cases = cases_by_cause(&groups, outcome);
        if !cases.is_empty() {
            put!(body, "<section>\n<h2>{heading}</h2>\n");
            for case in cases {
                article(&mut body, case, &report.cases, titles);
            }
            body.push_str("</section>\n");
        }
    }
    for (outcome, heading) in [(Outcome::NotRun, "Not run"), (Outcome::NotApplicable, "Not applicable")] {
        let cases = report.cases.iter().filter(|case| case.outcome == outcome);
        let reasons = by_reason(cases).into_iter();
        let lines = reasons.map(|(reason, cases)| format!("{} × {}", cases.len(), markup_line(reason)));
        body.push_str(&list(heading, lines));
    }
    all_cases(&mut body, report, titles);
    let observations = report.observations.iter().map(|observed| {
        format!("<code>{}</code> {}", markup_line(&observed.point), markup_line(&observed.observed))
    });
    body.push_str(&list("Observed at open points", observations));
    let doubtful = open_points::doubtful(report).into_iter();
    let unchecked = open_points::unchecked_pins(report).into_iter();
    body.push_str(&list("Not checked", unchecked.map(|text| markup_line(&text))));
    body.push_str(&list("Often a mistake", doubtful.map(|text| markup_line(&text))));
    page(&format!("edgeproof: {verdict}"), STYLE, &body)
}

fn header(out: &mut String, report: &Report, verdict: &str) {
    let class = match report.exit_code {
        0 => "pass",
        1 => "fail",
        _ => "not-run",
    };
    put!(out, "<header>\n<h1 class=\"{class}\">{}</h1>\n<p class=\"counts\">", markup(verdict));
    put!(out, "<b>{}</b> planned", report.summary.planned);
    for (outcome, count) in report.summary.shown() {
        put!(out, " <span class=\"{}\"><b>{count}</b> {}</span>", outcome.name(), outcome.label());
    }
    out.push_str("</p>\n<dl>\n");
    fact(out, "target", &report.target.to_string());
    fact(out, "interface", &report.spec.to_string());
    if let Some(version) = report.cases_of {
        fact(out, "cases", &format!("of edgeproof {version}"));
    }
    if let Some(latency) = &report.latency {
        fact(out, "edge-added latency", &units::latency(latency));
    }
    fact(out, "started", &report.started);
    fact(out, "exchanges", &units::count(report.exchange_count));
    fact(out, "duration", &units::duration(report.duration_ms));
    fact(out, "seed", &report.seed.to_string());
    fact(out, "edgeproof", &report.tool.version);
    out.push_str("</dl>\n</header>\n");
}

fn fact(out: &mut String, name: &str, value: &str) {
    put!(out, "<dt>{name}</dt><dd>{}</dd>\n", markup_line(value));
}

fn article(out: &mut String, case: &CaseReport, cases: &[CaseReport], titles: &Titles) {
    put!(
        out,
        "<article id=\"{}\" class=\"{}\">\n<h3><code>{}</code></h3>\n",
        causes::anchor(case, cases),
        case.outcome.name(),
        markup_line(&case.id)
    );
    claim(out, case, titles);
    evidence(out, case);
    out.push_str("</article>\n");
}

fn claim(out: &mut String, case: &CaseReport, titles: &Titles) {
    put!(out, "<p>{}</p>\n", markup_line(&case.title));
    put!(out, "<p class=\"facts\">{}</p>\n", markup(&facts(case, titles)));
    if !case.because.is_empty() {
        put!(out, "<p class=\"because\">{}</p>\n", markup_line(&case.because));
    }
}

fn evidence(out: &mut String, case: &CaseReport) {
    case.mismatches.iter().for_each(|mismatch| difference(out, case, mismatch));
    if case.mismatches.is_empty() && !(case.expected.is_empty() && case.actual.is_empty()) {
        values(out, LABELS, &case.expected, &case.actual);
    }
    for observed in &case.observations {
        put!(
            out,
            "<p><code>{}</code> {}</p>\n",
            markup_line(&observed.point),
            markup_line(&observed.observed)
        );
    }
    if !case.reproduce.is_empty() {
        if let Some(condition) = condition(case) {
            put!(out, "<p>reproduce, {condition}:</p>\n");
        }
        put!(out, "<pre class=\"curl\">{}</pre>\n", markup(&case.reproduce));
    }
    for Exchange { hop, request, response } in &case.exchanges {
        folded(out, hop.name(), &[request, response]);
    }
    for (heading, lines) in case.edge.iter().flat_map(edge_lists) {
        folded(out, heading, &[&lines.join("\n")]);
    }
}

fn difference(out: &mut String, case: &CaseReport, mismatch: &Mismatch) {
    let differs = mismatch.level != case.worst_level();
    let level = if differs { mismatch.level.name() } else { "" };
    put!(out, "<h4>{} <small>{level}</small></h4>\n", markup_line(&mismatch.what));
    values(out, LABELS, &mismatch.expected, &mismatch.actual);
    if let Some(hint) = &mismatch.hint {
        put!(out, "<p class=\"hint\">{}</p>\n", markup_line(hint));
    }
}

/// Expected and actual value, with their labels.
fn values(out: &mut String, labels: [&str; 2], expected: &str, actual: &str) {
    out.push_str("<dl class=\"values\">\n");
    for ((label, class), value) in labels.into_iter().zip(LABELS).zip([expected, actual]) {
        let value = markup(or_nothing(value));
        put!(out, "<dt>{label}</dt><dd><pre class=\"{class}\">{value}</pre></dd>\n");
    }
    out.push_str("</dl>\n");
}

fn folded(out: &mut String, heading: &str, texts: &[&str]) {
    put!(out, "<details><summary>{heading}</summary>\n");
    for text in texts {
        put!(out, "<pre>{}</pre>\n", markup(text));
    }
    out.push_str("</details>\n");
}

fn all_cases(out: &mut String, report: &Report, titles: &Titles) {
    out.push_str("<section class=\"all\">\n<h2>All cases</h2>\n");
    // CSS rules after these radio buttons filter the cases without a script.
    out.push_str("<input type=\"radio\" name=\"show\" id=\"show-all\" checked=\"checked\"/>");
    put!(out, "<label for=\"show-all\">all {}</label>\n", report.summary.planned);
    for (outcome, count) in report.summary.shown().filter(|(_, count)| *count > 0) {
        let (name, label) = (outcome.name(), outcome.label());
        put!(out, "<input type=\"radio\" name=\"show\" id=\"show-{name}\"/>");
        put!(out, "<label for=\"show-{name}\">{label} {count}</label>\n");
    }
    for section in by_section(&report.cases) {
        put!(
            out,
            "<div class=\"group\">\n<h3>{} <small>{}</small></h3>\n",
            markup_line(&titled(section.number, titles)),
            section.summary().line()
        );
        section.cases.iter().for_each(|case| row(out, case, titles));
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

fn row(out: &mut String, case: &CaseReport, titles: &Titles) {
    put!(
        out,
        "<details class=\"case {}\"><summary><b>{}</b> <code>{}</code> <span>{}</span> <i>{}</i></summary>\n",
        case.outcome.name(),
        case.outcome.label(),
        markup_line(&case.id),
        markup_line(if case.because.is_empty() { &case.title } else { &case.because }),
        units::micros(case.duration_us)
    );
    claim(out, case, titles);
    // The evidence of failures and warnings is above.
    if !matches!(case.outcome, Outcome::Fail | Outcome::Warn) {
        evidence(out, case);
    }
    out.push_str("</details>\n");
}
