use super::phrases;
use crate::load::model::{LoadReport, Quantile, ThresholdResult};
use crate::text::escape::one_line;
use crate::text::styled::{StyledLine, TextStyle, line, paint_all};
use crate::text::units::count;

/// Terminal summary. `quiet`: only broken thresholds, findings, comparison and result.
pub fn render(report: &LoadReport, color: bool, quiet: bool) -> String {
    let mut lines = Vec::new();
    if !quiet {
        head(&mut lines, report);
        percentiles(&mut lines, report);
        outcomes(&mut lines, report);
        costs(&mut lines, report);
    }
    for threshold in report.thresholds.iter().filter(|threshold| !quiet || !threshold.holds) {
        let (mark, style) = mark(report, threshold);
        lines.push(line(style, format!("  {mark} {}", phrases::threshold(threshold))));
    }
    comparison(&mut lines, report);
    lines.extend(
        report.findings.iter().map(|finding| line(TextStyle::Warning, format!("  ! {}", one_line(finding)))),
    );
    let style = if report.exit_code == 0 { TextStyle::Good } else { TextStyle::Bad };
    lines.push(line(style, format!("  {}", report.verdict())));
    paint_all(&lines, color)
}

/// A single shard does not judge its thresholds.
fn mark(report: &LoadReport, threshold: &ThresholdResult) -> (&'static str, TextStyle) {
    match threshold.holds {
        _ if report.as_shard().is_some() => ("·", TextStyle::Dim),
        true => ("✓", TextStyle::Good),
        false => ("✗", TextStyle::Bad),
    }
}

fn head(lines: &mut Vec<StyledLine>, report: &LoadReport) {
    let mut text = |text: String| lines.push(line(TextStyle::Plain, text));
    text(format!("{}  {}", report.scenario, phrases::target(report)));
    text(format!("  {}", phrases::plan(report)));
    if let Some(first) = report.shards.first().filter(|first| first.count > 1) {
        let indexes: Vec<String> = report.shards.iter().map(|shard| shard.index.to_string()).collect();
        text(format!("  shards {} of {}", indexes.join(", "), first.count));
    }
    phrases::clocks(report).for_each(|clock| text(format!("  {clock}")));
    text(format!("  {}", phrases::rates(&report.rate)));
    text(format!("  {}", phrases::ledger(&report.ledger)));
    for counted in &report.reconciled {
        text(format!("  {}", phrases::reconciled(counted)));
    }
    lines[0][0].0 = TextStyle::Strong;
}

fn percentiles(lines: &mut Vec<StyledLine>, report: &LoadReport) {
    let rows = phrases::rows(report);
    let width = rows.iter().map(|row| row.name.chars().count() + 2).max().unwrap_or(0).max(24);
    let heads = Quantile::ALL.map(|quantile| format!("{:>11}", quantile.name())).concat();
    lines.extend([StyledLine::new(), line(TextStyle::Dim, format!("  {:<width$}{heads}", ""))]);
    for row in &rows {
        let cells = row.cells.each_ref().map(|cell| format!("{cell:>11}")).concat();
        let name = format!("{}{}", if row.of_route { "  " } else { "" }, one_line(&row.name));
        lines.push(line(TextStyle::Plain, format!("  {name:<width$}{cells}")));
    }
    let legend = phrases::legend(&rows);
    lines.extend(legend.into_iter().map(|text| line(TextStyle::Dim, format!("  {text}"))));
}

fn outcomes(lines: &mut Vec<StyledLine>, report: &LoadReport) {
    lines.push(StyledLine::new());
    for route in &report.routes {
        lines.push(line(TextStyle::Plain, format!("  {}", one_line(&route.route))));
        for outcome in &route.outcomes {
            let (mark, style) =
                if outcome.expected { (" ", TextStyle::Plain) } else { ("✗", TextStyle::Bad) };
            let text = format!("  {mark} {:>12}  {}", count(outcome.count), one_line(&outcome.outcome));
            lines.push(line(style, text));
        }
    }
}

fn costs(lines: &mut Vec<StyledLine>, report: &LoadReport) {
    lines.push(StyledLine::new());
    let texts = std::iter::once(phrases::generator(report))
        .chain(phrases::sealing(report))
        .chain(report.edge_cost.as_ref().map(phrases::edge))
        .chain(phrases::connections(&report.connections))
        .chain(phrases::probes(&report.probes))
        .chain(report.faults.iter().map(phrases::fault));
    lines.extend(texts.map(|text| line(TextStyle::Plain, format!("  {text}"))));
}

fn comparison(lines: &mut Vec<StyledLine>, report: &LoadReport) {
    let Some(comparison) = &report.comparison else { return };
    let (baseline, started) = (one_line(&comparison.baseline), one_line(&comparison.started));
    lines.push(line(TextStyle::Plain, format!("  compared with {baseline} of {started}")));
    for difference in &comparison.differences {
        let style = match difference.verdict.as_str() {
            "worse" => TextStyle::Bad,
            "better" => TextStyle::Good,
            _ => TextStyle::Dim,
        };
        lines.push(line(style, format!("    {}", phrases::difference(difference))));
    }
}
