use std::str::FromStr;

use edgeproof_cli::args::parse_duration;
use edgeproof_reports::load::ThresholdResult;

use super::error::PlanError;
use super::quantile::Quantile;
use super::rate::Rate;
use super::share::Share;

/// A limit for a measured figure. Response times count from the intended start. Two thresholds are equal if they
/// judge the same, whatever their text.
#[derive(Debug, Clone)]
pub struct Threshold {
    /// The route; `None` for the whole run.
    pub route: Option<String>,
    /// The figure.
    pub metric: Metric,
    /// The limit.
    pub limit: Limit,
    /// Metric and limit as given, such as `p99<250ms`.
    rule: String,
}

/// The figure of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// A percentile of response times.
    Response(Quantile),
    /// A percentile of the time from the start of a session to its verdict.
    TimeToVerdict(Quantile),
    /// Share of requests with an unexpected outcome.
    ErrorRate,
    /// Answered operations per second; for a route, answered requests per second.
    Rate,
    /// Delivered share of the planned rate.
    Delivered,
}

/// The limit of a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Upper limit (µs).
    AtMostMicros(u64),
    /// Upper limit as a share.
    AtMostShare(Share),
    /// Lower limit as a rate.
    AtLeastRate(Rate),
    /// Lower limit as a share.
    AtLeastShare(Share),
}

const ADVICE: &str = "write p99<250ms, error-rate<1%, rate>495, delivered>99% or time-to-verdict<2s; for one route, put the route in \
     front: 'POST /v1/signals p99<100ms'; metrics: p50, p90, p95, p99, p99.9, max, error-rate, rate, delivered, \
     time-to-verdict, time-to-verdict.p50 to time-to-verdict.max";

impl Threshold {
    /// The threshold of a result in a report.
    pub fn of(result: &ThresholdResult) -> Result<Self, PlanError> {
        let mut threshold: Self = result.rule.parse()?;
        threshold.route.clone_from(&result.route);
        Ok(threshold)
    }

    /// A threshold from the name of a metric and the text of its limit. `sign` stands between them in the rule.
    pub fn new(route: Option<&str>, metric: &str, sign: &str, limit: &str) -> Result<Self, PlanError> {
        let refuse = |why: String| PlanError::new(why, ADVICE);
        let (name, text) = (metric.trim(), limit.trim());
        let metric: Metric = name.parse().map_err(refuse)?;
        if let (Some(_), Metric::TimeToVerdict(_) | Metric::Delivered) = (route, metric) {
            return Err(refuse(format!("{name} is a figure of the whole run, not of a route")));
        }
        let limit = metric.limit(text).map_err(refuse)?;
        let route = route.map(|route| route.split_whitespace().collect::<Vec<_>>().join(" "));
        Ok(Self { route, metric, limit, rule: format!("{name}{sign}{text}") })
    }

    /// Metric and limit as given, such as `p99<250ms`.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

impl PartialEq for Threshold {
    fn eq(&self, other: &Self) -> bool {
        (&self.route, self.metric, self.limit) == (&other.route, other.metric, other.limit)
    }
}

impl FromStr for Threshold {
    type Err = PlanError;

    /// Parses `[ROUTE] METRIC<LIMIT`. `<`, `<=` and `=` set an upper limit; for `rate` and `delivered`, `>`,
    /// `>=` and `=` set a lower limit.
    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: &str| PlanError::new(why, ADVICE);
        let at = given.find(['<', '>', '=']).ok_or_else(|| refuse("no <, > or ="))?;
        let (left, right) = given.split_at(at);
        let sign = &right[..right.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(right.len())];
        let limit = &right[sign.len()..];
        let (route, metric) = match left.trim().rsplit_once(char::is_whitespace) {
            Some((route, metric)) => (Some(route), metric),
            None => (None, left.trim()),
        };
        let threshold = Self::new(route, metric, sign, limit)?;
        let is_lower = matches!(threshold.limit, Limit::AtLeastRate(_) | Limit::AtLeastShare(_));
        match (sign, is_lower) {
            ("=", _) | ("<" | "<=", false) | (">" | ">=", true) => {
                // As given, spaces included.
                let start = left.rfind(metric).unwrap_or(0);
                Ok(Self { rule: given[start..].trim().to_owned(), ..threshold })
            }
            ("<" | "<=", true) => Err(refuse("this metric has a lower limit: use >")),
            _ => Err(refuse("this metric has an upper limit: use <")),
        }
    }
}

impl Metric {
    fn limit(self, text: &str) -> Result<Limit, String> {
        let why = |error: PlanError| error.why;
        Ok(match self {
            Self::Response(_) | Self::TimeToVerdict(_) => {
                Limit::AtMostMicros(parse_duration(text)?.as_micros() as u64)
            }
            Self::ErrorRate => {
                let share: Share = text.parse().map_err(why)?;
                if share.value() >= 1.0 {
                    return Err("a limit of 100% never breaks".into());
                }
                Limit::AtMostShare(share)
            }
            Self::Rate => Limit::AtLeastRate(text.parse().map_err(why)?),
            Self::Delivered => Limit::AtLeastShare(text.parse().map_err(why)?),
        })
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "error-rate" => return Ok(Self::ErrorRate),
            "rate" => return Ok(Self::Rate),
            "delivered" => return Ok(Self::Delivered),
            "time-to-verdict" => return Ok(Self::TimeToVerdict(Quantile::P99)),
            _ => {}
        }
        match name.strip_prefix("time-to-verdict.") {
            Some(quantile) => quantile.parse().map(Self::TimeToVerdict),
            None => name.parse().map(Self::Response),
        }
        .map_err(|_| format!("{name:?} is not a metric"))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("p99<250ms", "p99<=250ms")]
    #[case("p99.9 <= 1s", "p99.9 < 1000ms")]
    #[case("max=2s", "max<=2s")]
    #[case("error-rate<1%", "error-rate<0.01")]
    #[case("error-rate<0", "error-rate<=0%")]
    #[case("rate>495", "rate>=495/s")]
    #[case("rate = 30/m", "rate>0.5")]
    #[case("delivered>99%", "delivered>=0.99")]
    #[case("delivered>0%", "delivered=0")]
    #[case("time-to-verdict<2s", "time-to-verdict.p99<=2s")]
    #[case("time-to-verdict.p50<800ms", "time-to-verdict.p50=800ms")]
    fn threshold_echoes_its_text_and_equals_other_spellings(#[case] given: &str, #[case] same: &str) {
        let threshold: Threshold = format!(" {given} ").parse().unwrap();
        assert_eq!((threshold.route.as_deref(), threshold.rule()), (None, given));
        assert_eq!(threshold, same.parse().unwrap());
    }

    #[test]
    fn route_stands_before_the_metric() {
        let threshold: Threshold = "POST  /v1/p99 p99<100ms".parse().unwrap();
        assert_eq!((threshold.route.as_deref(), threshold.rule()), (Some("POST /v1/p99"), "p99<100ms"));
    }

    #[rstest]
    #[case("p99", "no <")]
    #[case("p98<1s", "not a metric")]
    #[case("<1s", "not a metric")]
    #[case("p99<fast", "expected number")]
    #[case("p99<0s", "longer than zero")]
    #[case("p99>1s", "an upper limit")]
    #[case("rate<5", "a lower limit")]
    #[case("error-rate>1%", "an upper limit")]
    #[case("error-rate<7", "out of range")]
    #[case("GET /x time-to-verdict<1s", "not of a route")]
    #[case("GET /x delivered>99%", "not of a route")]
    #[case("delivered<99%", "a lower limit")]
    #[case("delivered>101%", "out of range")]
    #[case("p99<>1s", "an upper limit")]
    fn invalid_thresholds_are_rejected(#[case] given: &str, #[case] why: &str) {
        let error = given.parse::<Threshold>().unwrap_err();
        assert!(error.why.contains(why), "{error}");
    }
}
