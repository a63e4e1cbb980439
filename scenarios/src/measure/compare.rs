use edgeproof_reports::load::Difference;

use super::judged_times::JudgedTimes;
use super::response_times::ResponseTimes;
use crate::plan::Quantile;
use strum::IntoEnumIterator as _;

/// The compared figures of a run.
#[derive(Debug, Clone)]
pub struct ComparedRun {
    /// Response times.
    pub response: JudgedTimes,
    /// CPU seconds per 100,000 requests; `None` if the two runs measured different processes.
    pub cpu: Option<f64>,
    /// Total CPU seconds. They determine the noise of `cpu`.
    pub cpu_total: f64,
}

/// Assessment of a difference. Its text is the name in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
enum Assessment {
    /// Within the noise of the measurement.
    #[strum(to_string = "within noise")]
    WithinNoise,
    /// Above the noise and within the given tolerance.
    #[strum(to_string = "within tolerance")]
    WithinTolerance,
    /// The figure is lower.
    Better,
    /// The figure is higher.
    Worse,
}

/// Resolution of the kernel's accounting of CPU time, in seconds.
const TICK: f64 = 0.01;

/// Compares percentiles and CPU per request with an earlier run.
///
/// Noise is estimated from the data. The rank of a percentile q of n times has the standard deviation
/// √(n·q·(1−q)). The values three standard deviations away give the noise of the percentile. The noise of CPU
/// time is the resolution of its clock.
pub fn compare(before: &ComparedRun, now: &ComparedRun, tolerance: f64) -> Vec<Difference> {
    let mut differences: Vec<Difference> = Quantile::iter()
        .filter(|quantile| *quantile != Quantile::Max)
        .map(|quantile| {
            let noise = [before, now].map(|run| spread(run.response.slower(quantile), quantile)).iter().sum();
            let (earlier, later) = (before.response.at(quantile), now.response.at(quantile));
            let found = difference(quantile.name(), earlier.us as f64, later.us as f64, noise, tolerance);
            if later.at_least && !earlier.at_least {
                // Too few requests got an answer, or the expected one.
                return Difference { verdict: Assessment::Worse.to_string(), ..found };
            }
            found
        })
        .collect();
    if let (Some(earlier), Some(later)) = (before.cpu, now.cpu)
        && earlier > 0.0
        && later > 0.0
    {
        let noise =
            [before.cpu_total, now.cpu_total].map(|total| 2.0 * TICK / total.max(TICK)).iter().sum::<f64>()
                + 0.02;
        differences.push(difference("CPU s for 100,000 requests", earlier, later, noise, tolerance));
    }
    differences
}

impl Assessment {
    fn of(change: f64, noise: f64, tolerance: f64) -> Self {
        match change {
            change if change.abs() <= noise => Self::WithinNoise,
            change if change.abs() <= tolerance => Self::WithinTolerance,
            change if change < 0.0 => Self::Better,
            _ => Self::Worse,
        }
    }
}

fn difference(figure: &str, before: f64, now: f64, noise: f64, tolerance: f64) -> Difference {
    let change = if before > 0.0 { now / before - 1.0 } else { 0.0 };
    let verdict = Assessment::of(change, noise, tolerance).to_string();
    Difference { figure: figure.to_owned(), before, now, change, noise, verdict }
}

/// Noise of a percentile, as a share of it.
fn spread(times: &ResponseTimes, quantile: Quantile) -> f64 {
    let count = times.count() as f64;
    let value = times.at(quantile).us as f64;
    if value == 0.0 {
        return 1.0;
    }
    let share = quantile.share();
    let ranks = 3.0 * (count * share * (1.0 - share)).sqrt() / count;
    let (low, high) =
        (times.value_at((share - ranks).max(0.0)).us, times.value_at((share + ranks).min(1.0)).us);
    // The histogram stores three digits.
    (high as f64 - low as f64) / 2.0 / value + 0.001
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn run(count: u64, factor: f64, cpu: f64) -> ComparedRun {
        let mut response = ResponseTimes::default();
        // A long tail: 1/x.
        (1..=count).for_each(|n| {
            response.answered.record_micros((factor * 1e6 / (1.0 + 1000.0 * n as f64 / count as f64)) as u64);
        });
        let response = JudgedTimes::new(response.clone(), response);
        ComparedRun { response, cpu: Some(cpu), cpu_total: cpu * 10.0 }
    }

    /// 1,000 answers after 100 ms, or in part failures, by kind.
    #[rstest]
    #[case::fast_refusals(700, 0, "within noise")]
    #[case::nothing_but_refusals(1000, 0, "worse")]
    #[case::no_answers(0, 700, "worse")]
    #[case::nothing(0, 1000, "worse")]
    fn failures_never_improve_a_percentile(
        #[case] refused: u64,
        #[case] unanswered: u64,
        #[case] verdict: &str,
    ) {
        let ms = std::time::Duration::from_millis;
        let run = |refused: u64, unanswered: u64| {
            let mut successes = ResponseTimes::default();
            (0..1000 - refused - unanswered).for_each(|_| successes.record(ms(100), true));
            let mut response = successes.clone();
            (0..refused).for_each(|_| response.record(ms(1), true));
            (0..unanswered).for_each(|_| response.record(ms(1), false));
            ComparedRun { response: JudgedTimes::new(response, successes), cpu: None, cpu_total: 0.0 }
        };
        let differences = compare(&run(0, 0), &run(refused, unanswered), 0.1);
        assert_eq!(differences.iter().find(|found| found.figure == "p50").unwrap().verdict, verdict);
    }

    #[rstest]
    #[case::the_same(100_000, 1.0, 0.8, 0.1, "p50", "within noise")]
    #[case::a_little_slower(1_000_000, 1.05, 0.8, 0.1, "p50", "within tolerance")]
    #[case::slower(1_000_000, 1.3, 0.8, 0.1, "p50", "worse")]
    #[case::faster(1_000_000, 0.7, 0.8, 0.1, "p90", "better")]
    #[case::few_samples_hide_the_tail(200, 1.3, 0.8, 0.1, "p99.9", "within noise")]
    #[case::more_cpu(100_000, 1.0, 1.2, 0.1, "CPU s for 100,000 requests", "worse")]
    #[case::cpu_as_before(100_000, 1.0, 0.81, 0.1, "CPU s for 100,000 requests", "within noise")]
    fn change_beyond_noise_and_tolerance_is_better_or_worse(
        #[case] count: u64,
        #[case] factor: f64,
        #[case] cpu: f64,
        #[case] tolerance: f64,
        #[case] figure: &str,
        #[case] verdict: &str,
    ) {
        let differences = compare(&run(count, 1.0, 0.8), &run(count, factor, cpu), tolerance);
        let found = differences.iter().find(|difference| difference.figure == figure).unwrap();
        assert_eq!(found.verdict, verdict, "{found:?}");
    }
}
