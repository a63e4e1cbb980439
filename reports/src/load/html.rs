use std::fmt::Write as _;

use super::chart::{Axis, Chart};
use super::text::{
    bytes, compared, included, is_sound, judged, plan, rates, rows, sealing, suffered, target,
};
use super::{Figures, LoadReport, Timing, count, heatmap, micros, rate};
use crate::escape::markup;

/// One page: no network, no script.
pub(super) fn render(report: &LoadReport) -> String {
    let mut out = String::new();
    let class = if report.exit_code == 0 { "good" } else { "bad" };
    let title = format!("{}: {}", report.scenario, report.verdict());
    // Writing to a text cannot fail.
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title>\n<style>{}</style>\n<main>\n<h1 class=\"{class}\">{}</h1>\n",
        markup(&title),
        include_str!("load.css"),
        markup(&title)
    );
    let _ = writeln!(
        out,
        "<p>{}<br>{}<br>started {}</p>",
        markup(&target(report)),
        markup(&plan(report)),
        markup(&report.started)
    );
    tiles(&mut out, report);
    if !report.findings.is_empty() {
        let class = if is_sound(report) { "note" } else { "note bad" };
        let _ = write!(out, "<ul class=\"{class}\">");
        for finding in &report.findings {
            let _ = write!(out, "<li>{}</li>", markup(finding));
        }
        out.push_str("</ul>\n");
    }
    thresholds(&mut out, report);
    ledger(&mut out, report);
    figures(&mut out, report);
    out.push_str("<h2>Over time</h2>\n");
    out.push_str(&latency(report));
    out.push_str(&rate_chart(report));
    out.push_str(&heatmap::chart(report).unwrap_or_default());
    out.push_str("<h2>Percentiles</h2>\n");
    out.push_str(&percentiles(report));
    if let Some(verdict) = &report.time_to_verdict {
        out.push_str(&distribution("Time to verdict: how many sessions took how long", verdict));
    }
    for route in &report.routes {
        let title = format!("{}: how many requests took how long, from the intended start", route.route);
        out.push_str(&distribution(&title, &route.response));
    }
    outcomes(&mut out, report);
    costs(&mut out, report);
    comparison(&mut out, report);
    out.push_str("</main></html>\n");
    out
}

/// The figures that one looks for first.
fn tiles(out: &mut String, report: &LoadReport) {
    let mut tiles: Vec<(&str, String)> = Vec::new();
    if let Some(asked) = report.rate.asked {
        tiles.push(("asked", rate(asked)));
    }
    tiles.push(("delivered", rate(report.rate.delivered)));
    tiles.push(("requests", count(report.response.figures.count)));
    let errors = report.errors();
    tiles.push(("not as expected", count(errors)));
    let timing = report.time_to_verdict.as_ref();
    let (name, figures) =
        timing.map_or(("response", &report.response.figures), |timing| ("time to verdict", &timing.figures));
    let (p50, p99) = (micros(figures.p50_us), micros(figures.p99_us));
    let _ = write!(out, "<div class=\"tiles\">");
    for (label, value) in tiles {
        let class = if label == "not as expected" && errors > 0 { " bad" } else { "" };
        let _ = write!(out, "<div class=\"tile{class}\"><b>{value}</b>{label}</div>");
    }
    for (quantile, value) in [("p50", p50), ("p99", p99)] {
        let _ = write!(out, "<div class=\"tile\"><b>{value}</b>{name} {quantile}</div>");
    }
    out.push_str("</div>\n");
}

fn thresholds(out: &mut String, report: &LoadReport) {
    if report.thresholds.is_empty() {
        return;
    }
    out.push_str("<h2>Thresholds</h2>\n<table>");
    for threshold in &report.thresholds {
        let (class, mark) = if threshold.holds { ("good", "✓") } else { ("bad", "✗") };
        let _ = write!(out, "<tr class=\"{class}\"><td>{mark}<td>{}</tr>", markup(&judged(threshold)));
    }
    out.push_str("</table>\n");
}

fn ledger(out: &mut String, report: &LoadReport) {
    let ledger = &report.ledger;
    let _ = writeln!(
        out,
        "<h2>Everything accounted for</h2>\n<p>{}</p>\n<table><tr><th>scheduled<th>answered<th>failed<th>never begun<th>still \
         open</tr><tr>{}</tr></table>",
        markup(&rates(&report.rate)),
        [ledger.scheduled, ledger.answered, ledger.failed, ledger.dropped, ledger.open]
            .map(|number| format!("<td class=\"n\">{}", count(number)))
            .concat()
    );
    for counted in &report.reconciled {
        let class = if counted.agrees { "good" } else { "bad" };
        let _ = writeln!(
            out,
            "<p class=\"{class}\">{}: {} sent, the service counted {}</p>",
            markup(&counted.route),
            count(counted.sent),
            count(counted.arrived)
        );
    }
}

fn figures(out: &mut String, report: &LoadReport) {
    out.push_str(
        "<h2>Figures</h2>\n<table><tr><th><th>count<th>p50<th>p90<th>p95<th>p99<th>p99.9<th>max</tr>",
    );
    for (name, figures) in rows(report) {
        let Figures { p50_us, p90_us, p95_us, p99_us, p999_us, max_us, count: number, .. } = figures;
        let cells = [p50_us, p90_us, p95_us, p99_us, p999_us, max_us]
            .map(|us| format!("<td class=\"n\">{}", micros(us)))
            .concat();
        let _ = write!(out, "<tr><td>{}<td class=\"n\">{}{cells}</tr>", markup(&name), count(number));
    }
    out.push_str("</table>\n<p class=\"small\">Response times count from the intended start; service times from the sending.</p>\n");
}

fn seconds(report: &LoadReport) -> (f64, Axis) {
    let width = report.timeline.width_ms as f64 / 1000.0;
    let end = report.timeline.moments.len() as f64 * width;
    (width, Axis::linear(end, |at| format!("{at:.0} s")))
}

/// In seconds.
fn warm_up(report: &LoadReport) -> f64 {
    report.plan.warm_up_ms as f64 / 1000.0
}

fn latency(report: &LoadReport) -> String {
    let (width, x) = seconds(report);
    let moments = &report.timeline.moments;
    let highest = moments.iter().filter_map(|moment| moment.p99_us).max().unwrap_or(1000) as f64;
    let lowest = moments.iter().filter_map(|moment| moment.p50_us).min().unwrap_or(100) as f64;
    let points = |of: fn(&super::TimelineMoment) -> Option<u64>| {
        let at = |(place, moment)| {
            (place as f64 * width + width / 2.0, of(moment).map_or(f64::NAN, |us| us as f64))
        };
        moments.iter().enumerate().map(at).collect()
    };
    Chart::new("Response time of what was due then", x, Axis::log(lowest, highest, |us| micros(us as u64)))
        .band(0.0, warm_up(report), "warm-up")
        .line("p50", "a", points(|moment| moment.p50_us))
        .line("p99", "b", points(|moment| moment.p99_us))
        .svg()
}

fn rate_chart(report: &LoadReport) -> String {
    let (width, x) = seconds(report);
    let moments = &report.timeline.moments;
    let most = moments
        .iter()
        .map(|moment| moment.asked.max(moment.due as f64).max(moment.ended as f64))
        .fold(0.0, f64::max);
    let points = |of: fn(&super::TimelineMoment) -> f64| {
        let at = |(place, moment)| (place as f64 * width + width / 2.0, of(moment) / width);
        moments.iter().enumerate().map(at).collect::<Vec<_>>()
    };
    let y = Axis::linear(most / width.max(1e-9) * 1.05, rate);
    let mut chart = Chart::new("Requests a second", x, y).band(0.0, warm_up(report), "warm-up");
    if report.rate.asked.is_some() {
        chart = chart.line("operations asked", "c", points(|moment| moment.asked));
    }
    chart
        .line("ended", "a", points(|moment| moment.ended as f64))
        .line("not as expected", "b", points(|moment| moment.errors as f64))
        .svg()
}

fn percentiles(report: &LoadReport) -> String {
    let label = |nines: f64| match nines {
        n if n < 1.5 => "p0".to_owned(),
        n => {
            let share = 100.0 * (1.0 - 1.0 / n);
            format!("p{}", (share * 1e4).round() / 1e4)
        }
    };
    // Routes side by side where there are several: what they have in common says little.
    let timings: Vec<(&str, &'static str, &Timing)> = match &report.routes[..] {
        [one, other, ..] => {
            vec![(&one.route, "a", &one.response), (&other.route, "b", &other.response)]
        }
        _ => vec![("response", "b", &report.response), ("service", "a", &report.service)],
    };
    let timings: Vec<_> = timings
        .into_iter()
        .chain(report.time_to_verdict.as_ref().map(|timing| ("time to verdict", "c", timing)))
        .collect();
    let points = |timing: &Timing| -> Vec<(f64, f64)> {
        let last = timing.figures.count.max(1) as f64;
        timing
            .curve
            .iter()
            .map(|(share, us)| ((1.0 / (1.0 - share)).min(last), (*us).max(1) as f64))
            .collect()
    };
    let all: Vec<(f64, f64)> = timings.iter().flat_map(|(_, _, timing)| points(timing)).collect();
    let most = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(1.0, f64::max);
    let least = all.iter().map(|(_, us)| *us).fold(f64::INFINITY, f64::min);
    let x = Axis::log(1.0, most(|point| point.0), label);
    let y =
        Axis::log(if least.is_finite() { least } else { 1.0 }, most(|point| point.1), |us| micros(us as u64));
    timings
        .into_iter()
        .fold(Chart::new("What this part of them did not exceed", x, y), |chart, (name, class, timing)| {
            chart.line(name, class, points(timing))
        })
        .svg()
}

fn distribution(title: &str, timing: &Timing) -> String {
    let (Some(first), Some(last)) = (timing.distribution.first(), timing.distribution.last()) else {
        return String::new();
    };
    let step = 2f64.powf(0.25);
    let most = timing.distribution.iter().map(|(_, count)| *count).max().unwrap_or(1) as f64;
    let x = Axis::log(first.0 as f64 / step, last.0 as f64, |us| micros(us as u64));
    let mut chart = Chart::new(title, x, Axis::linear(most * 1.05, |number| count(number as u64)));
    for (upper, number) in &timing.distribution {
        let to = *upper as f64;
        let told = format!("{} took up to {}", count(*number), micros(*upper));
        chart.cell((to / step, 0.0), (to, *number as f64), "bar", 1.0, &told);
    }
    chart.svg()
}

fn outcomes(out: &mut String, report: &LoadReport) {
    out.push_str(
        "<h2>Outcomes</h2>\n<table><tr><th>route<th>outcome<th>count<th>part<th>p50<th>p99<th>max</tr>",
    );
    for route in &report.routes {
        let whole = route.response.figures.count.max(1) as f64;
        for outcome in &route.outcomes {
            let class = if outcome.expected { "" } else { "bad" };
            let Figures { p50_us, p99_us, max_us, .. } = outcome.response.figures;
            let part = outcome.count as f64 * 100.0 / whole;
            let cells = [p50_us, p99_us, max_us].map(|us| format!("<td class=\"n\">{}", micros(us))).concat();
            let _ = write!(
                out,
                "<tr class=\"{class}\"><td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{part:.2} %{cells}</tr>",
                markup(&route.route),
                markup(&outcome.outcome),
                count(outcome.count)
            );
        }
    }
    out.push_str("</table>\n");
}

fn costs(out: &mut String, report: &LoadReport) {
    let generator = &report.generator;
    let _ = writeln!(
        out,
        "<h2>Cost</h2>\n<p>Generator: {:.2} CPU s for 100,000 requests{} on {} processors, memory {} to {}.</p>",
        generator.cpu_s_per_100k,
        included(report),
        generator.processors,
        bytes(generator.memory_first),
        bytes(generator.memory_last)
    );
    if let Some(sealing) = sealing(report) {
        let _ = writeln!(out, "<p>{}.</p>", markup(&sealing));
    }
    if let Some(cost) = &report.edge_cost {
        let _ = writeln!(
            out,
            "<p>Edge: {:.2} CPU s for 100,000 requests, memory {} to {}, at most {}.</p>",
            cost.cpu_s_per_100k,
            bytes(cost.memory_first),
            bytes(cost.memory_last),
            bytes(cost.memory_most)
        );
        let end = cost.moments.last().map_or(1.0, |moment| moment.at_ms as f64 / 1000.0);
        let x = Axis::linear(end, |at| format!("{at:.0} s"));
        let y = Axis::linear(cost.memory_most as f64 * 1.1, |size| bytes(size as u64));
        let points =
            cost.moments.iter().map(|moment| (moment.at_ms as f64 / 1000.0, moment.memory as f64)).collect();
        out.push_str(&Chart::new("Memory of the edge", x, y).line("", "a", points).svg());
    }
    for fault in &report.faults {
        let _ = writeln!(out, "<p>{}</p>", markup(&suffered(fault)));
    }
}

fn comparison(out: &mut String, report: &LoadReport) {
    let Some(comparison) = &report.comparison else { return };
    let _ = writeln!(out, "<h2>Against {}</h2>\n<ul>", markup(&comparison.baseline));
    for difference in &comparison.differences {
        let class = match difference.verdict.as_str() {
            "worse" => "bad",
            "better" => "good",
            _ => "",
        };
        let _ = writeln!(out, "<li class=\"{class}\">{}</li>", markup(&compared(difference)));
    }
    out.push_str("</ul>\n");
}
