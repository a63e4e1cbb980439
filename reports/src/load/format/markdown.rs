use super::phrases;
use crate::load::model::{LoadReport, Quantile};
use crate::text::markdown::literal;
use crate::text::units::count;

/// Markdown summary for a pull request.
pub(super) fn render(report: &LoadReport) -> String {
    let mut out = String::new();
    let mark = if report.exit_code == 0 { "✅" } else { "❌" };
    put!(out, "## {mark} {}: {}\n\n", literal(&report.scenario), report.verdict());
    put!(out, "{} — {}\n\n", literal(&phrases::target(report)), literal(&phrases::plan(report)));
    put!(out, "{}. {}.\n\n", phrases::rates(&report.rate), phrases::ledger(&report.ledger));
    for clock in phrases::clocks(report) {
        put!(out, "- {}\n", literal(&clock));
    }
    out.push_str(if report.shards.iter().any(|shard| shard.clock.is_some()) { "\n" } else { "" });
    for finding in &report.findings {
        put!(out, "> {}\n\n", literal(finding));
    }
    if !report.thresholds.is_empty() {
        out.push_str("| | Threshold |\n|---|---|\n");
        for threshold in &report.thresholds {
            let mark = match threshold.holds {
                _ if report.as_shard().is_some() => "",
                true => "✅",
                false => "❌",
            };
            put!(out, "| {mark} | {} |\n", literal(&phrases::threshold(threshold)));
        }
        out.push('\n');
    }
    put!(
        out,
        "| | {} |\n|---|---:|---:|---:|---:|---:|---:|\n",
        Quantile::ALL.map(Quantile::name).join(" | ")
    );
    let rows = phrases::rows(report);
    for row in &rows {
        let indent = if row.of_route { "&emsp;" } else { "" };
        let cells = row.cells.each_ref().map(|cell| literal(cell)).join(" | ");
        put!(out, "| {indent}{} | {cells} |\n", literal(&row.name));
    }
    out.push('\n');
    for text in phrases::legend(&rows) {
        put!(out, "{}\n", literal(text));
    }
    out.push_str("\n| Route | Outcome | Count | p99 |\n|---|---|---:|---:|\n");
    for route in &report.routes {
        for outcome in &route.outcomes {
            put!(
                out,
                "| {} | {}{} | {} | {} |\n",
                literal(&route.route),
                if outcome.expected { "" } else { "❌ " },
                literal(&outcome.outcome),
                count(outcome.count),
                literal(&outcome.response.figures.text(Quantile::P99))
            );
        }
    }
    let texts = phrases::connections(&report.connections).into_iter().chain(phrases::probes(&report.probes));
    for text in texts {
        put!(out, "\n{}\n", literal(&text));
    }
    if let Some(comparison) = &report.comparison {
        put!(out, "\nCompared with {}:\n\n", literal(&comparison.baseline));
        for difference in &comparison.differences {
            put!(out, "- {}\n", literal(&phrases::difference(difference)));
        }
    }
    out
}
