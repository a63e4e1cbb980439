//! A key set (RFC 7517, 7518, 8037): pure checks, each about one thing.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_fixtures::key_set::{Jwk, KeySet, KeySetFault};

use super::check::Check;

/// At least one key: with none, no verdict's signature can be checked.
pub fn has_keys(set: &KeySet) -> Check {
    let count = set.keys().len();
    Check::new("keys", "at least one", count.to_string(), count > 0)
        .hint("with an empty set nobody can check the signature of a verdict")
}

/// Different keys have different ids (RFC 7517 §4.5).
pub fn distinct_ids(set: &KeySet) -> Check {
    told("ids", "different keys have different \"kid\"s", &set.id_faults()).hint(
        "whoever looks a key up by its id may find the other one, and take a good signature for a bad one",
    )
}

/// No private and no symmetric member (RFC 7518 §6, RFC 8037 §2).
pub fn public_only(set: &KeySet) -> Check {
    let mut faults: Vec<String> = set.private_members().iter().map(ToString::to_string).collect();
    let symmetric = set.keys().iter().enumerate().filter(|(_, key)| key.kty() == Some("oct"));
    faults.extend(symmetric.map(|(index, _)| format!("key {index} is symmetric")));
    listed("members", "public ones only", &faults)
        .hint(
            "whoever reads it can sign verdicts: take the key out of use, sign with a new asymmetric one, and publish its \
             public half",
        )
}

/// Every key is of a registered type and holds what a key of that type has to hold (RFC 7518 §6, RFC 8037 §2).
pub fn typed_keys(set: &KeySet) -> Vec<Check> {
    let types = told("types", "each key has a registered \"kty\"", &set.type_faults());
    let incomplete: Vec<String> = set
        .keys()
        .iter()
        .enumerate()
        .flat_map(|(index, key)| lacks(key).into_iter().map(move |lack| format!("key {index} {lack}")))
        .collect();
    vec![types, listed("keys", "each whole, by its type", &incomplete)]
}

/// What a key of a known type lacks.
fn lacks(key: &Jwk) -> Vec<String> {
    let needed: &[&str] = match key.kty() {
        Some("RSA") => &["n", "e"],
        Some("EC") => &["crv", "x", "y"],
        Some("OKP") => &["crv", "x"],
        _ => &[],
    };
    let mut lacks: Vec<String> = needed
        .iter()
        .filter(|name| key.text(name).is_none_or(str::is_empty))
        .map(|name| format!("has no text {name:?}"))
        .collect();
    let length = key.text("crv").and_then(coordinate);
    for name in needed.iter().filter(|name| **name != "crv") {
        let Some(text) = key.text(name).filter(|text| !text.is_empty()) else { continue };
        match (URL_SAFE_NO_PAD.decode(text), length) {
            (Err(_), _) => {
                lacks.push(format!("has {name:?} in something other than base64url without padding"));
            }
            (Ok(bytes), Some(length)) if bytes.len() != length => {
                lacks.push(format!("has {name:?} of {} bytes, its curve needs {length}", bytes.len()));
            }
            (Ok(_), _) => {}
        }
    }
    lacks
}

/// Bytes of a coordinate, or of a public key, on curves that are known (RFC 7518 §6.2.1.2, RFC 8032, RFC 7748).
fn coordinate(curve: &str) -> Option<usize> {
    Some(match curve {
        "P-256" | "secp256k1" | "Ed25519" | "X25519" => 32,
        "P-384" => 48,
        "P-521" => 66,
        "X448" => 56,
        "Ed448" => 57,
        _ => return None,
    })
}

fn told(what: &str, expected: &str, faults: &[KeySetFault]) -> Check {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    listed(what, expected, &faults)
}

fn listed(what: &str, expected: &str, faults: &[String]) -> Check {
    let actual = if faults.is_empty() { expected.to_owned() } else { faults.join("; ") };
    Check::new(what, expected, actual, faults.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn set(keys: &str) -> KeySet {
        KeySet::parse(format!(r#"{{"keys":[{keys}]}}"#).replace("$X", X).as_bytes()).unwrap()
    }

    #[rstest]
    #[case::ed25519(r#"{"kty":"OKP","crv":"Ed25519","x":"$X"}"#, true)]
    #[case::other_curve(r#"{"kty":"OKP","crv":"Ed25519ph","x":"AQ"}"#, true)]
    #[case::short(r#"{"kty":"OKP","crv":"Ed25519","x":"AQ"}"#, false)]
    #[case::padded(r#"{"kty":"OKP","crv":"Ed25519","x":"$X="}"#, false)]
    #[case::without_its_key(r#"{"kty":"OKP","crv":"Ed25519"}"#, false)]
    #[case::ec(r#"{"kty":"EC","crv":"P-256","x":"$X","y":"$X"}"#, true)]
    #[case::half_a_point(r#"{"kty":"EC","crv":"P-256","x":"$X"}"#, false)]
    #[case::rsa(r#"{"kty":"RSA","n":"$X","e":"AQAB"}"#, true)]
    #[case::rsa_without_modulus(r#"{"kty":"RSA","e":"AQAB"}"#, false)]
    #[case::without_type(r#"{"crv":"Ed25519","x":"$X"}"#, false)]
    #[case::invented_type(r#"{"kty":"ed25519","x":"$X"}"#, false)]
    fn judges_keys_by_their_type(#[case] key: &str, #[case] ok: bool) {
        assert_eq!(typed_keys(&set(key)).iter().all(|check| check.ok), ok);
    }

    #[rstest]
    #[case::public(r#"{"kty":"OKP","crv":"Ed25519","x":"$X"}"#, true)]
    #[case::private(r#"{"kty":"OKP","crv":"Ed25519","x":"$X","d":"secret"}"#, false)]
    #[case::symmetric(r#"{"kty":"oct"}"#, false)]
    fn judges_what_is_shown(#[case] key: &str, #[case] ok: bool) {
        let check = public_only(&set(key));
        assert_eq!(check.ok, ok);
        assert!(!check.actual.contains("secret"));
    }
}
