//! The key set.

use edgeproof_fixtures::spec::{Endpoint, Level, Spec, Table};
use serde_json::json;

use super::example::{self, KEYS};
use super::header::StatedHeader;
use super::operation::{EndpointRow, operation};
use super::paths::Paths;
use super::responses::Responses;

pub(super) const TAG: &str = "keys";

pub(super) fn add(spec: &Spec, paths: &mut Paths) {
    let Some(endpoint) = EndpointRow::of(spec, Endpoint::KeySet) else { return };
    // Requirements without a status of their own.
    let rows = spec.table(Table::Keys).filter(|row| row.status().is_none() && row.level != Level::Open);
    let rows: Vec<_> =
        rows.map(|row| format!("- `{}` ({}): {}", row.id, row.level.name(), row.condition)).collect();
    for method in endpoint.methods {
        let id = format!("{}KeySet", method.to_ascii_lowercase());
        let mut operation = operation(&id, TAG, KEYS, "Get the public keys that verify verdicts");
        let description = format!("{}\n\n{}", endpoint.row.condition, rows.join("\n"));
        operation.insert("description".into(), description.into());
        let mut responses = Responses::default();
        for row in spec.table(Table::Keys) {
            if let Some(status) = row.status() {
                let schema = json!({ "$ref": "#/components/schemas/KeySet" });
                responses.add(&status.to_string(), row, Some((example::key_set(), schema)));
            }
        }
        let mut responses = responses.into_value(&spec.profile().keys_content_type);
        let lifetime = format!("max-age={}", spec.profile().keys_max_age.as_secs());
        // Expires limits the lifetime as well.
        let cache = StatedHeader {
            row: "limit.key-set-cache",
            name: "Cache-Control",
            needed: false,
            example: &lifetime,
        };
        cache.add(spec, &mut responses, |_| true);
        let tag = StatedHeader { row: "keys.etag", name: "ETag", needed: true, example: "\"1\"" };
        tag.add(spec, &mut responses, |_| true);
        operation.insert("responses".into(), responses);
        paths.add(endpoint.path, method, TAG, operation);
    }
}
