use std::fmt::Write as _;

use super::text::{compared, judged, plan, rates, rows, target};
use super::{Figures, LoadReport, count, micros};
use crate::escape::{markup, one_line};

/// A summary for a pull request.
pub(super) fn render(report: &LoadReport) -> String {
    let mut out = String::new();
    let mark = if report.exit_code == 0 { "✅" } else { "❌" };
    // Writing to a text cannot fail.
    let _ = writeln!(out, "## {mark} {}: {}\n", cell(&report.scenario), report.verdict());
    let _ = writeln!(out, "{} — {}\n", cell(&target(report)), cell(&plan(report)));
    let ledger = &report.ledger;
    let _ = writeln!(
        out,
        "{}. {} scheduled = {} answered + {} failed + {} never begun + {} still open.\n",
        rates(&report.rate),
        count(ledger.scheduled),
        count(ledger.answered),
        count(ledger.failed),
        count(ledger.dropped),
        count(ledger.open)
    );
    for finding in &report.findings {
        let _ = writeln!(out, "> {}\n", cell(finding));
    }
    if !report.thresholds.is_empty() {
        let _ = writeln!(out, "| | Threshold |\n|---|---|");
        for threshold in &report.thresholds {
            let mark = if threshold.holds { "✅" } else { "❌" };
            let _ = writeln!(out, "| {mark} | {} |", cell(&judged(threshold)));
        }
        out.push('\n');
    }
    let _ = writeln!(out, "| | p50 | p90 | p95 | p99 | p99.9 | max |\n|---|---:|---:|---:|---:|---:|---:|");
    for (name, figures) in rows(report) {
        let Figures { p50_us, p90_us, p95_us, p99_us, p999_us, max_us, .. } = figures;
        let cells = [p50_us, p90_us, p95_us, p99_us, p999_us, max_us].map(micros).join(" | ");
        let _ = writeln!(out, "| {} | {cells} |", cell(&name));
    }
    let _ = writeln!(out, "\n| Route | Outcome | Count | p99 |\n|---|---|---:|---:|");
    for route in &report.routes {
        for outcome in &route.outcomes {
            let mark = if outcome.expected { "" } else { "❌ " };
            let p99 = micros(outcome.response.figures.p99_us);
            let _ = writeln!(
                out,
                "| {} | {mark}{} | {} | {p99} |",
                cell(&route.route),
                cell(&outcome.outcome),
                count(outcome.count)
            );
        }
    }
    if let Some(comparison) = &report.comparison {
        let _ = writeln!(out, "\nAgainst {}:\n", cell(&comparison.baseline));
        for difference in &comparison.differences {
            let _ = writeln!(out, "- {}", cell(&compared(difference)));
        }
    }
    out
}

/// Text in a cell: no HTML, no cell of its own, no code.
fn cell(text: &str) -> String {
    markup(&one_line(text)).replace('|', "\\|").replace('`', "\\`").replace('*', "\\*").replace('_', "\\_")
}
