//! The edge: collections and their preflight, the health check.

use edgeproof_fixtures::spec::{Endpoint, Fact, Row, Spec, Stimulus, Table, fill};
use serde_json::{Map, Value, json};

use super::example::{self, EDGE, PAGE};
use super::header::StatedHeader;
use super::operation::{EndpointRow, operation};
use super::paths::Paths;
use super::responses::{JSON, Responses};
use super::schema::{of_body, one_of};

pub(super) const TAG: &str = "edge";

/// A status of the service that no row has, for refusals without a plain reason code.
const OTHER_STATUS: u16 = 503;

/// Placeholders of the service's status and of its reason code.
const STATUS: &str = "<status>";
const REASON: &str = "<reason>";

const ALLOW_ORIGIN: &str = "Access-Control-Allow-Origin";

pub(super) fn add(spec: &Spec, paths: &mut Paths) {
    if let Some(endpoint) = EndpointRow::of(spec, Endpoint::Signals) {
        for method in endpoint.methods {
            let operation = match method.as_str() {
                "OPTIONS" => preflight(spec, &endpoint),
                _ => signals(spec, &endpoint, method),
            };
            paths.add(endpoint.path, method, TAG, operation);
        }
    }
    if let Some(endpoint) = EndpointRow::of(spec, Endpoint::Health) {
        for method in endpoint.methods {
            paths.add(endpoint.path, method, TAG, health(spec, &endpoint, method));
        }
    }
}

fn signals(spec: &Spec, endpoint: &EndpointRow<'_>, method: &str) -> Map<String, Value> {
    let id = format!("{}Signals", method.to_ascii_lowercase());
    let mut operation = operation(&id, TAG, EDGE, "Post a collection");
    operation.insert("description".into(), endpoint.row.condition.clone().into());
    operation.insert("requestBody".into(), collection(spec));
    let mut responses = answers(spec).into_value(JSON);
    add_headers(spec, endpoint, &mut responses);
    operation.insert("responses".into(), responses);
    operation
}

/// The headers that a page of the allowed origin needs, and those of a 405.
fn add_headers(spec: &Spec, endpoint: &EndpointRow<'_>, responses: &mut Value) {
    let other_method = spec.by_stimulus(Table::Edge, Stimulus::OtherMethod).and_then(Row::status);
    let other_method = other_method.map(|status| status.to_string());
    let is_405 = |status: &str| other_method.as_deref() == Some(status);
    let grant = |row| StatedHeader { row, name: ALLOW_ORIGIN, needed: true, example: PAGE };
    grant("statement.cors-readable").add(spec, responses, |status| !is_405(status));
    grant("statement.cors-readable-405").add(spec, responses, is_405);
    let allow = endpoint.methods.join(", ");
    let allow = StatedHeader { row: "statement.allow-on-405", name: "Allow", needed: true, example: &allow };
    allow.add(spec, responses, is_405);
}

/// The request body of edge and service.
pub(super) fn collection(spec: &Spec) -> Value {
    json!({
        "required": true,
        "content": {
            JSON: {
                "schema": { "$ref": "#/components/schemas/Collection" },
                "example": example::collection(spec),
            },
        },
    })
}

fn answers(spec: &Spec) -> Responses {
    let mut responses = Responses::default();
    for row in spec.table(Table::Edge).filter(|row| !row.stimuli.contains(&Stimulus::Preflight)) {
        match (row.status(), row.body()) {
            (own, Some(body)) if own.is_none() || has(body, REASON) || has(body, STATUS) => {
                refused(spec, row, body, &mut responses);
            }
            (Some(status), body) => responses.add(&status.to_string(), row, body.map(constant)),
            // The row is not about an answer as a whole.
            (None, _) => {}
        }
    }
    responses
}

/// The answer to each refusal of the service. Its status is that of the service, or the row's own; in the body it is always
/// that of the service.
fn refused(spec: &Spec, row: &Row, body: &Value, responses: &mut Responses) {
    let own = row.status();
    let key = |given: u16| own.unwrap_or(given).to_string();
    let mut statuses: Vec<u16> = Vec::new();
    for refusal in spec.table(Table::Relay) {
        let Fact::Reason { status, code } = &refusal.fact else { continue };
        let fixed = if own.is_some() { any_status() } else { json!({ "const": status }) };
        if has(body, REASON) {
            let code_schema = if own.is_some() { any_text() } else { one_of(&codes(spec, *status)) };
            let body = exact(body, (code, code_schema), (*status, fixed));
            responses.add(&key(*status), refusal, Some(body));
        } else if own.is_none() && !statuses.contains(status) {
            statuses.push(*status);
            let body = exact(body, (code, any_text()), (*status, fixed));
            responses.add(&key(*status), row, Some(body));
        }
    }
    let code = spec.profile().replay_full.as_str();
    let body = exact(body, (code, any_text()), (OTHER_STATUS, any_status()));
    responses.add(&own.map_or_else(|| "default".to_owned(), |own| own.to_string()), row, Some(body));
}

fn any_text() -> Value {
    json!({ "type": "string" })
}

fn any_status() -> Value {
    json!({ "type": "integer" })
}

/// The codes that the service has for a status.
pub(super) fn codes(spec: &Spec, status: u16) -> Vec<String> {
    let rows = spec.table(Table::Relay).filter(|row| row.status() == Some(status));
    rows.filter_map(|row| row.code().map(str::to_owned)).collect()
}

/// Whether a member of the body is this placeholder.
fn has(body: &Value, placeholder: &str) -> bool {
    body.as_object().is_some_and(|members| members.values().any(|value| value == placeholder))
}

/// An example of an exact body, and its schema. Reason and status have a value and a schema each.
fn exact(body: &Value, reason: (&str, Value), status: (u16, Value)) -> (Value, Value) {
    let values = [(REASON, reason.0.into()), (STATUS, status.0.into())];
    (fill(body, &values), of_body(body, &[(REASON, reason.1), (STATUS, status.1)], true))
}

/// A body without placeholders, and its schema.
fn constant(body: &Value) -> (Value, Value) {
    (body.clone(), of_body(body, &[], true))
}

fn preflight(spec: &Spec, endpoint: &EndpointRow<'_>) -> Map<String, Value> {
    let mut operation = operation("preflightSignals", TAG, EDGE, "Ask whether a page may post");
    let mut responses = Responses::default();
    let row = spec.by_stimulus(Table::Edge, Stimulus::Preflight);
    // Without a row of its own, the endpoint's row says that there is a preflight.
    let row = row.unwrap_or(endpoint.row);
    let status = row.status().map_or_else(|| "2XX".to_owned(), |status| status.to_string());
    responses.add(&status, row, row.body().map(constant));
    let mut responses = responses.into_value(JSON);
    let text = |example: &str, is_required: bool| json!({ "required": is_required, "schema": { "type": "string" }, "example": example });
    // POST needs no grant; the content type of JSON does (Fetch, CORS-preflight fetch).
    responses[&status]["headers"] = json!({
        ALLOW_ORIGIN: text(PAGE, true),
        "Access-Control-Allow-Methods": text("POST", false),
        "Access-Control-Allow-Headers": text("content-type", true),
    });
    operation.insert("responses".into(), responses);
    operation
}

fn health(spec: &Spec, endpoint: &EndpointRow<'_>, method: &str) -> Map<String, Value> {
    let id = format!("{}Health", method.to_ascii_lowercase());
    let mut operation = operation(&id, TAG, EDGE, "Report that the edge is up");
    let mut responses = Responses::default();
    responses.add("2XX", endpoint.row, Some((spec.profile().health_body.clone(), json!({}))));
    operation.insert("responses".into(), responses.into_value(JSON));
    operation
}
