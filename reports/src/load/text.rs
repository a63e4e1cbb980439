use std::fmt::Write as _;

use owo_colors::{OwoColorize as _, Style};

use super::{Figures, LoadReport, LoadState, Model, Rates, Seal};
use crate::escape::one_line;

/// `640 µs`, `1.30 ms`, `2.4 s`.
pub fn micros(us: u64) -> String {
    crate::figures::micros(us)
}

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `499.8/s`.
pub fn rate(per_second: f64) -> String {
    if per_second >= 1000.0 {
        format!("{}/s", count(per_second.round() as u64))
    } else {
        format!("{per_second:.1}/s")
    }
}

/// `0:42`, `1:02:03`.
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// The summary for a terminal. `quiet`: the result alone, with what is broken.
pub fn render(report: &LoadReport, color: bool, quiet: bool) -> String {
    let mut text = Text { out: String::new(), color };
    if !quiet {
        text.head(report);
        text.figures(report);
        text.outcomes(report);
        text.costs(report);
    }
    text.thresholds(report, quiet);
    text.comparison(report);
    for finding in &report.findings {
        text.line(&format!("  ! {}", one_line(finding)), Style::new().yellow());
    }
    let style = if report.exit_code == 0 { Style::new().green().bold() } else { Style::new().red().bold() };
    text.line(&format!("  {}", report.verdict()), style);
    text.out
}

/// What was asked and what came of it: `asked 500.0/s, begun 500.0/s, delivered 499.9/s`.
pub(super) fn rates(rates: &Rates) -> String {
    let asked = rates.asked.map_or(String::new(), |asked| format!("asked {}, ", rate(asked)));
    format!("{asked}begun {}, delivered {}", rate(rates.begun), rate(rates.delivered))
}

/// The stages, or the users of a closed model.
pub(super) fn plan(report: &LoadReport) -> String {
    let users = count(u64::from(report.plan.users));
    if report.model == Model::Closed {
        return format!("closed model: {users} users, each begins when its last operation has ended");
    }
    let stages = report.plan.stages.iter().map(|stage| {
        let time = crate::figures::took(stage.time_ms);
        if (stage.from - stage.to).abs() < 1e-9 {
            format!("{} for {time}", rate(stage.to))
        } else {
            format!("{} to {} in {time}", rate(stage.from), rate(stage.to))
        }
    });
    format!("open model: {}; {users} users", stages.collect::<Vec<_>>().join(", "))
}

/// What was loaded.
pub(super) fn target(report: &LoadReport) -> String {
    let target = &report.target;
    let mut words = Vec::new();
    match (&target.edge_url, &target.base_url) {
        (Some(_), _) => words.push(format!("{} edge", target.kind.name())),
        (None, None) => words.push("embedded service".to_owned()),
        (None, Some(_)) => {}
    }
    words.extend(target.command.as_ref().map(|command| format!("`{}`", one_line(command))));
    words.extend(target.edge_url.as_ref().map(|url| one_line(url).into_owned()));
    words.extend(target.base_url.as_ref().map(|url| format!("verdicts from {}", one_line(url))));
    words.join(" ")
}

/// The rows of figures: what they are, and the figures.
pub(super) fn rows(report: &LoadReport) -> Vec<(String, Figures)> {
    let mut rows = vec![
        ("response".to_owned(), report.response.figures),
        ("service".to_owned(), report.service.figures),
    ];
    rows.extend(report.time_to_verdict.as_ref().map(|timing| ("time to verdict".to_owned(), timing.figures)));
    if report.routes.len() > 1 {
        rows.extend(report.routes.iter().map(|route| (route.route.clone(), route.response.figures)));
    }
    rows.extend(
        report.edge_added.as_ref().map(|added| ("added by the edge".to_owned(), added.timing.figures)),
    );
    if report.waiting.figures.max_us > 1000 {
        rows.push(("waiting for a connection".to_owned(), report.waiting.figures));
    }
    if report.model == Model::Open {
        rows.push(("lateness of the generator".to_owned(), report.lateness.figures));
    }
    rows
}

/// What runs in the generator's process, and is in what it cost.
pub(super) fn included(report: &LoadReport) -> &'static str {
    match (&report.target.kind, &report.target.edge_url) {
        (crate::TargetKind::Embedded, Some(_)) => ", edge and service included",
        (crate::TargetKind::Embedded, None) | (crate::TargetKind::Launched, _) => ", service included",
        (crate::TargetKind::Attached, _) => "",
    }
}

/// What sealing cost, where collections were sealed.
pub(super) fn sealing(report: &LoadReport) -> Option<String> {
    let Seal::Real { cost_us, not_in_time } = report.plan.seal else { return None };
    let late = match not_in_time {
        0 => "all ahead of their time".to_owned(),
        some => format!("{} NOT in time", count(some)),
    };
    Some(format!("sealing: {} of CPU for each collection, {late}", micros(cost_us as u64)))
}

/// `12.3 MiB`.
pub(super) fn bytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1024.0 / 1024.0)
}

struct Text {
    out: String,
    color: bool,
}

impl Text {
    fn line(&mut self, line: &str, style: Style) {
        if self.color {
            let _ = writeln!(self.out, "{}", line.style(style));
        } else {
            let _ = writeln!(self.out, "{line}");
        }
    }

    fn plain(&mut self, line: &str) {
        let _ = writeln!(self.out, "{line}");
    }

    fn head(&mut self, report: &LoadReport) {
        self.line(&format!("{}  {}", report.scenario, target(report)), Style::new().bold());
        self.plain(&format!("  {}", plan(report)));
        if report.shards.len() > 1 || report.shards.first().is_some_and(|shard| shard.count > 1) {
            let of = report.shards.first().map_or(1, |shard| shard.count);
            let indexes: Vec<String> = report.shards.iter().map(|shard| shard.index.to_string()).collect();
            self.plain(&format!("  shards {} of {of}", indexes.join(", ")));
        }
        self.plain(&format!("  {}", rates(&report.rate)));
        let ledger = &report.ledger;
        self.plain(&format!(
            "  {} scheduled = {} answered + {} failed + {} never begun + {} still open",
            count(ledger.scheduled),
            count(ledger.answered),
            count(ledger.failed),
            count(ledger.dropped),
            count(ledger.open)
        ));
        for counted in &report.reconciled {
            let word = if counted.agrees { "agrees" } else { "DOES NOT AGREE" };
            let (sent, arrived) = (count(counted.sent), count(counted.arrived));
            self.plain(&format!("  {}: {sent} sent, the service counted {arrived}: {word}", counted.route));
        }
    }

    fn figures(&mut self, report: &LoadReport) {
        let head = ["p50", "p90", "p95", "p99", "p99.9", "max"].map(|name| format!("{name:>10}")).concat();
        self.line(&format!("\n  {:<26}{head}", ""), Style::new().dimmed());
        for (name, figures) in rows(report) {
            let Figures { p50_us, p90_us, p95_us, p99_us, p999_us, max_us, .. } = figures;
            let cells = [p50_us, p90_us, p95_us, p99_us, p999_us, max_us]
                .map(|us| format!("{:>10}", micros(us)))
                .concat();
            self.plain(&format!("  {:<26}{cells}", one_line(&name)));
        }
    }

    fn outcomes(&mut self, report: &LoadReport) {
        self.plain("");
        for route in &report.routes {
            self.plain(&format!("  {}", one_line(&route.route)));
            for outcome in &route.outcomes {
                let (mark, style) =
                    if outcome.expected { (" ", Style::new()) } else { ("✗", Style::new().red()) };
                let line = format!("  {mark} {:>12}  {}", count(outcome.count), one_line(&outcome.outcome));
                self.line(&line, style);
            }
        }
    }

    fn costs(&mut self, report: &LoadReport) {
        let generator = &report.generator;
        let with = included(report);
        self.plain(&format!(
            "\n  generator: {:.2} CPU s for 100,000 requests{with}, {} to {}",
            generator.cpu_s_per_100k,
            bytes(generator.memory_first),
            bytes(generator.memory_last)
        ));
        if let Some(sealing) = sealing(report) {
            self.plain(&format!("  {sealing}"));
        }
        if let Some(cost) = &report.edge_cost {
            self.plain(&format!(
                "  edge: {:.2} CPU s for 100,000 requests, {} to {}, at most {}",
                cost.cpu_s_per_100k,
                bytes(cost.memory_first),
                bytes(cost.memory_last),
                bytes(cost.memory_most)
            ));
        }
        for fault in &report.faults {
            self.plain(&format!("  {}", suffered(fault)));
        }
    }

    fn thresholds(&mut self, report: &LoadReport, quiet: bool) {
        let shown = report.thresholds.iter().filter(|threshold| !quiet || !threshold.holds);
        for threshold in shown {
            let (mark, style) =
                if threshold.holds { ("✓", Style::new().green()) } else { ("✗", Style::new().red()) };
            self.line(&format!("  {mark} {}", judged(threshold)), style);
        }
    }

    fn comparison(&mut self, report: &LoadReport) {
        let Some(comparison) = &report.comparison else { return };
        self.plain(&format!(
            "  against {} of {}",
            one_line(&comparison.baseline),
            one_line(&comparison.started)
        ));
        for difference in &comparison.differences {
            let style = match difference.verdict.as_str() {
                "worse" => Style::new().red(),
                "better" => Style::new().green(),
                _ => Style::new().dimmed(),
            };
            self.line(&format!("    {}", compared(difference)), style);
        }
    }
}

/// `p99 <= 250ms: 12.30 ms, 95 % to spare`.
pub(super) fn judged(threshold: &super::ThresholdResult) -> String {
    let route = threshold.route.as_ref().map_or(String::new(), |route| format!("{} ", one_line(route)));
    let by_default = if threshold.by_default { " (unless given)" } else { "" };
    let observed = threshold.observed.as_deref().unwrap_or("nothing to judge");
    let margin = match threshold.margin {
        None => String::new(),
        Some(margin) if margin < 0.0 => format!(", {:.0} % beyond it", -margin * 100.0),
        Some(margin) => format!(", {:.0} % to spare", margin * 100.0),
    };
    format!("{route}{}{by_default}: {observed}{margin}", threshold.rule)
}

/// `service down at 10s for 2s, 31 hit: recovered within 0.31 s`.
pub(super) fn suffered(fault: &super::Fault) -> String {
    let hit = if fault.hit > 0 { format!(", {} hit", count(fault.hit)) } else { String::new() };
    let recovered = match (fault.ended_ms, fault.recovery_ms) {
        (None, _) => String::new(),
        (Some(_), _) if fault.hit == 0 => ": no request met it".to_owned(),
        (Some(_), Some(0)) => ": recovered at once".to_owned(),
        (Some(_), Some(ms)) => format!(": recovered within {}", crate::figures::took(ms)),
        (Some(_), None) => ": did not recover".to_owned(),
    };
    format!("{}{hit}{recovered}", one_line(&fault.fault))
}

/// `p99: 12.30 ms, was 11.90 ms (+3.4 %, noise 5.0 %): within noise`.
pub(super) fn compared(difference: &super::Difference) -> String {
    let told = |value: f64| {
        if difference.figure.starts_with("CPU") { format!("{value:.2}") } else { micros(value as u64) }
    };
    // Beyond that, a percentage says no more than that there were too few.
    let noise = if difference.noise < 1.0 {
        format!("noise {:.1} %", difference.noise * 100.0)
    } else {
        "too few to tell".to_owned()
    };
    format!(
        "{}: {}, was {} ({:+.1} %, {noise}): {}",
        difference.figure,
        told(difference.now),
        told(difference.before),
        difference.change * 100.0,
        difference.verdict
    )
}

/// Whether the figures can be believed.
pub(super) fn is_sound(report: &LoadReport) -> bool {
    matches!(report.state, LoadState::Complete)
}
