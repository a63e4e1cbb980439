use super::phrases;
use crate::load::model::{LoadReport, Percentiles};
use crate::text::markdown::literal;
use crate::text::units::{count, micros};

/// Markdown summary for a pull request.
pub(super) fn render(report: &LoadReport) -> String {
    let mut out = String::new();
    let mark = if report.exit_code == 0 { "✅" } else { "❌" };
    put!(out, "## {mark} {}: {}\n\n", literal(&report.scenario), report.verdict());
    put!(out, "{} — {}\n\n", literal(&phrases::target(report)), literal(&phrases::plan(report)));
    put!(out, "{}. {}.\n\n", phrases::rates(&report.rate), phrases::ledger(&report.ledger));
    for finding in &report.findings {
        put!(out, "> {}\n\n", literal(finding));
    }
    if !report.thresholds.is_empty() {
        out.push_str("| | Threshold |\n|---|---|\n");
        for threshold in &report.thresholds {
            let mark = if threshold.holds { "✅" } else { "❌" };
            put!(out, "| {mark} | {} |\n", literal(&phrases::threshold(threshold)));
        }
        out.push('\n');
    }
    put!(out, "| | {} |\n|---|---:|---:|---:|---:|---:|---:|\n", Percentiles::COLUMNS.join(" | "));
    for (name, percentiles) in phrases::rows(report) {
        put!(out, "| {} | {} |\n", literal(&name), percentiles.row().map(micros).join(" | "));
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
                micros(outcome.response.figures.p99_us)
            );
        }
    }
    if let Some(comparison) = &report.comparison {
        put!(out, "\nCompared with {}:\n\n", literal(&comparison.baseline));
        for difference in &comparison.differences {
            put!(out, "- {}\n", literal(&phrases::difference(difference)));
        }
    }
    out
}
