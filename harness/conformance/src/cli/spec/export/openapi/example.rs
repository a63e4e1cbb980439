//! Values for placeholders, and bodies that the interface does not show.

use edgeproof_fixtures::spec::Spec;
use serde_json::{Value, json};

/// Base URLs of the three parties.
pub(super) const EDGE: &str = "https://edge.example";
pub(super) const SERVICE: &str = "https://service.example";
pub(super) const KEYS: &str = "https://keys.example";

/// Origin of a page.
pub(super) const PAGE: &str = "https://shop.example";

/// A session reference.
pub(super) const SESSION_REF: &str = "order-4711";

/// The value of an open point as text.
pub(super) fn point(spec: &Spec, id: &str) -> String {
    spec.profile().point(id).map(|point| point.value.to_string()).unwrap_or_default()
}

/// A body that a page posts.
pub(super) fn collection(spec: &Spec) -> Value {
    if spec.seals_collections() {
        json!({"version": 1, "keyId": "seal-1", "encapsulatedKey": "Zm9yIGV4YW1wbGU", "ciphertext": "c2VhbGVk"})
    } else {
        json!({"sessionRef": SESSION_REF, "measurements": {"webdriver": false}})
    }
}

/// A verdict of the reference profile.
pub(super) fn verdict() -> Value {
    json!({
        "ref": SESSION_REF,
        "decision": "allow",
        "confidence": 0.97,
        "issuedAt": "2026-01-01T00:00:00Z",
        "token": "eyJhbGciOiJFZERTQSIsImtpZCI6InZlcmRpY3QtMSJ9.eyJzdWIiOiJvcmRlci00NzExIn0.c2lnbmF0dXJl",
    })
}

/// A key set with the public key of RFC 8037, appendix A.
pub(super) fn key_set() -> Value {
    json!({"keys": [{
        "kty": "OKP",
        "crv": "Ed25519",
        "kid": "verdict-1",
        "use": "sig",
        "alg": "EdDSA",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    }]})
}
