use edgeproof_fixtures::spec::{Endpoint, Fact, Row, Spec};
use serde_json::{Map, Value, json};

/// The endpoint of an operation: its methods and its path, from its row.
pub(super) struct EndpointRow<'a> {
    pub(super) row: &'a Row,
    pub(super) methods: &'a [String],
    pub(super) path: &'a str,
}

impl<'a> EndpointRow<'a> {
    /// None if the row states no endpoint; tables with this mistake do not load.
    pub(super) fn of(spec: &'a Spec, endpoint: Endpoint) -> Option<Self> {
        let row = spec.row(endpoint.row())?;
        let Fact::Endpoint { methods, path, .. } = &row.fact else { return None };
        Some(Self { row, methods, path })
    }
}

/// An operation without a body. `id` is unique in the document.
pub(super) fn operation(id: &str, tag: &str, server: &str, summary: &str) -> Map<String, Value> {
    let operation = json!({
        "operationId": id,
        "tags": [tag],
        "summary": summary,
        "servers": [{ "url": server }],
        "security": [],
    });
    match operation {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
