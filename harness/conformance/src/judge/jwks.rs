//! Checks of a key set (RFC 7517, 7518, 8037).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_fixtures::key_set::{Jwk, KeySet, KeySetFault};
use edgeproof_fixtures::spec::Advice;

use super::check::Check;
use super::json_change::doubled_names;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, KeyFault, KeyRule, KeySetValue, OneKeyFault};

/// The set contains a key.
pub fn has_keys(set: &KeySet) -> Check {
    let count = set.keys().len();
    let kind = DifferenceKind::key_set(KeyRule::NotEmpty, Some(KeySetValue::Keys(count as u64)));
    Check::judged(kind, count > 0).advise(Advice::KeysEmpty)
}

/// Different keys have different ids (RFC 7517 §4.5).
pub fn distinct_ids(set: &KeySet) -> Check {
    flawless(KeyRule::DistinctIds, set.id_faults().into_iter().map(value)).advise(Advice::KeyIdsRepeated)
}

/// The set contains no private and no symmetric key (RFC 7518 §6, RFC 8037 §2).
pub fn public_only(set: &KeySet) -> Check {
    let symmetric = set.keys().iter().enumerate().filter(|(_, key)| key.kty() == Some("oct"));
    let symmetric = symmetric.map(|(index, _)| OneKeyFault::Symmetric.of(index));
    let private = set.private_members().into_iter().map(value);
    flawless(KeyRule::PublicOnly, private.chain(symmetric)).advise(Advice::KeysPrivate)
}

/// The set and each key have each member once (RFC 7517 §4, §5). In a nested object it is advice (RFC 8259 §4).
pub fn members_once(body: &[u8]) -> Vec<Check> {
    let is_forbidden = |place: &String| {
        let parts: Vec<&str> = place.split('/').skip(1).collect();
        parts.len() == 1 || parts.len() == 3 && parts[0] == "keys"
    };
    let (forbidden, nested): (Vec<String>, _) = doubled_names(body).into_iter().partition(is_forbidden);
    let check =
        |places: Vec<String>| flawless(KeyRule::MembersOnce, places.into_iter().map(KeyFault::DoubledAt));
    vec![check(forbidden), check(nested).at(CaseLevel::Should)]
}

/// Each key has a registered type and the members of that type (RFC 7518 §6, RFC 8037 §2).
pub fn typed_keys(set: &KeySet) -> Vec<Check> {
    let keys = set.keys().iter().enumerate();
    let incomplete = keys.flat_map(|(index, key)| lacks(key).into_iter().map(move |lack| lack.of(index)));
    vec![
        flawless(KeyRule::Typed, set.type_faults().into_iter().map(value)),
        flawless(KeyRule::Complete, incomplete),
    ]
}

/// The key set has none of these faults.
pub fn flawless(rule: KeyRule, faults: impl Iterator<Item = KeyFault>) -> Check {
    let faults: Vec<_> = faults.collect();
    let ok = faults.is_empty();
    Check::judged(DifferenceKind::key_faults(rule, faults), ok)
}

fn value(fault: KeySetFault) -> KeyFault {
    match fault {
        KeySetFault::SameId { first, second } => {
            KeyFault::SameId { first: first as u64, second: second as u64 }
        }
        KeySetFault::PrivateAt { place } => KeyFault::PrivateAt(place),
        KeySetFault::IdNotText { index } => OneKeyFault::IdNotText.of(index),
        KeySetFault::Private { index, member } => OneKeyFault::Private(member.to_owned()).of(index),
        KeySetFault::WithoutType { index } => OneKeyFault::WithoutType.of(index),
        KeySetFault::UnknownType { index } => OneKeyFault::UnknownType.of(index),
    }
}

/// Missing or invalid members of a key.
fn lacks(key: &Jwk) -> Vec<OneKeyFault> {
    let needed: &[&str] = match key.kty() {
        Some("RSA") => &["n", "e"],
        Some("EC") => &["crv", "x", "y"],
        Some("OKP") => &["crv", "x"],
        _ => &[],
    };
    let mut lacks: Vec<OneKeyFault> = needed
        .iter()
        .filter(|name| key.text(name).is_none_or(str::is_empty))
        .map(|name| OneKeyFault::Lacks((*name).to_owned()))
        .collect();
    let length = key.text("crv").and_then(coordinate);
    for name in needed.iter().filter(|name| **name != "crv") {
        let Some(text) = key.text(name).filter(|text| !text.is_empty()) else { continue };
        match (URL_SAFE_NO_PAD.decode(text), length) {
            (Err(_), _) => lacks.push(OneKeyFault::NotBase64((*name).to_owned())),
            (Ok(bytes), Some(length)) if bytes.len() != length => {
                let (bytes, required) = (bytes.len() as u64, length as u64);
                lacks.push(OneKeyFault::Length { member: (*name).to_owned(), bytes, required });
            }
            (Ok(_), _) => {}
        }
    }
    lacks
}

/// Length of a coordinate or a public key on known curves, in bytes (RFC 7518 §6.2.1.2, RFC 8032, RFC 7748).
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
    fn keys_need_the_members_of_their_type(#[case] key: &str, #[case] ok: bool) {
        assert_eq!(typed_keys(&set(key)).iter().all(|check| check.ok), ok);
    }

    #[rstest]
    #[case::public(r#"{"kty":"OKP","crv":"Ed25519","x":"$X"}"#, true)]
    #[case::private(r#"{"kty":"OKP","crv":"Ed25519","x":"$X","d":"secret"}"#, false)]
    #[case::symmetric(r#"{"kty":"oct"}"#, false)]
    fn private_members_fail_without_being_repeated(#[case] key: &str, #[case] ok: bool) {
        let check = public_only(&set(key));
        assert_eq!(check.ok, ok);
        assert!(!check.actual.contains("secret"));
    }

    #[rstest]
    #[case::once(r#"{"keys":[{"kty":"oct","kid":"a"},{"kty":"oct","kid":"a"}]}"#, &[])]
    #[case::in_a_key(r#"{"keys":[{"kty":"oct","kid":"a","kid":"b"}]}"#, &[CaseLevel::Must])]
    #[case::of_the_set(r#"{"keys":[],"keys":[]}"#, &[CaseLevel::Must])]
    #[case::nested(r#"{"keys":[{"x":{"a":1,"a":1}}]}"#, &[CaseLevel::Should])]
    fn doubled_member_fails(#[case] body: &str, #[case] expected: &[CaseLevel]) {
        let checks = members_once(body.as_bytes());
        let failed: Vec<CaseLevel> =
            checks.iter().filter(|check| !check.ok).map(|check| check.level).collect();
        assert_eq!(failed, expected);
    }
}
