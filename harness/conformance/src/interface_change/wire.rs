use edgeproof_fixtures::spec::{Fact, Row, Spec};

use crate::row_facts::row_facts;

/// What a row puts on the wire, in lines: the answer as the client gets it, or the fact where the row is no answer.
pub(super) fn wire(row: &Row, spec: &Spec) -> Vec<String> {
    match &row.fact {
        Fact::Reason { status, code } => {
            let values = [("<status>", (*status).into()), ("<reason>", code.as_str().into())];
            let passed = spec.row("edge.refused").and_then(|row| row.body_with(&values));
            let replied = format!("{status} {}", with_reason(&spec.profile().relay_refused, code));
            let to_page = passed.map(|body| format!("passed on as {status} {body}"));
            [replied].into_iter().chain(to_page).collect()
        }
        Fact::Verdict { status: Some(status), body: None, code: Some(code), suffixed } => {
            let code = if *suffixed { format!("{code}:…") } else { code.clone() };
            vec![format!("{status} {}", with_reason(&spec.profile().verdict_refused, &code))]
        }
        Fact::Answer { .. } | Fact::Verdict { .. } => row.answer().into_iter().collect(),
        _ => row_facts(row).into_iter().map(|(name, value)| format!("{name} {value}")).collect(),
    }
}

/// A body of the profile with its reason.
fn with_reason(body: &serde_json::Value, code: &str) -> String {
    edgeproof_fixtures::spec::fill(body, &[("<reason>", code.into())]).to_string()
}
