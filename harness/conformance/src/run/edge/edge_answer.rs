use edgeproof_fixtures::spec::{Fact, Spec, Table};
use edgeproof_http::Answer;
use serde_json::Value;

/// Whether the interface gives an edge this answer.
pub(super) fn is_edge_answer(spec: &Spec, answer: &Answer) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return false };
    spec.table(Table::Edge).any(|row| match &row.fact {
        Fact::Answer { body: Some(shape), .. } => has_shape(shape, &body),
        _ => false,
    })
}

/// Whether a body has the members of a row's body, and its texts except placeholders such as `<reason>`.
fn has_shape(shape: &Value, body: &Value) -> bool {
    match (shape, body) {
        (Value::Object(shape), Value::Object(body)) => {
            shape.len() == body.len()
                && shape.iter().all(|(key, shape)| body.get(key).is_some_and(|body| has_shape(shape, body)))
        }
        (Value::String(shape), _) if shape.starts_with('<') => true,
        (shape, body) => shape == body,
    }
}
