use edgeproof_fixtures::spec::{Spec, Table};
use edgeproof_http::{Answer, NoAnswer};
use serde_json::Value;

/// Refusals (status and reason) that show whether an edge reads the service's reasons: the first relay row of each
/// status, except where the edge's answer is `unknown` anyway.
pub fn reason_probes(spec: &Spec) -> Vec<(u16, &str)> {
    let mut probes: Vec<(u16, &str)> = Vec::new();
    for (status, reason) in spec.table(Table::Relay).filter_map(|row| Some((row.status()?, row.code()?))) {
        if Some(reason) != unknown(spec) && !probes.iter().any(|(other, _)| *other == status) {
            probes.push((status, reason));
        }
    }
    probes
}

/// Whether an edge passed a probe's status on and replaced its reason by `unknown`.
pub fn hides_reason(spec: &Spec, status: u16, reply: &Result<Answer, NoAnswer>) -> bool {
    let Ok(answer) = reply else { return false };
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return false };
    answer.status == status && body.get("reason").and_then(Value::as_str) == unknown(spec)
}

fn unknown(spec: &Spec) -> Option<&str> {
    spec.row("edge.refused.unknown").and_then(|row| row.body()?.get("reason")?.as_str())
}
