//! One page for people: a single file without network and without script. Well-formed as XML too, so that tests can
//! prove that nothing from outside got out of its place.

use std::fmt::Write as _;

use crate::escape::{markup, one_line};
use crate::json::Report;
use crate::{CaseReport, EdgeNotes, Exchange, Mismatch, Outcome, Titles, detail, figures, sections};

const STYLE: &str = include_str!("html.css");

/// The document.
pub fn render(report: &Report, titles: &Titles) -> String {
    let mut out = String::with_capacity(16 * 1024);
    let verdict = figures::verdict(report.exit_code, &report.summary, report.findings.len());
    put(
        &mut out,
        format_args!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>edgeproof: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
            markup(&verdict)
        ),
    );
    header(&mut out, report, &verdict);
    list(&mut out, "Findings", report.findings.iter().map(|text| markup(text)));
    for (outcome, heading) in [(Outcome::Fail, "Failures"), (Outcome::Warn, "Warnings")] {
        let cases: Vec<&CaseReport> = report.cases.iter().filter(|case| case.outcome == outcome).collect();
        if !cases.is_empty() {
            put(&mut out, format_args!("<section>\n<h2>{heading}</h2>\n"));
            for case in cases {
                article(&mut out, case, titles);
            }
            put(&mut out, format_args!("</section>\n"));
        }
    }
    all_cases(&mut out, report, titles);
    list(
        &mut out,
        "Observed at open points",
        report.observations.iter().map(|seen| {
            format!("<code>{}</code> {}", markup(&one_line(&seen.point)), markup(&one_line(&seen.saw)))
        }),
    );
    put(&mut out, format_args!("</body>\n</html>\n"));
    out
}

fn header(out: &mut String, report: &Report, verdict: &str) {
    let class = match report.exit_code {
        0 => "pass",
        1 => "fail",
        _ => "not-run",
    };
    put(out, format_args!("<header>\n<h1 class=\"{class}\">{}</h1>\n<p class=\"counts\">", markup(verdict)));
    put(out, format_args!("<b>{}</b> planned", report.summary.planned));
    for outcome in Outcome::ALL {
        let count = report.summary.get(outcome);
        if count > 0 || outcome == Outcome::Pass {
            put(
                out,
                format_args!(" <span class=\"{}\"><b>{count}</b> {}</span>", outcome.name(), outcome.words()),
            );
        }
    }
    put(out, format_args!("</p>\n<dl>\n"));
    let target = format!("{} {}", report.target.kind.name(), report.target.given());
    fact(out, "target", target.trim_end());
    fact(out, "interface", &format!("{} {}", report.spec.version, report.spec.digest));
    if let Some(latency) = &report.latency {
        fact(out, "latency the edge adds", &figures::latency(latency));
    }
    fact(out, "started", &report.started);
    fact(out, "took", &figures::took(report.duration_ms));
    fact(out, "seed", &report.seed.to_string());
    fact(out, "edgeproof", &report.tool.version);
    put(out, format_args!("</dl>\n</header>\n"));
}

fn fact(out: &mut String, name: &str, value: &str) {
    put(out, format_args!("<dt>{name}</dt><dd>{}</dd>\n", markup(&one_line(value))));
}

fn article(out: &mut String, case: &CaseReport, titles: &Titles) {
    let name = case.outcome.name();
    put(
        out,
        format_args!("<article class=\"{name}\">\n<h3><code>{}</code></h3>\n", markup(&one_line(&case.id))),
    );
    claim(out, case, titles);
    evidence(out, case);
    put(out, format_args!("</article>\n"));
}

fn claim(out: &mut String, case: &CaseReport, titles: &Titles) {
    put(out, format_args!("<p>{}</p>\n", markup(&one_line(&case.title))));
    let section = sections::titled(&case.section, titles);
    let rows = if case.rows.is_empty() { String::new() } else { format!(" · {}", case.rows.join(", ")) };
    let facts = format!("section {section} · {}{rows}", detail::authority(case));
    put(out, format_args!("<p class=\"facts\">{}</p>\n", markup(&one_line(&facts))));
    if !case.because.is_empty() {
        put(out, format_args!("<p class=\"because\">{}</p>\n", markup(&one_line(&case.because))));
    }
}

fn evidence(out: &mut String, case: &CaseReport) {
    case.mismatches.iter().for_each(|mismatch| difference(out, case, mismatch));
    if case.mismatches.is_empty() && !(case.expected.is_empty() && case.actual.is_empty()) {
        values(out, &case.expected, &case.actual);
    }
    for seen in &case.observations {
        let (point, saw) = (markup(&one_line(&seen.point)), markup(&one_line(&seen.saw)));
        put(out, format_args!("<p><code>{point}</code> {saw}</p>\n"));
    }
    if !case.reproduce.is_empty() {
        put(out, format_args!("<pre class=\"curl\">{}</pre>\n", markup(&case.reproduce)));
    }
    case.exchanges.iter().for_each(|exchange| conversation(out, exchange));
    case.edge.iter().for_each(|notes| edge(out, notes));
}

fn difference(out: &mut String, case: &CaseReport, mismatch: &Mismatch) {
    let level = if mismatch.level == case.level { "" } else { mismatch.level.name() };
    put(out, format_args!("<h4>{} <small>{level}</small></h4>\n", markup(&one_line(&mismatch.what))));
    values(out, &mismatch.expected, &mismatch.actual);
    if let Some(hint) = &mismatch.hint {
        put(out, format_args!("<p class=\"hint\">{}</p>\n", markup(&one_line(hint))));
    }
}

fn values(out: &mut String, expected: &str, actual: &str) {
    put(out, format_args!("<dl class=\"values\">\n"));
    for (name, value) in [("expected", expected), ("actual", actual)] {
        let value = if value.is_empty() { "(nothing)" } else { value };
        put(out, format_args!("<dt>{name}</dt><dd><pre class=\"{name}\">{}</pre></dd>\n", markup(value)));
    }
    put(out, format_args!("</dl>\n"));
}

fn conversation(out: &mut String, exchange: &Exchange) {
    put(
        out,
        format_args!(
            "<details><summary>{}</summary>\n<pre>{}</pre>\n<pre>{}</pre>\n</details>\n",
            exchange.hop.name(),
            markup(&exchange.request),
            markup(&exchange.response)
        ),
    );
}

fn edge(out: &mut String, notes: &EdgeNotes) {
    for (title, lines) in
        [("settings of the edge", &notes.settings), ("last log lines of the edge", &notes.log)]
    {
        if !lines.is_empty() {
            let text = markup(&lines.join("\n"));
            put(out, format_args!("<details><summary>{title}</summary>\n<pre>{text}</pre>\n</details>\n"));
        }
    }
}

fn all_cases(out: &mut String, report: &Report, titles: &Titles) {
    put(out, format_args!("<section class=\"all\">\n<h2>All cases</h2>\n"));
    // Radio buttons before the table: style rules follow them, no script needed.
    put(out, format_args!("<input type=\"radio\" name=\"show\" id=\"show-all\" checked=\"checked\"/>"));
    put(out, format_args!("<label for=\"show-all\">all {}</label>\n", report.summary.planned));
    for outcome in Outcome::ALL.into_iter().filter(|outcome| report.summary.get(*outcome) > 0) {
        let (name, words, count) = (outcome.name(), outcome.words(), report.summary.get(outcome));
        put(out, format_args!("<input type=\"radio\" name=\"show\" id=\"show-{name}\"/>"));
        put(out, format_args!("<label for=\"show-{name}\">{words} {count}</label>\n"));
    }
    for section in sections::by_section(&report.cases) {
        let counts = section.summary();
        put(
            out,
            format_args!(
                "<div class=\"group\">\n<h3>{} <small>{}</small></h3>\n",
                markup(&one_line(&sections::titled(section.number, titles))),
                counts.line()
            ),
        );
        section.cases.iter().for_each(|case| row(out, case, titles));
        put(out, format_args!("</div>\n"));
    }
    put(out, format_args!("</section>\n"));
}

fn row(out: &mut String, case: &CaseReport, titles: &Titles) {
    let (name, words) = (case.outcome.name(), case.outcome.words());
    put(
        out,
        format_args!(
            "<details class=\"case {name}\"><summary><b>{words}</b> <code>{}</code> <span>{}</span> <i>{}</i></summary>\n",
            markup(&one_line(&case.id)),
            markup(&one_line(if case.because.is_empty() { &case.title } else { &case.because })),
            figures::micros(case.duration_us)
        ),
    );
    claim(out, case, titles);
    // Failures and warnings stand in full above.
    if !matches!(case.outcome, Outcome::Fail | Outcome::Warn) {
        evidence(out, case);
    }
    put(out, format_args!("</details>\n"));
}

fn list(out: &mut String, heading: &str, items: impl Iterator<Item = String>) {
    let items: String = items.fold(String::new(), |items, item| items + "<li>" + &item + "</li>\n");
    if !items.is_empty() {
        put(out, format_args!("<section>\n<h2>{heading}</h2>\n<ul>\n{items}</ul>\n</section>\n"));
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string never fails");
}
