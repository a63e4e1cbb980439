//! Endpoints that a version has beyond those of the built-in ones.

use edgeproof_fixtures::spec::{Endpoint, Fact, Spec, Table};
use serde_json::json;

use super::example::{EDGE, KEYS, SERVICE};
use super::operation::operation;
use super::paths::Paths;
use super::{edge, keys, verdict};

/// Adds their operations. No row states the answers.
pub(super) fn add(spec: &Spec, paths: &mut Paths) {
    for row in spec.table(Table::Endpoints).filter(|row| Endpoint::of_row(&row.id).is_none()) {
        let Fact::Endpoint { party, methods, path } = &row.fact else { continue };
        let (tag, server) = match party.as_str() {
            "service" => (verdict::TAG, SERVICE),
            "keys" => (keys::TAG, KEYS),
            _ => (edge::TAG, EDGE),
        };
        for method in methods {
            let id = format!("{}.{}", row.id, method.to_ascii_lowercase());
            let mut operation = operation(&id, tag, server, &row.condition);
            let default = json!({ "description": "No row states an answer of this endpoint." });
            operation.insert("responses".into(), json!({ "default": default }));
            paths.add(path, method, tag, operation);
        }
    }
}
