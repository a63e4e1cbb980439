use edgeproof_fixtures::spec::Fact;
use edgeproof_reports::difference::{DifferenceKind, Wire};
use http::HeaderMap;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, AUTHORIZATION,
    HeaderName,
};
use strum::EnumString;

use crate::cases::{CaseList, Edge, EdgeCaseContext, HEALTH, ORIGIN, collection, preflight, summary};
use crate::judge::Check;
use edgeproof_http::Draft;
use edgeproof_mock::{Arrival, Script};

/// An open point of edges whose value a run can see.
#[derive(Debug, Clone, Copy, EnumString)]
enum EdgePoint {
    #[strum(serialize = "relay.path")]
    RelayPath,
    #[strum(serialize = "relay.license-header")]
    LicenseHeader,
    #[strum(serialize = "relay.license-scheme")]
    LicenseScheme,
    #[strum(serialize = "preflight.status")]
    PreflightStatus,
    #[strum(serialize = "preflight.methods")]
    PreflightMethods,
    #[strum(serialize = "preflight.headers")]
    PreflightHeaders,
    #[strum(serialize = "preflight.max-age-seconds")]
    PreflightMaxAge,
    #[strum(serialize = "health.status")]
    HealthStatus,
    #[strum(serialize = "health.body")]
    HealthBody,
}

/// A case for each rule about an open point that a run can see: the edge has the value of the row.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    for row in cases.spec.rows() {
        let Fact::Rule { point, value } = &row.fact else { continue };
        let Ok(seen) = point.parse::<EdgePoint>() else { continue };
        let (point, expected) = (point.clone(), value.to_string());
        let (id, title) = (format!("rule.{point}"), format!("the edge follows the rule about {point}"));
        cases.case(&row.id, &id, &title).steps(steps!(with(point, expected), async |context| {
            let actual = seen.value(context).await;
            let ok = seen.matches(&expected, &actual);
            let (expected, actual) = (vec![Wire::from(&expected)], Wire::from(&actual));
            context.check(Check::judged(DifferenceKind::Pin { point, expected, actual }, ok));
        }));
    }
}

impl EdgePoint {
    /// The value that the edge has. Empty: it has none.
    async fn value(self, context: &mut EdgeCaseContext) -> String {
        match self {
            Self::RelayPath | Self::LicenseHeader | Self::LicenseScheme => {
                context.script(Script::decide());
                context.send(&collection()).await;
                let relayed = context.arrivals();
                let license = context.target.license.clone().unwrap_or_default();
                relayed.first().map(|arrival| self.of_arrival(arrival, &license)).unwrap_or_default()
            }
            Self::PreflightStatus
            | Self::PreflightMethods
            | Self::PreflightHeaders
            | Self::PreflightMaxAge => {
                let sent = context.send(&preflight(ORIGIN)).await;
                match (self, &sent.reply) {
                    (Self::PreflightStatus, reply) => summary::status(reply),
                    (Self::PreflightMethods, Ok(answer)) => {
                        listed(&answer.headers, &ACCESS_CONTROL_ALLOW_METHODS)
                    }
                    (Self::PreflightHeaders, Ok(answer)) => {
                        listed(&answer.headers, &ACCESS_CONTROL_ALLOW_HEADERS)
                    }
                    (_, Ok(answer)) => listed(&answer.headers, &ACCESS_CONTROL_MAX_AGE),
                    (_, Err(why)) => why.to_string(),
                }
            }
            Self::HealthStatus | Self::HealthBody => {
                let sent = context.send(&Draft::new("GET", HEALTH)).await;
                match (self, &sent.reply) {
                    (Self::HealthBody, Ok(answer)) => String::from_utf8_lossy(&answer.body).into_owned(),
                    (_, reply) => summary::status(reply),
                }
            }
        }
    }

    fn of_arrival(self, arrival: &Arrival, license: &str) -> String {
        let request = &arrival.request;
        if matches!(self, Self::RelayPath) {
            return request.target.split('?').next().unwrap_or_default().to_owned();
        }
        let text = |name: &HeaderName| request.headers.get(name).and_then(|value| value.to_str().ok());
        let carries = |name: &&HeaderName| text(name).is_some_and(|value| value.ends_with(license));
        let Some(name) = request.headers.keys().find(carries) else { return String::new() };
        match self {
            Self::LicenseHeader if *name == AUTHORIZATION => "Authorization".to_owned(),
            Self::LicenseHeader => name.to_string(),
            _ => {
                text(name).and_then(|value| value.strip_suffix(license)).unwrap_or_default().trim().to_owned()
            }
        }
    }

    /// Whether a value is the expected one. Names of header fields and methods in a list have no order, names of fields and
    /// schemes no case, and JSON no white space.
    fn matches(self, expected: &str, actual: &str) -> bool {
        match self {
            Self::LicenseHeader | Self::LicenseScheme => expected.eq_ignore_ascii_case(actual),
            Self::PreflightMethods | Self::PreflightHeaders => words(expected) == words(actual),
            Self::HealthBody => json(expected).is_some() && json(expected) == json(actual),
            _ => expected == actual,
        }
    }
}

fn listed(headers: &HeaderMap, name: &HeaderName) -> String {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.collect::<Vec<_>>().join(", ")
}

fn words(list: &str) -> Vec<String> {
    let mut words: Vec<_> = list.split(',').map(|word| word.trim().to_ascii_lowercase()).collect();
    words.sort();
    words
}

fn json(text: &str) -> Option<serde_json::Value> {
    serde_json::from_str(text).ok()
}
