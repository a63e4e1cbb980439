use edgeproof_reports::load::{LoadReport, Rates, ThresholdResult, bounded, percent, rate};

use crate::measure::{JudgedTimes, ResponseTime, ResponseTimes};
use crate::plan::{Limit, Metric, Threshold};

/// Measured values for thresholds: of one route, or of the whole run.
#[derive(Debug, Clone, Default)]
struct ThresholdInputs {
    /// Response times of the measured requests.
    response: JudgedTimes,
    /// Number of measured requests.
    count: u64,
    /// Number of measured requests with an unexpected outcome.
    errors: u64,
    /// Answers per second.
    rate: f64,
    /// Planned and delivered rate; `None` for a route.
    rates: Option<Rates>,
    /// Share of the operations that failed or had an unexpected answer.
    failed: f64,
    /// Share of the operations that were still running at the end.
    open: f64,
    /// Times to verdict, if the scenario polls for verdicts.
    verdict: Option<ResponseTimes>,
}

/// A measured value with its text.
struct Measured {
    value: f64,
    at_least: bool,
    text: String,
}

/// Judges thresholds on the figures of a report: of one run, or of a sum.
pub(super) fn judge_report(report: &LoadReport, thresholds: &[(Threshold, bool)]) -> Vec<ThresholdResult> {
    let result = |(threshold, by_default): &(Threshold, bool)| {
        let inputs = match &threshold.route {
            Some(route) => ThresholdInputs::of_route(report, route),
            None => ThresholdInputs::of_run(report),
        };
        judge(threshold, *by_default, inputs.as_ref())
    };
    thresholds.iter().map(result).collect()
}

impl ThresholdInputs {
    fn of_run(report: &LoadReport) -> Option<Self> {
        // The worse of both rates: the many polls of a session must not hide that the session failed.
        let (ledger, requests) = (&report.ledger, (report.errors(), report.response.figures.count));
        let operations = (ledger.wrong(), ledger.scheduled);
        let part = |(wrong, all): (u64, u64)| if all == 0 { 0.0 } else { wrong as f64 / all as f64 };
        let (errors, count) = if part(operations) > part(requests) { operations } else { requests };
        Some(Self {
            response: JudgedTimes::restore(&report.response, &report.successes).ok()?,
            count,
            errors,
            rate: report.rate.delivered,
            rates: Some(report.rate),
            failed: part((ledger.unexpected + ledger.failed, ledger.scheduled)),
            open: part((ledger.open, ledger.scheduled)),
            verdict: report.time_to_verdict.as_ref().and_then(|timing| ResponseTimes::of(timing).ok()),
        })
    }

    /// `None` for an unknown route.
    fn of_route(report: &LoadReport, name: &str) -> Option<Self> {
        let route = report.routes.iter().find(|route| route.route == name)?;
        Some(Self {
            response: JudgedTimes::restore(&route.response, &route.successes).ok()?,
            count: route.response.figures.count,
            errors: route.errors,
            rate: route.answered_per_s,
            ..Self::default()
        })
    }
}

/// Judges a threshold. Without data it is broken, and so is an upper limit of a value that is only known to be at least
/// something.
fn judge(threshold: &Threshold, by_default: bool, inputs: Option<&ThresholdInputs>) -> ThresholdResult {
    let measured = inputs.filter(|inputs| inputs.count > 0).and_then(|inputs| measured(threshold, inputs));
    let Limit { value: limit, at_least } = threshold.limit;
    let value = measured.as_ref().map(|measured| measured.value);
    let is_bound = measured.as_ref().is_some_and(|measured| measured.at_least);
    let room = value.map(|value| if at_least { value - limit } else { limit - value });
    ThresholdResult {
        rule: threshold.rule.clone(),
        route: threshold.route.clone(),
        by_default,
        observed: measured.map(|measured| measured.text),
        value,
        at_least: is_bound,
        limit,
        margin: room.filter(|_| limit > 0.0 && !is_bound).map(|room| room / limit),
        holds: room.is_some_and(|room| room >= 0.0) && !is_bound,
    }
}

fn measured(threshold: &Threshold, observed: &ThresholdInputs) -> Option<Measured> {
    let time =
        |ResponseTime { us, at_least }| Measured { value: us as f64, at_least, text: bounded(us, at_least) };
    let number = |value: f64, text: String| Measured { value, at_least: false, text };
    Some(match threshold.metric {
        Metric::Response(quantile) => {
            let found = time(observed.response.at(quantile));
            if observed.response.is_without_success() {
                return Some(Measured { text: "no request got its expected answer".to_owned(), ..found });
            }
            found
        }
        Metric::TimeToVerdict(quantile) => {
            time(observed.verdict.as_ref().filter(|verdict| verdict.count() > 0)?.at(quantile))
        }
        Metric::ErrorRate => {
            let share = observed.errors as f64 / observed.count as f64;
            number(share, percent(share))
        }
        Metric::Rate => number(observed.rate, rate(observed.rate)),
        Metric::Delivered => {
            let rates = observed.rates?;
            let (share, asked) = (rates.delivered_share()?, rates.asked?);
            let delivered = rate(rates.delivered);
            let of = format!("{} of {}", delivered.trim_end_matches("/s"), rate(asked));
            let limit = threshold.limit.value;
            let text = if share >= limit {
                format!("{} ({of})", percent(share))
            } else if share + observed.failed >= limit {
                // A target that answers at once, but wrongly, keeps up.
                format!("{of}, because {} of the operations failed", percent(observed.failed))
            } else if share + observed.failed + observed.open >= limit {
                // Cut off by a signal, or by a short drain time. Nobody knows when they would have ended.
                format!(
                    "{of}, because {} of the operations were still running at the end",
                    percent(observed.open)
                )
            } else {
                format!("the target did not keep up: {of}")
            };
            number(share, text)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;

    fn times(
        answered: impl IntoIterator<Item = u64>,
        unanswered: impl IntoIterator<Item = u64>,
    ) -> ResponseTimes {
        let mut times = ResponseTimes::default();
        answered.into_iter().for_each(|ms| times.record(Duration::from_millis(ms), true));
        unanswered.into_iter().for_each(|ms| times.record(Duration::from_millis(ms), false));
        times
    }

    fn observed(route: Option<&str>) -> Option<ThresholdInputs> {
        if route.is_some_and(|route| route != "POST /v1/signals") {
            return None;
        }
        Some(ThresholdInputs {
            response: JudgedTimes::new(times(1..=1000, []), times(1..=1000, [])),
            count: 1000,
            errors: 5,
            rate: 99.5,
            rates: Some(Rates { asked: Some(100.0), begun: 100.0, delivered: 99.5 }),
            failed: 0.005,
            open: 0.0,
            verdict: None,
        })
    }

    fn judged(given: &str, observed: impl Fn(Option<&str>) -> Option<ThresholdInputs>) -> (bool, String) {
        let threshold: Threshold = given.parse().unwrap();
        let result = judge(&threshold, false, observed(threshold.route.as_deref()).as_ref());
        (result.holds, result.observed.unwrap_or_default())
    }

    #[rstest]
    #[case("p50<501ms", true, "500 ms")]
    #[case("p50<499ms", false, "500 ms")]
    #[case("p99.9<1s", true, "999 ms")]
    #[case("max<999ms", false, "1.00 s")]
    #[case("error-rate<0.5%", true, "0.500 %")]
    #[case("error-rate<0.4%", false, "0.500 %")]
    #[case("error-rate<0", false, "0.500 %")]
    #[case("rate>99.5", true, "99.5/s")]
    #[case("rate>100", false, "99.5/s")]
    #[case("delivered>99%", true, "99.5 % (99.5 of 100/s)")]
    #[case("delivered>99.9%", false, "99.5 of 100/s, because 0.500 % of the operations failed")]
    #[case("delivered>0%", true, "99.5 % (99.5 of 100/s)")]
    #[case("POST /v1/signals p50<501ms", true, "500 ms")]
    #[case("GET /other p50<500ms", false, "")]
    #[case("time-to-verdict<1h", false, "")]
    fn thresholds_are_judged(#[case] given: &str, #[case] holds: bool, #[case] found: &str) {
        assert_eq!(judged(given, observed), (holds, found.to_owned()));
    }

    #[rstest]
    #[case("p90<1s", true, "10.0 ms")]
    #[case("p99<1s", false, "≥ 2.00 s")]
    #[case("p99<3s", false, "≥ 2.00 s")]
    #[case("max<1h", false, "≥ 2.00 s")]
    fn limit_above_a_lower_bound_is_broken(#[case] given: &str, #[case] holds: bool, #[case] found: &str) {
        let inputs = ThresholdInputs {
            response: JudgedTimes::new(times([10; 980], [2000; 20]), times([10; 980], [])),
            count: 1000,
            ..ThresholdInputs::default()
        };
        assert_eq!(judged(given, |_| Some(inputs.clone())), (holds, found.to_owned()));
    }

    /// 500 requests are refused at once.
    #[rstest]
    #[case::fast_failures([40; 100].as_slice(), [].as_slice(), "p50<30ms", "40.0 ms")]
    #[case::nothing_but_failures([].as_slice(), [].as_slice(), "p50<1h", "no request got its expected answer")]
    #[case::missing_answers([100; 470].as_slice(), [1000; 30].as_slice(), "p95<150ms", "≥ 1.00 s")]
    fn fast_unexpected_answers_do_not_help(
        #[case] successes: &[u64],
        #[case] unanswered: &[u64],
        #[case] given: &str,
        #[case] found: &str,
    ) {
        let successes = || successes.iter().copied();
        let all = times(successes().chain([1; 500]), unanswered.iter().copied());
        let response = JudgedTimes::new(all, times(successes(), []));
        let inputs = ThresholdInputs { response, count: 1000, ..ThresholdInputs::default() };
        assert_eq!(judged(given, |_| Some(inputs.clone())), (false, found.to_owned()));
    }

    #[rstest]
    #[case::slow_target(3000.0, 736.2, 0.01, 0.0, "the target did not keep up: 736 of 3,000/s")]
    #[case::cut_off(
        100.0,
        95.5,
        0.0,
        0.045,
        "95.5 of 100/s, because 4.50 % of the operations were still running at the end"
    )]
    fn missing_throughput_has_a_reason(
        #[case] asked: f64,
        #[case] delivered: f64,
        #[case] failed: f64,
        #[case] open: f64,
        #[case] found: &str,
    ) {
        let inputs = ThresholdInputs {
            count: 1000,
            rates: Some(Rates { asked: Some(asked), begun: asked, delivered }),
            failed,
            open,
            ..ThresholdInputs::default()
        };
        assert_eq!(judged("delivered>99%", |_| Some(inputs.clone())), (false, found.to_owned()));
    }

    #[rstest]
    #[case("time-to-verdict.p50<1s", true, "900 ms")]
    #[case("time-to-verdict.p90<1h", false, "≥ 10.0 s")]
    fn sessions_without_a_verdict_rank_last(#[case] given: &str, #[case] holds: bool, #[case] found: &str) {
        let inputs = ThresholdInputs {
            count: 100,
            verdict: Some(times([900; 80], [10_000; 20])),
            ..ThresholdInputs::default()
        };
        assert_eq!(judged(given, |_| Some(inputs.clone())), (holds, found.to_owned()));
    }

    #[test]
    fn threshold_without_data_is_broken() {
        let threshold: Threshold = "p99<1h".parse().unwrap();
        let result = judge(&threshold, true, Some(&ThresholdInputs::default()));
        assert!(!result.holds);
        assert_eq!(result.value, None);
    }

    #[test]
    fn margin_is_relative_to_the_limit() {
        let rules = ["p50<1s", "p50<250ms", "rate>50", "error-rate<0"];
        let margins = rules.map(|rule| {
            let result = judge(&rule.parse().unwrap(), false, observed(None).as_ref());
            result.margin.map(|margin| (margin * 100.0).round())
        });
        assert_eq!(margins, [Some(50.0), Some(-100.0), Some(99.0), None]);
    }
}
