use toml::{Table, Value};

use super::error::PlanError;
use super::threshold::{Metric, Threshold};

const ADVICE: &str = "write lines such as p99 = \"250ms\"; for one route, write them below a line with its name: [\"POST /v1/signals\"]";

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
        PlanError::new(format!("line {line}: {}", error.message()), ADVICE)
    })?;
    let mut thresholds = Vec::new();
    for (name, value) in &table {
        match value {
            Value::Table(route) if !is_split(name, route) => {
                for (metric, value) in route {
                    add(&mut thresholds, Some(name), metric, value)?;
                }
            }
            value => add(&mut thresholds, None, name, value)?,
        }
    }
    if thresholds.is_empty() {
        return Err(PlanError::new("no thresholds", ADVICE));
    }
    Ok(thresholds)
}

fn add(
    thresholds: &mut Vec<Threshold>,
    route: Option<&str>,
    metric: &str,
    value: &Value,
) -> Result<(), PlanError> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        // TOML reads an unquoted `p99.9` as a table `p99` with the key `9`.
        Value::Table(split) => {
            let mut each = split.iter();
            return each
                .try_for_each(|(rest, value)| add(thresholds, route, &format!("{metric}.{rest}"), value));
        }
        _ => {
            let why = format!("{metric}: the limit is neither a string nor a number");
            return Err(PlanError::new(why, ADVICE));
        }
    };
    let threshold = Threshold::new(route, metric, " = ", &text)
        .map_err(|error| PlanError { why: format!("{metric} = {text}: {}", error.why), ..error })?;
    thresholds.push(threshold);
    Ok(())
}

/// Whether a table is a metric with a dot in its name, not a route.
fn is_split(name: &str, inner: &Table) -> bool {
    inner.keys().all(|rest| format!("{name}.{rest}").parse::<Metric>().is_ok())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn thresholds_apply_to_the_run_or_to_a_route() {
        let text = "p99 = \"250ms\"\n\"p99.9\" = '1s'\nerror-rate = 0.01\nrate = 495\ntime-to-verdict.p50 = '1s'\n\n[\"POST /v1/signals\"]\np99.9 = '2s'\n";
        let (own, whole): (Vec<_>, Vec<_>) =
            parse_file(text).unwrap().into_iter().partition(|threshold| threshold.route.is_some());
        let rules = |thresholds: Vec<Threshold>| {
            let mut rules: Vec<String> =
                thresholds.iter().map(|threshold| threshold.rule().to_owned()).collect();
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
