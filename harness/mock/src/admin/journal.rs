use std::time::{Duration, SystemTime};

use edgeproof_fixtures::spec::{Spec, Stimulus, Table};
use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::{AdminError, TokenRedactor};
use crate::journal::{Arrival, ArrivalAnswer};
use crate::route::ServiceEndpoint;
use crate::service::MockService;

/// Entries of an answer (maximum and default).
const MAX_ENTRIES: usize = 1000;
/// Shown bytes of a body (maximum).
const MAX_BODY: usize = 64 * 1024;

/// Part of the journal that a query selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JournalPage {
    since: u64,
    limit: usize,
}

impl JournalPage {
    pub(super) fn parse(query: Option<&str>) -> Result<Self, AdminError> {
        let mut page = Self { since: 0, limit: MAX_ENTRIES };
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let number = |value: &str| {
                value.parse::<u64>().map_err(|_| {
                    AdminError::bad(format!("invalid query {pair:?}: the value is not a whole number"))
                })
            };
            match pair.split_once('=') {
                Some(("since", value)) => page.since = number(value)?,
                Some(("limit", value)) => {
                    page.limit = usize::try_from(number(value)?).unwrap_or(MAX_ENTRIES).min(MAX_ENTRIES);
                }
                _ => {
                    return Err(AdminError::bad(format!(
                        "invalid query {pair:?}; use since=NUMBER and limit=COUNT"
                    )));
                }
            }
        }
        Ok(page)
    }
}

/// The requests of a page in JSON. `next` is the number where the next page begins.
pub(super) fn view(service: &MockService, redactor: &TokenRedactor, page: JournalPage) -> Value {
    let mut next = service.mark();
    let mut arrivals = service.arrivals_since(page.since);
    // A request that arrived between the two calls belongs to the next page.
    arrivals.retain(|arrival| arrival.number < next);
    if arrivals.len() > page.limit {
        next = arrivals[page.limit].number;
        arrivals.truncate(page.limit);
    }
    let entries: Vec<_> = arrivals.iter().map(|arrival| entry(arrival, service.spec(), redactor)).collect();
    json!({ "entries": entries, "next": next })
}

/// A finished request as one line of JSON, for a log.
pub fn line(arrival: &Arrival, spec: &Spec, redactor: &TokenRedactor) -> Value {
    let cut = |text: String| {
        if text.len() > 512 { text.chars().take(500).chain("…".chars()).collect() } else { text }
    };
    json!({
        "time": time(arrival),
        "number": arrival.number,
        "endpoint": endpoint(arrival.endpoint),
        "method": cut(arrival.request.method.clone()),
        "target": cut(redactor.text(&arrival.request.target)),
        "status": arrival.answer.as_ref().and_then(ArrivalAnswer::status),
        "given": arrival.answer.as_ref().and_then(other),
        "cause": arrival.stimulus.map(Stimulus::name),
        "row": row(arrival, spec),
        "scripted": arrival.claimed,
        "body_bytes": arrival.body_length,
        "complete": arrival.request.complete,
        "took_ms": took(arrival),
        "connection": arrival.connection,
    })
}

fn entry(arrival: &Arrival, spec: &Spec, redactor: &TokenRedactor) -> Value {
    let mut entry = line(arrival, spec, redactor);
    let request = &arrival.request;
    let (body, truncated) = body(&request.body, redactor);
    let more = json!({
        "method": request.method,
        "target": redactor.text(&request.target),
        "version": format!("{:?}", request.version),
        "headers": headers(&request.headers, redactor),
        "body": body,
        "body_shortened": truncated || arrival.body_length > request.body.len() as u64,
        "client_certificate": !arrival.client_certificates.is_empty(),
        "finished": arrival.finished,
        "answer": arrival.answer.as_ref().map(|given| match given {
            ArrivalAnswer::Answer { headers: fields, body: bytes, .. } => {
                json!({ "headers": headers(fields, redactor), "body": self::body(bytes, redactor).0 })
            }
            ArrivalAnswer::Partial(_) | ArrivalAnswer::Other(_) => Value::Null,
        }),
    });
    if let (Value::Object(entry), Value::Object(more)) = (&mut entry, more) {
        entry.extend(more);
    }
    entry
}

fn headers(fields: &HeaderMap, redactor: &TokenRedactor) -> Value {
    let mut shown = Map::new();
    for name in fields.keys() {
        let values = fields.get_all(name).iter().map(|value| redactor.header(value)).collect::<Vec<_>>();
        shown.insert(name.to_string(), json!(values));
    }
    Value::Object(shown)
}

/// A body as text, truncated, and whether it was. Null for a body that is not UTF-8.
fn body(bytes: &[u8], redactor: &TokenRedactor) -> (Value, bool) {
    // Redaction precedes truncation: it does not recognise half a token.
    let Ok(text) = std::str::from_utf8(bytes) else { return (Value::Null, !bytes.is_empty()) };
    let mut text = redactor.text(text);
    let truncated = text.len() > MAX_BODY;
    if truncated {
        let end = (0..=MAX_BODY).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        text.truncate(end);
    }
    (Value::String(text), truncated)
}

fn time(arrival: &Arrival) -> String {
    let time = SystemTime::now().checked_sub(arrival.at.elapsed()).unwrap_or(SystemTime::UNIX_EPOCH);
    humantime::format_rfc3339_millis(time).to_string()
}

fn took(arrival: &Arrival) -> Option<f64> {
    let took: Duration = arrival.answered?.duration_since(arrival.at);
    Some((took.as_secs_f64() * 1e6).round() / 1e3)
}

fn other(given: &ArrivalAnswer) -> Option<&'static str> {
    match given {
        ArrivalAnswer::Partial(what) | ArrivalAnswer::Other(what) => Some(what),
        ArrivalAnswer::Answer { .. } => None,
    }
}

fn row<'s>(arrival: &Arrival, spec: &'s Spec) -> Option<&'s str> {
    let table = match arrival.endpoint {
        ServiceEndpoint::Relay => Table::Relay,
        ServiceEndpoint::Verdict => Table::Verdict,
        ServiceEndpoint::KeySet | ServiceEndpoint::Nothing => return None,
    };
    spec.by_stimulus(table, arrival.stimulus?).map(|row| row.id.as_str())
}

fn endpoint(endpoint: ServiceEndpoint) -> &'static str {
    match endpoint {
        ServiceEndpoint::Relay => "relay",
        ServiceEndpoint::Verdict => "verdict",
        ServiceEndpoint::KeySet => "keys",
        ServiceEndpoint::Nothing => "none",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, 0, MAX_ENTRIES)]
    #[case(Some("since=7&limit=2"), 7, 2)]
    #[case(Some("limit=99999"), 0, MAX_ENTRIES)]
    fn query_selects_a_page(#[case] query: Option<&str>, #[case] since: u64, #[case] limit: usize) {
        assert_eq!(JournalPage::parse(query), Ok(JournalPage { since, limit }));
    }

    #[rstest]
    #[case("since=x")]
    #[case("limit=-1")]
    #[case("from=1")]
    fn invalid_query_is_refused(#[case] query: &str) {
        assert!(JournalPage::parse(Some(query)).is_err());
    }
}
