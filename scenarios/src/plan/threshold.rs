use std::str::FromStr;

use edgeproof_cli::args::parse_duration;
use edgeproof_reports::load::{Quantile, ThresholdResult};
use toml::{Table, Value};

use super::amounts::PlanError;
use super::amounts::Rate;
use super::amounts::Share;

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
    pub rule: String,
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
pub struct Limit {
    /// µs, a share, or operations per second.
    pub value: f64,
    /// Whether it is a lower limit.
    pub at_least: bool,
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
        let refuse = |why: String| PlanError::new(why, ADVICE);
        let at = given.find(['<', '>', '=']).ok_or_else(|| refuse("no <, > or =".into()))?;
        let (left, right) = given.split_at(at);
        let sign = &right[..right.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(right.len())];
        let (route, name) = match left.trim().rsplit_once(char::is_whitespace) {
            Some((route, name)) => (Some(route.split_whitespace().collect::<Vec<_>>().join(" ")), name),
            None => (None, left.trim()),
        };
        let metric: Metric = name.parse().map_err(refuse)?;
        if let (Some(_), Metric::TimeToVerdict(_) | Metric::Delivered) = (&route, metric) {
            return Err(refuse(format!("{name} is a figure of the whole run, not of a route")));
        }
        let limit = metric.limit(right[sign.len()..].trim()).map_err(refuse)?;
        match (sign, limit.at_least) {
            ("=", _) | ("<" | "<=", false) | (">" | ">=", true) => {
                // As given, spaces included.
                let start = left.rfind(name).unwrap_or(0);
                Ok(Self { route, metric, limit, rule: given[start..].trim().to_owned() })
            }
            ("<" | "<=", true) => Err(refuse("this metric has a lower limit: use >".into())),
            _ => Err(refuse("this metric has an upper limit: use <".into())),
        }
    }
}

impl Metric {
    fn limit(self, text: &str) -> Result<Limit, String> {
        let share = || text.parse::<Share>().map(Share::value).map_err(|error: PlanError| error.why);
        let value = match self {
            Self::Response(_) | Self::TimeToVerdict(_) => parse_duration(text)?.as_micros() as f64,
            Self::Rate => text.parse::<Rate>().map(Rate::value).map_err(|error: PlanError| error.why)?,
            Self::ErrorRate if share()? >= 1.0 => return Err("a limit of 100% never breaks".into()),
            Self::ErrorRate | Self::Delivered => share()?,
        };
        Ok(Limit { value, at_least: matches!(self, Self::Rate | Self::Delivered) })
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

const FILE_ADVICE: &str = "write lines such as p99 = \"250ms\"; for one route, write them below a line with its name: [\"POST /v1/signals\"]";

/// Parses thresholds in TOML: those of the whole run at the top, those of a route in its table.
///
/// ```toml
/// p99 = "250ms"
/// "p99.9" = "1s"
/// error-rate = "1%"
/// ["POST /v1/signals"]
/// p99 = "100ms"
/// ```
pub fn parse_file(text: &str) -> Result<Vec<Threshold>, PlanError> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        PlanError::new(format!("line {line}: {}", error.message()), FILE_ADVICE)
    })?;
    let mut thresholds = Vec::new();
    add(&mut thresholds, &[], &Value::Table(table))?;
    if thresholds.is_empty() {
        return Err(PlanError::new("no thresholds", FILE_ADVICE));
    }
    Ok(thresholds)
}

/// Adds the thresholds of a value. `path`: the names of the tables that it is in, and its own.
fn add(thresholds: &mut Vec<Threshold>, path: &[&str], value: &Value) -> Result<(), PlanError> {
    // TOML reads an unquoted `p99.9` as a table `p99` with the key `9`.
    let name = path.join(".");
    let (route, metric) = match path {
        [route, metric @ ..] if !metric.is_empty() && name.parse::<Metric>().is_err() => {
            (*route, metric.join("."))
        }
        _ => ("", name),
    };
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Table(inner) => {
            let mut each = inner.iter();
            return each.try_for_each(|(name, value)| add(thresholds, &[path, &[name]].concat(), value));
        }
        _ => {
            let why = format!("{metric}: the limit is neither a string nor a number");
            return Err(PlanError::new(why, FILE_ADVICE));
        }
    };
    let threshold = format!("{route} {metric} = {text}").parse::<Threshold>();
    let threshold =
        threshold.map_err(|error| PlanError { why: format!("{metric} = {text}: {}", error.why), ..error })?;
    thresholds.push(threshold);
    Ok(())
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
        assert_eq!((threshold.route.as_deref(), &*threshold.rule), (None, given));
        assert_eq!(threshold, same.parse().unwrap());
    }

    #[test]
    fn route_stands_before_the_metric() {
        let threshold: Threshold = "POST  /v1/p99 p99<100ms".parse().unwrap();
        assert_eq!((threshold.route.as_deref(), &*threshold.rule), (Some("POST /v1/p99"), "p99<100ms"));
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

    #[test]
    fn thresholds_apply_to_the_run_or_to_a_route() {
        let text = "p99 = \"250ms\"\n\"p99.9\" = '1s'\nerror-rate = 0.01\nrate = 495\ntime-to-verdict.p50 = '1s'\n\n[\"POST /v1/signals\"]\np99.9 = '2s'\n";
        let (own, whole): (Vec<_>, Vec<_>) =
            parse_file(text).unwrap().into_iter().partition(|threshold| threshold.route.is_some());
        let rules = |thresholds: Vec<Threshold>| {
            let mut rules: Vec<String> = thresholds.iter().map(|threshold| threshold.rule.clone()).collect();
            rules.sort();
            rules.join(", ")
        };
        assert_eq!(own[0].route.as_deref(), Some("POST /v1/signals"));
        assert_eq!(rules(own), "p99.9 = 2s");
        let expected = "error-rate = 0.01, p99 = 250ms, p99.9 = 1s, rate = 495, time-to-verdict.p50 = 1s";
        assert_eq!(rules(whole), expected);
    }

    #[rstest]
    #[case("", "no thresholds")]
    #[case("p99", "expected")]
    #[case("p98 = '1s'", "not a metric")]
    #[case("p99 = true", "neither a string nor a number")]
    #[case("[\"POST /v1/signals\"]\nfast = '1s'", "not a metric")]
    fn invalid_file_is_rejected(#[case] text: &str, #[case] why: &str) {
        let error = parse_file(text).unwrap_err();
        assert!(error.why.contains(why), "{error}");
    }
}
