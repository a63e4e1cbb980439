use fixtures::spec::{Fact, Spec, Table};
use serde_json::Value;

use crate::cases::Found;
use crate::wire::Answer;

/// What the first conversation says about the ground that everything else stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ground {
    /// The edge can be judged.
    Firm,
    /// It cannot: nothing is proven, and this is what to do.
    None(String),
}

/// Judges the ground. Firm: the collection reached the mock service, or the edge answers as an edge does. One that
/// others started has to reach our mock service; for one that we started it is the edge's own fault if it does not.
pub(super) fn judge(spec: &Spec, found: &Found, we_started_it: bool) -> Ground {
    if !found.arrivals.is_empty() {
        return Ground::Firm;
    }
    let Some((sent, _)) = found.sent.first() else { return Ground::None("nothing was sent".into()) };
    let answer = match &sent.reply {
        Ok(answer) => answer,
        Err(why) => return Ground::None(format!("the edge does not answer a collection: {why}")),
    };
    let seen = format!("it answers {} {}", answer.status, crate::judge::shown(&answer.body));
    if !is_an_edges(spec, answer) {
        return Ground::None(format!(
            "nothing that was posted reached the mock service, and what answers is not an edge of this interface: {seen}"
        ));
    }
    if we_started_it {
        return Ground::Firm;
    }
    Ground::None(format!(
        "this edge does not reach the mock service: {seen}, and nothing arrived. Point its SERVICE_URL, SERVICE_CA_FILE, \
         EDGE_CLIENT_CERT_FILE and EDGE_CLIENT_KEY_FILE at the settings that `edgeproof mint edge-settings` wrote, check \
         that the address is reachable from where it runs, and restart it; or use --no-service"
    ))
}

/// The answer is one that the interface gives an edge.
fn is_an_edges(spec: &Spec, answer: &Answer) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return false };
    spec.table(Table::Edge).any(|row| match &row.fact {
        Fact::Answer { body: Some(shape), .. } => same_shape(shape, &body),
        _ => false,
    })
}

/// The same members, and the same texts where the row gives one.
fn same_shape(shape: &Value, body: &Value) -> bool {
    match (shape, body) {
        (Value::Object(shape), Value::Object(body)) => {
            shape.len() == body.len()
                && shape.iter().all(|(key, shape)| body.get(key).is_some_and(|body| same_shape(shape, body)))
        }
        (Value::String(shape), _) if shape.starts_with('<') => true,
        (shape, body) => shape == body,
    }
}
