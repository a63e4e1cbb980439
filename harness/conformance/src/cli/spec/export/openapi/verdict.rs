//! The service, as backends call it.

use edgeproof_fixtures::spec::{Endpoint, Fact, Row, Spec, Table, fill};
use serde_json::{Map, Value, json};

use super::example::{self, SERVICE, SESSION_REF};
use super::header::StatedHeader;
use super::operation::{EndpointRow, operation};
use super::paths::Paths;
use super::responses::{JSON, Responses};
use super::schema::{any, of_body, one_of};

pub(super) const TAG: &str = "verdict";
pub(super) const READ_TOKEN: &str = "readToken";

/// The optional parameter of a verdict request.
const WAIT: &str = "waitMs";

/// What follows the colon of a code with a suffix.
const SUFFIX: &str = "v9";

pub(super) fn add(spec: &Spec, paths: &mut Paths) {
    let Some(endpoint) = EndpointRow::of(spec, Endpoint::Verdict) else { return };
    for method in endpoint.methods {
        let id = format!("{}Verdict", method.to_ascii_lowercase());
        let mut operation: Map<String, Value> = operation(&id, TAG, SERVICE, "Get the verdict of a session");
        operation.insert("description".into(), endpoint.row.condition.clone().into());
        operation.insert("security".into(), json!([{ READ_TOKEN: [] }]));
        operation.insert("parameters".into(), parameters(spec));
        let mut responses = answers(spec).into_value(JSON);
        let challenge = StatedHeader {
            row: "statement.challenge-on-401",
            name: "WWW-Authenticate",
            needed: true,
            example: "Bearer",
        };
        challenge.add(spec, &mut responses, |status| status == "401");
        let cache = StatedHeader {
            row: "statement.verdict-not-shared",
            name: "Cache-Control",
            needed: true,
            example: "no-store",
        };
        cache.add(spec, &mut responses, |_| true);
        operation.insert("responses".into(), responses);
        paths.add(endpoint.path, method, TAG, operation);
    }
}

fn parameters(spec: &Spec) -> Value {
    // The interface describes the parameter in statements.
    let about_wait = spec.table(Table::Statements).filter(|row| row.condition.contains(WAIT));
    let about_wait: Vec<_> = about_wait.map(|row| row.condition.as_str()).collect();
    json!([
        {
            "name": "sessionRef",
            "in": "path",
            "required": true,
            "description": "The reference that the page passed to start().",
            "schema": { "type": "string" },
            "example": SESSION_REF,
        },
        {
            "name": WAIT,
            "in": "query",
            "required": false,
            "description": about_wait.join(" "),
            "schema": { "type": "integer", "minimum": 0 },
            "example": 2000,
        },
    ])
}

fn answers(spec: &Spec) -> Responses {
    let mut responses = Responses::default();
    for row in spec.table(Table::Verdict) {
        if let Some(status) = row.status() {
            responses.add(&status.to_string(), row, Some(body(spec, row, status)));
        }
    }
    responses
}

/// An example of a row's body, and its schema.
fn body(spec: &Spec, row: &Row, status: u16) -> (Value, Value) {
    if let Some(body) = row.body() {
        let schema = of_body(body, &[("<session_ref>", json!({ "type": "string" }))], true);
        return (fill(body, &[("<session_ref>", SESSION_REF.into())]), schema);
    }
    let Fact::Verdict { code: Some(code), suffixed, .. } = &row.fact else {
        return (example::verdict(), json!({ "$ref": "#/components/schemas/Verdict" }));
    };
    let template = &spec.profile().verdict_refused;
    let reason = if *suffixed { format!("{code}:{SUFFIX}") } else { code.clone() };
    let schema = of_body(template, &[("<reason>", reasons(spec, status))], false);
    (fill(template, &[("<reason>", reason.into())]), schema)
}

/// The codes of rows without a body, as a schema: those with a suffix are patterns.
fn reasons(spec: &Spec, status: u16) -> Value {
    let mut codes = Vec::new();
    let mut patterns = Vec::new();
    for row in spec.table(Table::Verdict).filter(|row| row.status() == Some(status)) {
        match &row.fact {
            Fact::Verdict { code: Some(code), suffixed: true, .. } => {
                patterns.push(json!({ "type": "string", "pattern": format!("^{code}:\\S") }));
            }
            Fact::Verdict { code: Some(code), .. } => codes.push(code.clone()),
            _ => {}
        }
    }
    if !codes.is_empty() {
        patterns.insert(0, one_of(&codes));
    }
    any(patterns)
}
