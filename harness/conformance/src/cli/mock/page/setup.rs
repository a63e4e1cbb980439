use edgeproof_fixtures::collector::tables;
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
    json!({
        "options": { "apiUrl": edge, "sealKey": service.seal_key().to_jwk() },
        "tables": tables(spec),
        "modes": CollectorMode::ALL,
        "magic": [
            { "label": "Refusals of the collection", "pairs": references(Table::Relay) },
            { "label": "Answers to the backend", "pairs": references(Table::Verdict) },
        ],
    })
}
