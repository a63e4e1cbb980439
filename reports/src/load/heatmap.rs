use super::chart::{Axis, Chart};
use super::{LoadReport, micros};

/// When requests were due, and how long they took: the darker, the more.
pub(super) fn chart(report: &LoadReport) -> Option<String> {
    let timeline = &report.timeline;
    let width = timeline.width_ms as f64 / 1000.0;
    let rows = || timeline.moments.iter().flat_map(|moment| moment.steps.iter().enumerate());
    let filled = || rows().filter(|(_, count)| **count > 0).map(|(step, _)| step);
    let (first, last) = (filled().min()?, filled().max()?);
    let upper = |step: usize| ((step as f64 + 1.0) / 8.0).exp2();
    // Two steps make a row: enough to see, and half the page.
    let row = |step: usize| step / 2;
    let x = Axis::linear(timeline.moments.len() as f64 * width, |at| format!("{at:.0} s"));
    let y = Axis::log(upper(row(first) * 2).max(1.0) / 1.2, upper(last), |us| micros(us as u64));
    let mut chart =
        Chart::new("Distribution over time: when requests were due, and their response time", x, y);
    let mut cells: Vec<(usize, usize, u64)> = Vec::new();
    for (place, moment) in timeline.moments.iter().enumerate() {
        for (step, count) in moment.steps.iter().enumerate().filter(|(_, count)| **count > 0) {
            match cells.last_mut() {
                Some(cell) if cell.0 == place && cell.1 == row(step) => cell.2 += u64::from(*count),
                _ => cells.push((place, row(step), u64::from(*count))),
            }
        }
    }
    let most = cells.iter().map(|cell| cell.2).max()? as f64;
    for (place, row, count) in cells {
        let (from, to) = (if row == 0 { 1.0 } else { upper(row * 2 - 1) }, upper(row * 2 + 1));
        let strength = 0.12 + 0.88 * (count as f64).ln_1p() / most.ln_1p();
        let told = format!("{:.1} s: {count} took up to {}", place as f64 * width, micros(to as u64));
        chart.cell((place as f64 * width, from), ((place + 1) as f64 * width, to), "heat", strength, &told);
    }
    Some(chart.svg())
}
