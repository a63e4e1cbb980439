use edgeproof_fixtures::seal::CollectorMode;
use edgeproof_fixtures::spec::Table;
use edgeproof_mock::MockService;
use edgeproof_mock::magic::{Carrier, Magic, Pair};
use serde_json::{Value, json};

/// Options for the collector, and choices for the user.
pub(super) fn setup(service: &MockService, edge: &str) -> Value {
    let spec = service.spec();
    let magic = Magic::of(spec);
    let references = |table: Table| -> Vec<&Pair> {
        let pairs = magic.pairs().iter();
        pairs.filter(|pair| pair.carrier == Carrier::SessionRef && pair.table == table).collect()
    };
    let mut options = json!({ "apiUrl": edge, "sealKey": service.seal_key().to_jwk() });
    if !spec.seals_collections() {
        options["compatibility"] = "pre-seal".into();
    }
    json!({
        "options": options,
        "modes": CollectorMode::ALL,
        "magic": [
            { "label": "Refusals of the collection", "pairs": references(Table::Relay) },
            { "label": "Answers to the backend", "pairs": references(Table::Verdict) },
        ],
    })
}
