//! OpenAPI 3.1 of the interface. Paths, statuses, codes and bodies come from rows. Where the interface is open, the values
//! of the reference profile stand in, and descriptions say so.

mod added;
mod edge;
mod example;
mod header;
mod keys;
mod operation;
mod paths;
mod relay;
mod responses;
mod schema;
mod verdict;

use edgeproof_fixtures::spec::Spec;
use serde_json::{Value, json};

use paths::Paths;

/// The document.
pub(super) fn document(spec: &Spec) -> Value {
    let mut paths = Paths::default();
    edge::add(spec, &mut paths);
    relay::add(spec, &mut paths);
    verdict::add(spec, &mut paths);
    keys::add(spec, &mut paths);
    added::add(spec, &mut paths);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": spec.name(),
            "version": spec.version(),
            "description": "Each example of an answer is a row of the interface, by its id. \
                Values are examples; placeholders of the interface are filled in.",
            "x-digest": spec.digest(),
        },
        "servers": [{ "url": example::EDGE }],
        "tags": [
            { "name": edge::TAG, "description": "The page calls the edge." },
            { "name": relay::TAG, "description": "The edge calls the service, with license and client certificate." },
            { "name": verdict::TAG, "description": "A backend calls the service, with a read token." },
            { "name": keys::TAG, "description": "Everyone may get the public keys." },
        ],
        "paths": paths.into_value(),
        "components": {
            "securitySchemes": {
                relay::LICENSE: relay::license_scheme(spec),
                relay::CERTIFICATE: { "type": "mutualTLS", "description": "Client certificate of the edge." },
                verdict::READ_TOKEN: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Read token of a backend. A license is not a read token.",
                },
            },
            "schemas": {
                "Collection": {
                    "type": "object",
                    "description": "The collector makes it. The edge relays its bytes unchanged and does not inspect them.",
                    "examples": [example::collection(spec)],
                },
                "Verdict": {
                    "type": "object",
                    "description": format!("Members of the reference profile: {}.", example::point(spec, "verdict.form")),
                    "examples": [example::verdict()],
                },
                "KeySet": {
                    "type": "object",
                    "required": ["keys"],
                    "properties": {
                        "keys": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["kty"],
                                "properties": { "kty": { "type": "string" }, "kid": { "type": "string" } },
                            },
                        },
                    },
                    "examples": [example::key_set()],
                },
            },
        },
    })
}
