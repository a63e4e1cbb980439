use super::{charts, phrases};
use crate::load::model::{LoadReport, LoadState, Quantile, Timing};
use crate::text::escape::markup_line;
use crate::text::page::page;
use crate::text::units::{count, percent, rate};

const STYLE: &str = include_str!("load.css");

/// HTML page.
pub(super) fn render(report: &LoadReport) -> String {
    let title = format!("{}: {}", report.scenario, report.verdict());
    let class = if report.exit_code == 0 { "good" } else { "bad" };
    let mut body = String::new();
    put!(
        body,
        "<main>\n<h1 class=\"{class}\">{}</h1>\n<p>{}<br/>{}<br/>started {}</p>\n",
        markup_line(&title),
        markup_line(&phrases::target(report)),
        markup_line(&phrases::plan(report)),
        markup_line(&report.started)
    );
    tiles(&mut body, report);
    findings(&mut body, report);
    thresholds(&mut body, report);
    ledger(&mut body, report);
    clocks(&mut body, report);
    percentiles(&mut body, report);
    body.push_str("<h2>Over time</h2>\n");
    body.push_str(&charts::latency(report));
    body.push_str(&charts::rates(report));
    body.push_str(&charts::heat_map(report));
    body.push_str("<h2>Distributions</h2>\n");
    body.push_str(&charts::percentiles(report));
    if let Some(timing) = &report.time_to_verdict {
        body.push_str(&charts::histogram("Time to verdict: number of sessions", timing));
    }
    for route in &report.routes {
        let title = format!("{}: number of answered requests by response time", route.route);
        body.push_str(&charts::histogram(&title, &route.response));
    }
    outcomes(&mut body, report);
    costs(&mut body, report);
    comparison(&mut body, report);
    body.push_str("</main>\n");
    page(&title, STYLE, &body)
}

/// Key figures.
fn tiles(out: &mut String, report: &LoadReport) {
    let errors = report.errors();
    let mut tiles: Vec<(String, String)> = Vec::new();
    tiles.extend(report.rate.asked.map(|planned| ("planned".to_owned(), rate(planned))));
    tiles.extend([
        ("delivered".to_owned(), rate(report.rate.delivered)),
        ("requests".to_owned(), count(report.response.figures.count)),
        ("unexpected".to_owned(), count(errors)),
    ]);
    // A percentile over several routes says nothing.
    let timing: Option<(&str, &Timing)> = match (&report.time_to_verdict, &report.routes[..]) {
        (Some(timing), _) => Some(("time to verdict", timing)),
        (None, [route]) => Some(("response", &route.response)),
        (None, _) => None,
    };
    if let Some((name, Timing { figures, .. })) = timing {
        tiles.extend([
            (format!("{name} p50"), figures.text(Quantile::P50)),
            (format!("{name} p99"), figures.text(Quantile::P99)),
        ]);
    }
    out.push_str("<div class=\"tiles\">");
    for (label, value) in tiles {
        let class = if label == "unexpected" && errors > 0 { " bad" } else { "" };
        put!(out, "<div class=\"tile{class}\"><b>{value}</b>{label}</div>");
    }
    out.push_str("</div>\n");
}

fn findings(out: &mut String, report: &LoadReport) {
    if report.findings.is_empty() {
        return;
    }
    let class = if report.state == LoadState::Complete { "note" } else { "note bad" };
    put!(out, "<ul class=\"{class}\">");
    for finding in &report.findings {
        put!(out, "<li>{}</li>", markup_line(finding));
    }
    out.push_str("</ul>\n");
}

fn thresholds(out: &mut String, report: &LoadReport) {
    if report.thresholds.is_empty() {
        return;
    }
    out.push_str("<h2>Thresholds</h2>\n<table>");
    for threshold in &report.thresholds {
        let (class, mark) = match threshold.holds {
            // A single shard does not judge its thresholds.
            _ if report.as_shard().is_some() => ("", "·"),
            true => ("good", "✓"),
            false => ("bad", "✗"),
        };
        let text = markup_line(&phrases::threshold(threshold));
        put!(out, "<tr class=\"{class}\"><td>{mark}</td><td>{text}</td></tr>");
    }
    out.push_str("</table>\n");
}

fn ledger(out: &mut String, report: &LoadReport) {
    let ledger = phrases::ledger(&report.ledger);
    put!(out, "<h2>Counts</h2>\n<p>{}<br/>{ledger}</p>\n", phrases::rates(&report.rate));
    for counted in &report.reconciled {
        let class = if counted.agrees { "good" } else { "bad" };
        put!(out, "<p class=\"{class}\">{}</p>\n", markup_line(&phrases::reconciled(counted)));
    }
}

fn clocks(out: &mut String, report: &LoadReport) {
    for clock in phrases::clocks(report) {
        put!(out, "<p>{}</p>\n", markup_line(&clock));
    }
}

fn percentiles(out: &mut String, report: &LoadReport) {
    let heads = Quantile::ALL.map(|quantile| format!("<th class=\"n\">{}</th>", quantile.name())).concat();
    put!(out, "<h2>Percentiles</h2>\n<table><tr><th></th><th class=\"n\">count</th>{heads}</tr>");
    let rows = phrases::rows(report);
    for row in &rows {
        let class = if row.of_route { " class=\"part\"" } else { "" };
        let (name, number) = (markup_line(&row.name), count(row.count));
        put!(out, "<tr><td{class}>{name}</td>{}{}</tr>", cells([number]), cells(row.cells.clone()));
    }
    put!(out, "</table>\n<p class=\"small\">{}</p>\n", phrases::legend(&rows).join("<br/>"));
}

fn outcomes(out: &mut String, report: &LoadReport) {
    out.push_str("<h2>Outcomes</h2>\n<table><tr><th>route</th><th>outcome</th>");
    for name in ["count", "share", "p50", "p99", "max"] {
        put!(out, "<th class=\"n\">{name}</th>");
    }
    out.push_str("</tr>");
    for route in &report.routes {
        let all = route.response.figures.count.max(1) as f64;
        for outcome in &route.outcomes {
            let figures = &outcome.response.figures;
            put!(
                out,
                "<tr class=\"{}\"><td>{}</td><td>{}</td>{}{}</tr>",
                if outcome.expected { "" } else { "bad" },
                markup_line(&route.route),
                markup_line(&outcome.outcome),
                cells([count(outcome.count), percent(outcome.count as f64 / all)]),
                cells([Quantile::P50, Quantile::P99, Quantile::Max].map(|quantile| figures.text(quantile)))
            );
        }
    }
    out.push_str("</table>\n");
}

fn costs(out: &mut String, report: &LoadReport) {
    put!(out, "<h2>Cost</h2>\n<p>{}</p>\n", phrases::generator(report));
    if let Some(sealing) = phrases::sealing(report) {
        put!(out, "<p>{sealing}</p>\n");
    }
    if let Some(cost) = &report.edge_cost {
        put!(out, "<p>{}</p>\n{}", phrases::edge(cost), charts::memory(cost));
    }
    let texts = phrases::connections(&report.connections).into_iter().chain(phrases::probes(&report.probes));
    for text in texts {
        put!(out, "<p>{}</p>\n", markup_line(&text));
    }
    for fault in &report.faults {
        put!(out, "<p>{}</p>\n", markup_line(&phrases::fault(fault)));
    }
}

fn comparison(out: &mut String, report: &LoadReport) {
    let Some(comparison) = &report.comparison else { return };
    put!(out, "<h2>Compared with {}</h2>\n<ul>", markup_line(&comparison.baseline));
    for difference in &comparison.differences {
        let class = match difference.verdict.as_str() {
            "worse" => "bad",
            "better" => "good",
            _ => "",
        };
        put!(out, "<li class=\"{class}\">{}</li>\n", markup_line(&phrases::difference(difference)));
    }
    out.push_str("</ul>\n");
}

/// Table cells with numbers.
fn cells<const N: usize>(values: [String; N]) -> String {
    values.map(|value| format!("<td class=\"n\">{value}</td>")).concat()
}
