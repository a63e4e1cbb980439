use std::time::Duration;

use edgeproof_reports::load::{LoadReport, Quantile};

use super::check::{Check, CheckOutcome, CheckResult};
use crate::service::TrueTimes;

/// A percentile of the report beside the server's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ComparedPercentile {
    pub(super) quantile: Quantile,
    /// The generator's figure.
    pub(super) reported: Duration,
    /// Whether the generator's figure is only a lower bound.
    pub(super) censored: bool,
    /// Bounds of the server's figure.
    pub(super) truth: (Duration, Duration),
    pub(super) agreement: Agreement,
}

/// Whether a reported percentile agrees with the server's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Agrees,
    /// It does not agree, but it depends on a few requests, or is beyond p99 and marked: one pause of the machine is
    /// enough.
    FewRequests,
    Contradicts,
}

/// The compared percentiles.
const COMPARED: [Quantile; 5] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999, Quantile::Max];
/// Largest relative difference.
const NEAR: f64 = 0.05;
/// Largest absolute difference that is never an error.
const CLOSE: Duration = Duration::from_micros(50);
/// A percentile with fewer requests beyond it depends on single requests.
const MANY: f64 = 5.0;
/// The longest usual wake-up of a machine without other work.
const WAKE_UP: Duration = Duration::from_micros(500);
/// Share of the requests that such a machine stalls for longer.
const STALLED: f64 = 0.01;
/// The longest pause of a busy machine.
const PAUSE: Duration = Duration::from_millis(100);

/// Compares the response times of a report with the server's record.
pub(super) fn compare(report: &LoadReport, truth: &TrueTimes) -> Vec<ComparedPercentile> {
    let figures = &report.response.figures;
    let compared = |quantile: Quantile| {
        let reported = Duration::from_micros(figures.at(quantile));
        let censored = is_lower_bound(report, quantile);
        let truth = truth.at(quantile);
        let beyond = (1.0 - quantile.share()) * figures.count as f64;
        let marked = report.distorted.iter().any(|found| found.percentile == quantile.name());
        let is_outermost = matches!(quantile, Quantile::P999 | Quantile::Max);
        let agreement = match (agrees(reported, censored, truth), beyond < MANY || is_outermost && marked) {
            (true, _) => Agreement::Agrees,
            (false, true) if is_pause(reported, truth) => Agreement::FewRequests,
            (false, _) => Agreement::Contradicts,
        };
        ComparedPercentile { quantile, reported, censored, truth, agreement }
    };
    COMPARED.map(compared).into()
}

/// Percentiles that are shorter than the intended schedule allows, with the schedule's figure: the generator left
/// out time that requests waited. Usual wake-ups of the machine are left out on purpose.
pub(super) fn shorter_than_scheduled(
    compared: &[ComparedPercentile],
    scheduled: &TrueTimes,
    count: u64,
) -> Vec<(Quantile, Duration)> {
    let judged = compared.iter().filter(|percentile| {
        !percentile.censored && (1.0 - percentile.quantile.share()) * count as f64 >= MANY
    });
    let least = judged.map(|percentile| {
        let usual = (percentile.quantile.share() - STALLED).max(0.0);
        (percentile, scheduled.at_share(usual).0)
    });
    let short = least.filter(|(percentile, least)| {
        let tolerance = tolerance(*least).max(WAKE_UP);
        percentile.reported.saturating_add(tolerance) < *least
    });
    short.map(|(percentile, least)| (percentile.quantile, least)).collect()
}

/// Whether a percentile falls on a request without an answer: such requests rank above all answered ones, so the
/// percentile is a lower bound.
fn is_lower_bound(report: &LoadReport, quantile: Quantile) -> bool {
    let outcomes = report.routes.iter().flat_map(|route| &route.outcomes);
    // The name of an answer begins with its status.
    let answered =
        outcomes.filter(|outcome| outcome.outcome.starts_with(|first: char| first.is_ascii_digit()));
    let answered: u64 = answered.map(|outcome| outcome.count).sum();
    let rank = (quantile.share() * report.response.figures.count as f64 - 1e-6).ceil() as u64;
    rank > answered
}

fn agrees(reported: Duration, censored: bool, (shortest, longest): (Duration, Duration)) -> bool {
    let not_above = reported <= longest.saturating_add(tolerance(longest));
    let not_below = reported.saturating_add(tolerance(shortest)) >= shortest;
    not_above && (censored || not_below)
}

fn is_pause(reported: Duration, (shortest, longest): (Duration, Duration)) -> bool {
    reported <= longest.saturating_add(PAUSE) && reported.saturating_add(PAUSE) >= shortest
}

fn tolerance(time: Duration) -> Duration {
    if time == Duration::MAX { CLOSE } else { time.mul_f64(NEAR).max(CLOSE) }
}

/// Width of a name.
const NAME: usize = 18;
/// Width of a percentile.
const CELL: usize = 16;

/// The list of checks.
pub(super) fn list<'a>(checks: impl Iterator<Item = &'a Check>) -> String {
    let lines = checks.map(|check| format!("{:<NAME$} {}\n", check.name, check.about));
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
    let cells = outcome.percentiles.iter().map(|compared| format!("{:>CELL$}", percentile(compared)));
    let cells = cells.collect::<Vec<_>>().concat();
    let row = format!("{mark} {:<NAME$}   {:<9}{cells}", check.name, outcome.state);
    let notes = outcome.notes.iter().map(|note| format!("      {note}\n")).collect::<Vec<_>>().concat();
    format!("{}\n{notes}", row.trim_end())
}

/// The last line: what was shown, and what was not.
pub(super) fn summary(results: &[(&Check, CheckResult)]) -> String {
    let of = |wanted: CheckResult| {
        let found = results.iter().filter(|(_, result)| *result == wanted);
        found.map(|(check, _)| check.name.as_str()).collect::<Vec<_>>()
    };
    let [shown, not_shown, failed] = [CheckResult::Shown, CheckResult::NotShown, CheckResult::Failed].map(of);
    let counted = |what: &str, names: &[&str]| match names {
        [] => format!("0 {what}"),
        names => format!("{} {what} ({})", names.len(), names.join(", ")),
    };
    let (not_shown, failed) = (counted("not shown", &not_shown), counted("failed", &failed));
    format!("{} checks shown, {not_shown}, {failed}", shown.len())
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
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::near(10_400, false, 10_000, true)]
    #[case::close(60, false, 15, true)]
    #[case::longer(11_000, false, 10_000, false)]
    #[case::shorter(9_000, false, 10_000, false)]
    #[case::lower_bound(2_000, true, 10_000, true)]
    #[case::lower_bound_above_the_truth(20_000, true, 10_000, false)]
    #[case::figure_for_a_request_without_an_answer(2_000, false, u64::MAX, false)]
    #[case::lower_bound_for_a_request_without_an_answer(2_000, true, u64::MAX, true)]
    fn figure_agrees_within_5_percent_or_50_us(
        #[case] reported: u64,
        #[case] censored: bool,
        #[case] truth: u64,
        #[case] expected: bool,
    ) {
        let truth = if truth == u64::MAX { Duration::MAX } else { Duration::from_micros(truth) };
        assert_eq!(agrees(Duration::from_micros(reported), censored, (truth, truth)), expected);
    }

    #[test]
    fn servers_own_uncertainty_is_allowed() {
        let [low, high] = [100, 10_000].map(Duration::from_micros);
        assert!(agrees(Duration::from_millis(5), false, (low, high)));
        assert!(!agrees(Duration::from_millis(11), false, (low, high)));
    }

    #[test]
    fn times_have_three_digits() {
        let ms = |us| ms(Duration::from_micros(us));
        assert_eq!([71, 2113, 55_555, 1_600_123].map(ms), ["0.071", "2.11", "55.6", "1600"]);
    }
}
