use edgeproof_reports::load::ThresholdResult;

use super::histogram::Histogram;
use crate::plan::{Limit, Metric, Threshold};

/// Measured values for thresholds: of one route, or of the whole run.
#[derive(Debug, Clone, Default)]
pub struct ThresholdInputs {
    /// Response times of all measured requests.
    pub response: Histogram,
    /// Number of measured requests.
    pub count: u64,
    /// Number of measured requests with an unexpected outcome.
    pub errors: u64,
    /// Answers per second.
    pub rate: f64,
    /// Times to verdict, if the scenario polls for verdicts.
    pub verdict: Option<Histogram>,
    /// Sessions without a verdict. They rank above every time to verdict.
    pub without_verdict: u64,
}

/// Judges thresholds. A threshold without data is broken.
///
/// `of` returns the measured values of a route or of the whole run; `None` for an unknown route.
pub fn judge<'a>(
    thresholds: impl IntoIterator<Item = (&'a Threshold, bool)>,
    of: impl Fn(Option<&str>) -> Option<ThresholdInputs>,
) -> Vec<ThresholdResult> {
    thresholds
        .into_iter()
        .map(|(threshold, by_default)| {
            let observed = of(threshold.route.as_deref()).filter(|observed| observed.count > 0);
            let value = observed.as_ref().and_then(|observed| value(threshold.metric, observed));
            let (limit, at_least) = match threshold.limit {
                Limit::AtMostMicros(us) => (us as f64, false),
                Limit::AtMostShare(share) => (share.value(), false),
                Limit::AtLeastRate(rate) => (rate.value(), true),
            };
            let holds = value.is_some_and(|value| if at_least { value >= limit } else { value <= limit });
            let room = value.map(|value| if at_least { value - limit } else { limit - value });
            ThresholdResult {
                rule: threshold.rule(),
                route: threshold.route.clone(),
                by_default,
                observed: value
                    .map(|value| rendered(threshold.metric, value))
                    .or_else(|| never(threshold.metric, observed.as_ref())),
                value,
                limit,
                margin: room.filter(|_| limit > 0.0).map(|room| room / limit),
                holds,
            }
        })
        .collect()
}

fn value(metric: Metric, observed: &ThresholdInputs) -> Option<f64> {
    match metric {
        Metric::Response(quantile) => Some(observed.response.at(quantile) as f64),
        Metric::TimeToVerdict(quantile) => {
            let verdict = observed.verdict.as_ref().filter(|verdict| verdict.count() > 0)?;
            let sessions = verdict.count() + observed.without_verdict;
            let rank = (quantile.share() * sessions as f64).ceil();
            let share = rank / verdict.count() as f64;
            // A percentile that falls on a session without a verdict has no value.
            (share <= 1.0).then(|| verdict.value_at(share) as f64)
        }
        Metric::ErrorRate => Some(observed.errors as f64 / observed.count as f64),
        Metric::Rate => Some(observed.rate),
    }
}

/// Text instead of a time to verdict that has no value.
fn never(metric: Metric, observed: Option<&ThresholdInputs>) -> Option<String> {
    let without = observed?.without_verdict;
    (matches!(metric, Metric::TimeToVerdict(_)) && without > 0)
        .then(|| format!("never, for {without} sessions"))
}

fn rendered(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Response(_) | Metric::TimeToVerdict(_) => edgeproof_reports::load::micros(value as u64),
        // A small share is not zero.
        Metric::ErrorRate if value > 0.0 && value < 0.0001 => "< 0.01 %".into(),
        Metric::ErrorRate => format!("{:.2} %", value * 100.0),
        Metric::Rate => format!("{value:.1}/s"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn observed(route: Option<&str>) -> Option<ThresholdInputs> {
        if route.is_some_and(|route| route != "POST /v1/signals") {
            return None;
        }
        let mut response = Histogram::new();
        (1..=1000).for_each(|ms| response.record_micros(ms * 1000));
        Some(ThresholdInputs {
            response,
            count: 1000,
            errors: 5,
            rate: 99.5,
            verdict: None,
            without_verdict: 0,
        })
    }

    #[rstest]
    #[case("p50<501ms", true, "500.22 ms")]
    #[case("p50<499ms", false, "500.22 ms")]
    #[case("p99.9<1s", true, "999.42 ms")]
    #[case("max<999ms", false, "1.0 s")]
    #[case("error-rate<0.5%", true, "0.50 %")]
    #[case("error-rate<0.4%", false, "0.50 %")]
    #[case("error-rate<0", false, "0.50 %")]
    #[case("rate>99.5", true, "99.5/s")]
    #[case("rate>100", false, "99.5/s")]
    #[case("POST /v1/signals p50<501ms", true, "500.22 ms")]
    #[case("GET /other p50<500ms", false, "")]
    #[case("time-to-verdict<1h", false, "")]
    fn thresholds_are_judged(#[case] given: &str, #[case] holds: bool, #[case] found: &str) {
        let threshold: Threshold = given.parse().unwrap();
        let results = judge([(&threshold, false)], observed);
        assert_eq!((results[0].holds, results[0].observed.as_deref().unwrap_or_default()), (holds, found));
    }

    #[rstest]
    #[case("time-to-verdict.p50<1s", true, "900.10 ms")]
    #[case("time-to-verdict.p90<1h", false, "never, for 20 sessions")]
    fn sessions_without_a_verdict_rank_last(#[case] given: &str, #[case] holds: bool, #[case] found: &str) {
        let mut verdict = Histogram::new();
        (0..80).for_each(|_| verdict.record_micros(900_000));
        let threshold: Threshold = given.parse().unwrap();
        let observed = ThresholdInputs {
            count: 100,
            verdict: Some(verdict),
            without_verdict: 20,
            ..ThresholdInputs::default()
        };
        let results = judge([(&threshold, false)], |_| Some(observed.clone()));
        assert_eq!((results[0].holds, results[0].observed.as_deref().unwrap_or_default()), (holds, found));
    }

    #[test]
    fn threshold_without_data_is_broken() {
        let threshold: Threshold = "p99<1h".parse().unwrap();
        let results = judge([(&threshold, true)], |_| Some(ThresholdInputs::default()));
        assert!(!results[0].holds);
        assert_eq!(results[0].value, None);
    }

    #[test]
    fn margin_is_relative_to_the_limit() {
        let thresholds: Vec<Threshold> =
            ["p50<1s", "p50<250ms", "rate>50", "error-rate<0"].map(|text| text.parse().unwrap()).into();
        let results = judge(thresholds.iter().map(|threshold| (threshold, false)), observed);
        let margins: Vec<_> =
            results.iter().map(|result| result.margin.map(|margin| (margin * 100.0).round())).collect();
        assert_eq!(margins, [Some(50.0), Some(-100.0), Some(99.0), None]);
    }
}
