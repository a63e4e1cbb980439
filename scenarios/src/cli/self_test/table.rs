use std::time::Duration;

use super::check::{Check, CheckOutcome, CheckResult};
use super::comparison::{Agreement, COMPARED, ComparedPercentile};
use crate::plan::Quantile;

/// Width of a name.
const NAME: usize = 18;
/// Width of a percentile.
const CELL: usize = 16;

/// The list of checks.
pub(super) fn list(checks: &[&Check]) -> String {
    let lines = checks.iter().map(|check| format!("{:<NAME$} {}\n", check.name, check.about));
    lines.collect::<Vec<_>>().concat()
}

/// The head of the table.
pub(super) fn head() -> String {
    let names = COMPARED.map(|quantile| format!("{:>CELL$}", quantile.name())).concat();
    format!("Response times (ms): reported / recorded by the server\n  {:<NAME$}   {:<9}{names}\n", "", "run")
}

/// The row of a check and its notes.
pub(super) fn row(check: &Check, outcome: &CheckOutcome) -> String {
    let mark = match outcome.result {
        CheckResult::Shown => '✓',
        CheckResult::NotShown => '-',
        CheckResult::Failed => '✗',
    };
    let cell = |quantile: Quantile| outcome.at(quantile).map_or_else(String::new, percentile);
    let cells = COMPARED.map(|quantile| format!("{:>CELL$}", cell(quantile))).concat();
    let row = format!("{mark} {:<NAME$}   {:<9}{cells}", check.name, outcome.state);
    let notes = outcome.notes.iter().map(|note| format!("      {note}\n")).collect::<Vec<_>>().concat();
    format!("{}\n{notes}", row.trim_end())
}

/// The last line: what was shown, and what was not.
pub(super) fn summary(results: &[(&Check, CheckResult)]) -> String {
    let of = |wanted: CheckResult| {
        let named = results.iter().filter(move |(_, result)| *result == wanted);
        named.map(|(check, _)| check.name.as_str()).collect::<Vec<_>>()
    };
    let named = |names: &[&str]| match names {
        [] => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    let (shown, not_shown, failed) =
        (of(CheckResult::Shown), of(CheckResult::NotShown), of(CheckResult::Failed));
    format!(
        "{} checks shown, {} not shown{}, {} failed{}",
        shown.len(),
        not_shown.len(),
        named(&not_shown),
        failed.len(),
        named(&failed)
    )
}

/// `2.15 / 2.11`: reported and recorded. A contradiction is marked with `!`.
fn percentile(compared: &ComparedPercentile) -> String {
    let ComparedPercentile { reported, censored, truth, agreement, .. } = compared;
    let bound = if *censored { "≥" } else { "" };
    let mark = match agreement {
        Agreement::Agrees => "",
        Agreement::FewRequests => "~",
        Agreement::Contradicts => "!",
    };
    format!("{mark}{bound}{} / {}", ms(*reported), ms(truth.1))
}

/// Milliseconds with three significant digits.
fn ms(time: Duration) -> String {
    if time == Duration::MAX {
        return "never".into();
    }
    let ms = time.as_secs_f64() * 1000.0;
    match ms {
        ..1.0 => format!("{ms:.3}"),
        ..10.0 => format!("{ms:.2}"),
        ..100.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let ms = |us| ms(Duration::from_micros(us));
        assert_eq!([71, 2113, 55_555, 1_600_123].map(ms), ["0.071", "2.11", "55.6", "1600"]);
    }
}
