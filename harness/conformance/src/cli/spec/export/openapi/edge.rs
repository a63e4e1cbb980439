//! The edge: collections and their preflight, the health check.

use edgeproof_fixtures::spec::{Endpoint, Fact, Row, Spec, Stimulus, Table};
use serde_json::{Map, Value, json};

use super::example::{self, EDGE};
use super::operation::{EndpointRow, operation};
use super::paths::Paths;
use super::responses::{JSON, Responses};
use super::schema::{of_body, one_of};

pub(super) const TAG: &str = "edge";

/// A status of the service that no row has, for refusals without a plain reason code.
const OTHER_STATUS: u16 = 503;

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
    operation.insert("responses".into(), answers(spec).into_value(JSON));
    operation
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
    for row in spec.table(Table::Edge) {
        match (row.status(), row.body()) {
            (Some(status), body) => {
                let body = body.map(|body| exact(body, &[], status.into(), json!({ "const": status })));
                responses.add(&status.to_string(), row, body);
            }
            (None, Some(body)) => refused(spec, row, body, &mut responses),
            // The preflight.
            (None, None) => {}
        }
    }
    responses
}

/// A row with the service's status: the answer to each refusal of the service with this status.
fn refused(spec: &Spec, row: &Row, body: &Value, responses: &mut Responses) {
    let mut statuses: Vec<u16> = Vec::new();
    for refusal in spec.table(Table::Relay) {
        let Fact::Reason { status, code } = &refusal.fact else { continue };
        let is_new = !statuses.contains(status);
        if is_new {
            statuses.push(*status);
        }
        let codes = codes(spec, *status);
        let fixed = json!({ "const": status });
        if has_reason(body) {
            let body = exact(body, &[(code.as_str(), one_of(&codes))], (*status).into(), fixed);
            responses.add(&status.to_string(), refusal, Some(body));
        } else if is_new {
            responses.add(&status.to_string(), row, Some(exact(body, &[], (*status).into(), fixed)));
        }
    }
    let code = spec.profile().replay_full.as_str();
    let any_code = [(code, json!({ "type": "string" }))];
    let body = exact(body, &any_code, OTHER_STATUS.into(), json!({ "type": "integer" }));
    responses.add("default", row, Some(body));
}

/// The codes that the service has for a status.
pub(super) fn codes(spec: &Spec, status: u16) -> Vec<String> {
    let rows = spec.table(Table::Relay).filter(|row| row.status() == Some(status));
    rows.filter_map(|row| row.code().map(str::to_owned)).collect()
}

fn has_reason(body: &Value) -> bool {
    body.as_object().is_some_and(|members| members.values().any(|value| value == "<reason>"))
}

/// An example of an exact body, and its schema.
fn exact(body: &Value, reason: &[(&str, Value)], status: Value, status_schema: Value) -> (Value, Value) {
    let mut values = vec![("<status>", status)];
    let mut schemas = vec![("<status>", status_schema)];
    for (code, schema) in reason {
        values.push(("<reason>", Value::from(*code)));
        schemas.push(("<reason>", schema.clone()));
    }
    (edgeproof_fixtures::spec::fill(body, &values), of_body(body, &schemas, true))
}

fn preflight(spec: &Spec, endpoint: &EndpointRow<'_>) -> Map<String, Value> {
    let mut operation = operation("preflightSignals", TAG, EDGE, "Ask whether a page may post");
    let mut responses = Responses::default();
    let row = spec.by_stimulus(Table::Edge, Stimulus::Preflight);
    // Without a row of its own, the endpoint's row says that there is a preflight.
    responses.add("2XX", row.unwrap_or(endpoint.row), None);
    let mut responses = responses.into_value(JSON);
    responses["2XX"]["headers"] = json!({
        "Access-Control-Allow-Origin": { "schema": { "type": "string" }, "example": "https://shop.example" },
        "Access-Control-Allow-Methods": { "schema": { "type": "string" }, "example": "POST" },
        "Access-Control-Allow-Headers": { "schema": { "type": "string" }, "example": "content-type" },
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
