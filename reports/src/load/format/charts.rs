//! Charts of the HTML page.

use super::chart::{Axis, Chart};
use crate::load::model::{EdgeCost, LoadReport, TimelineMoment, Timing};
use crate::text::units::{count, micros, rate, size};

/// Response time over time; empty with several routes: a percentile over collections and polls says nothing.
pub(super) fn latency(report: &LoadReport) -> String {
    if report.routes.len() > 1 {
        return String::new();
    }
    let moments = &report.timeline.moments;
    let all = || moments.iter().flat_map(|moment| [moment.p50_us, moment.p99_us]).flatten();
    let (lowest, highest) = (all().min().unwrap_or(100) as f64, all().max().unwrap_or(1000) as f64);
    let y = Axis::log(lowest, highest, |us| micros(us as u64));
    let value = |us: Option<u64>| us.map_or(f64::NAN, |us| us as f64);
    let has_gaps = moments.iter().any(|moment| moment.due > 0 && moment.p99_us.is_none());
    let p99 = if has_gaps { "p99, with gaps where requests have no answer" } else { "p99" };
    Chart::new("Response time by intended start", time_axis(report), y)
        .band(0.0, warm_up(report), "warm-up")
        .line("p50", "a", points(report, |moment| value(moment.p50_us)))
        .line(p99, "b", points(report, |moment| value(moment.p99_us)))
        .svg()
}

/// Planned, ended and unexpected requests per second over time.
pub(super) fn rates(report: &LoadReport) -> String {
    let width = interval(report);
    let most = report
        .timeline
        .moments
        .iter()
        .map(|moment| moment.asked.max(moment.due as f64).max(moment.ended as f64))
        .fold(0.0, f64::max);
    let y = Axis::linear(most / width.max(1e-9) * 1.05, rate);
    let mut chart =
        Chart::new("Requests per second", time_axis(report), y).band(0.0, warm_up(report), "warm-up");
    if report.rate.asked.is_some() {
        chart = chart.line("planned operations", "c", points(report, |moment| moment.asked / width));
    }
    chart
        .line("ended", "a", points(report, |moment| moment.ended as f64 / width))
        .line("unexpected", "b", points(report, |moment| moment.errors as f64 / width))
        .svg()
}

/// Heat map of response times over time; empty without requests.
pub(super) fn heat_map(report: &LoadReport) -> String {
    let width = interval(report);
    let upper = |step: usize| ((step as f64 + 1.0) / 8.0).exp2();
    // A row covers two buckets: half the size of the page at sufficient resolution.
    let row = |step: usize| step / 2;
    let mut cells: Vec<(usize, usize, u64)> = Vec::new();
    let mut used: Option<(usize, usize)> = None;
    for (position, moment) in report.timeline.moments.iter().enumerate() {
        for (step, count) in moment.steps.iter().enumerate().filter(|(_, count)| **count > 0) {
            used = Some(used.map_or((step, step), |(first, last)| (first.min(step), last.max(step))));
            match cells.last_mut() {
                Some(cell) if cell.0 == position && cell.1 == row(step) => cell.2 += u64::from(*count),
                _ => cells.push((position, row(step), u64::from(*count))),
            }
        }
    }
    let Some((first, last)) = used else { return String::new() };
    let most = cells.iter().map(|cell| cell.2).max().unwrap_or(1) as f64;
    let y = Axis::log(upper(row(first) * 2).max(1.0) / 1.2, upper(last), |us| micros(us as u64));
    let mut chart = Chart::new("Distribution of response times by intended start", time_axis(report), y);
    for (position, row, count) in cells {
        let (low, high) = (if row == 0 { 1.0 } else { upper(row * 2 - 1) }, upper(row * 2 + 1));
        let (from, to) = (position as f64 * width, (position + 1) as f64 * width);
        let opacity = 0.12 + 0.88 * (count as f64).ln_1p() / most.ln_1p();
        let tooltip = format!("{from:.1} s: {count} took up to {}", micros(high as u64));
        chart.cell((from, low), (to, high), "heat", opacity, &tooltip);
    }
    chart.svg()
}

/// Percentile curves: of the first two routes, or of response and service time for a single route.
pub(super) fn percentiles(report: &LoadReport) -> String {
    let mut timings: Vec<(&str, &'static str, &Timing)> = match &report.routes[..] {
        [one, other, ..] => {
            vec![(&one.route, "a", &one.response), (&other.route, "b", &other.response)]
        }
        _ => vec![("response", "b", &report.response), ("service", "a", &report.service)],
    };
    timings.extend(report.time_to_verdict.as_ref().map(|timing| ("time to verdict", "c", timing)));
    // The horizontal position of percentile p is 1 / (1 - p): 10 is p90, 100 is p99.
    let points = |timing: &Timing| -> Vec<(f64, f64)> {
        let last = timing.figures.count.max(1) as f64;
        timing
            .curve
            .iter()
            .map(|(share, us)| ((1.0 / (1.0 - share)).min(last), (*us).max(1) as f64))
            .collect()
    };
    let label = |position: f64| {
        if position < 1.5 {
            return "p0".to_owned();
        }
        let percent = 100.0 * (1.0 - 1.0 / position);
        format!("p{}", (percent * 1e4).round() / 1e4)
    };
    let all: Vec<(f64, f64)> = timings.iter().flat_map(|(_, _, timing)| points(timing)).collect();
    let most = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(1.0, f64::max);
    let least = all.iter().map(|(_, us)| *us).fold(f64::INFINITY, f64::min);
    let x = Axis::log(1.0, most(|point| point.0), label);
    let y =
        Axis::log(if least.is_finite() { least } else { 1.0 }, most(|point| point.1), |us| micros(us as u64));
    timings
        .into_iter()
        .fold(Chart::new("Percentiles", x, y), |chart, (name, class, timing)| {
            chart.line(name, class, points(timing))
        })
        .svg()
}

/// Histogram of a timing; empty without samples.
pub(super) fn histogram(title: &str, timing: &Timing) -> String {
    let (Some(first), Some(last)) = (timing.distribution.first(), timing.distribution.last()) else {
        return String::new();
    };
    let step = 2f64.powf(0.25);
    let most = timing.distribution.iter().map(|(_, count)| *count).max().unwrap_or(1) as f64;
    let x = Axis::log(first.0 as f64 / step, last.0 as f64, |us| micros(us as u64));
    let mut chart = Chart::new(title, x, Axis::linear(most * 1.05, |number| count(number as u64)));
    for (upper, number) in &timing.distribution {
        let to = *upper as f64;
        let tooltip = format!("{} took up to {}", count(*number), micros(*upper));
        chart.cell((to / step, 0.0), (to, *number as f64), "bar", 1.0, &tooltip);
    }
    chart.svg()
}

/// Memory of the edge over time.
pub(super) fn memory(cost: &EdgeCost) -> String {
    let seconds = |at_ms: u64| at_ms as f64 / 1000.0;
    let end = cost.moments.last().map_or(1.0, |moment| seconds(moment.at_ms));
    let y = Axis::linear(cost.memory_most as f64 * 1.1, |bytes| size(bytes as u64));
    let points = cost.moments.iter().map(|moment| (seconds(moment.at_ms), moment.memory as f64)).collect();
    Chart::new("Edge memory", seconds_axis(end), y).line("", "a", points).svg()
}

/// Length of an interval of the timeline (s).
fn interval(report: &LoadReport) -> f64 {
    report.timeline.width_ms as f64 / 1000.0
}

fn warm_up(report: &LoadReport) -> f64 {
    report.plan.warm_up_ms as f64 / 1000.0
}

fn time_axis(report: &LoadReport) -> Axis {
    seconds_axis(report.timeline.moments.len() as f64 * interval(report))
}

fn seconds_axis(end: f64) -> Axis {
    Axis::linear(end, |at| format!("{at:.0} s"))
}

/// A value for each interval, at its middle.
fn points(report: &LoadReport, value: impl Fn(&TimelineMoment) -> f64) -> Vec<(f64, f64)> {
    let width = interval(report);
    let moments = report.timeline.moments.iter().enumerate();
    moments.map(|(position, moment)| (position as f64 * width + width / 2.0, value(moment))).collect()
}
