use edgeproof_fixtures::spec::{Fact, Row};

/// What a row states besides its condition: name and value.
pub(crate) fn row_facts(row: &Row) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(status) = row.status() {
        facts.push(("status", status.to_string()));
    }
    if let Some(code) = row.code() {
        let name = if matches!(row.fact, Fact::Thrown { .. }) { "error" } else { "code" };
        facts.push((name, code.to_owned()));
    }
    if let Some(body) = row.body() {
        facts.push(("body", body.to_string()));
    }
    match &row.fact {
        Fact::Endpoint { methods, path, .. } => {
            facts.push(("endpoint", format!("{} {path}", methods.join(", "))));
        }
        Fact::Setting { name, values, .. } if values.is_empty() => facts.push(("setting", name.clone())),
        Fact::Setting { name, values, .. } => {
            facts.push(("setting", format!("{name}: {}", values.join(", "))));
        }
        Fact::Limit { value, unit } => {
            facts.push(("limit", value.map_or(unit.clone(), |value| format!("{value} {unit}"))));
        }
        Fact::Rule { point, value } => facts.push(("rule", format!("{point}: {value}"))),
        _ => {}
    }
    facts
}
