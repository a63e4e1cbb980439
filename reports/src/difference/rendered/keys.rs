use super::text::Rendered;
use crate::difference::key::{KeyFault, KeyRule, KeySetValue, OneKeyFault, SignatureForm};
use crate::difference::value::Wire;

pub(super) fn key_set(
    rule: KeyRule,
    expected: Option<&KeySetValue>,
    actual: Option<&KeySetValue>,
    faults: &[KeyFault],
) -> Rendered {
    let (what, wanted) = match rule {
        KeyRule::Readable => ("key set", "a JSON object with an array \"keys\" of objects"),
        KeyRule::NotEmpty => ("keys", "at least one"),
        KeyRule::DistinctIds => ("ids", "different keys have different \"kid\"s"),
        KeyRule::PublicOnly => ("members", "public members only"),
        KeyRule::MembersOnce => ("members", "each member once"),
        KeyRule::Typed => ("types", "each key has a registered \"kty\""),
        KeyRule::Complete => ("keys", "each with all members of its type"),
        KeyRule::Verifying => ("keys", "keys that verify"),
        KeyRule::Same | KeyRule::SameAgain => ("keys", "the same keys"),
    };
    let wanted = expected.map_or_else(|| wanted.to_owned(), value);
    let actual = match actual {
        Some(actual) => value(actual),
        None if faults.is_empty() => wanted.clone(),
        None => faults.iter().map(fault).collect::<Vec<_>>().join("; "),
    };
    Rendered::new(what, wanted, actual)
}

pub(super) fn value(value: &KeySetValue) -> String {
    match value {
        KeySetValue::Same => "the same keys".into(),
        KeySetValue::Other => "other keys".into(),
        KeySetValue::NotASet => "no key set".into(),
        KeySetValue::Gzip => "no key set, but gzip without `Content-Encoding: gzip`, or cut off".into(),
        KeySetValue::Unreadable(error) => error.text.clone(),
        KeySetValue::Keys(count) => count.to_string(),
        KeySetValue::Ids(ids) => {
            let mut ids: Vec<&str> =
                ids.iter().map(|id| id.as_ref().map_or("a key without an id", |id| &id.text)).collect();
            ids.sort_unstable();
            ids.join(", ")
        }
        KeySetValue::Status(status) => status.to_string(),
        KeySetValue::Silence(silence) => silence.to_string(),
    }
}

fn fault(fault: &KeyFault) -> String {
    let (key, fault) = match fault {
        KeyFault::SameId { first, second } => {
            return format!("keys {first} and {second} are different and have the same \"kid\"");
        }
        KeyFault::PrivateAt(place) => return format!("private key material is at {place}"),
        KeyFault::DoubledAt(place) => return format!("{place} is there more than once"),
        KeyFault::Key { key, fault } => (key, fault),
    };
    match fault {
        OneKeyFault::IdNotText => format!("the \"kid\" of key {key} is not a string"),
        OneKeyFault::Private(member) => format!("key {key} contains the private member {member:?}"),
        OneKeyFault::Symmetric => format!("key {key} is symmetric"),
        OneKeyFault::WithoutType => format!("key {key} has no \"kty\", or it is not a string"),
        OneKeyFault::UnknownType => format!("the \"kty\" of key {key} is not a registered type"),
        OneKeyFault::Lacks(member) => format!("key {key} lacks the string {member:?}"),
        OneKeyFault::NotBase64(member) => {
            format!("key {key} has a {member:?} that is not base64url without padding")
        }
        OneKeyFault::Length { member, bytes, required } => {
            format!("key {key} has a {member:?} of {bytes} bytes; its curve requires {required}")
        }
        OneKeyFault::NotText(member) => format!("key {key}: {member:?} is not a string"),
        OneKeyFault::OtherUse => format!("key {key}: \"use\" is not \"sig\""),
        OneKeyFault::NoVerify => format!("key {key}: \"key_ops\" lacks \"verify\""),
        OneKeyFault::OtherAlgorithm(fits) => format!("key {key}: \"alg\" is not {}", fits.join(" or ")),
    }
}

pub(super) fn token(actual: &[SignatureForm], named: &[Option<Wire>]) -> Rendered {
    let named = named.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let results: Vec<_> = actual.iter().zip(named).map(|(form, named)| signature(*form, named)).collect();
    Rendered::new("signature of the verdict's token", "verifies", results.join("; "))
}

fn signature(form: SignatureForm, named: Option<&Wire>) -> String {
    let name = named.map(|named| &named.text);
    let fixed = match (form, name) {
        (SignatureForm::Verified, _) => "verifies",
        (SignatureForm::VerifiedUnnamed, _) => {
            "verifies only with a key without an id, but the token's header names an id"
        }
        (SignatureForm::NotVerified, _) => "does not verify with the key in the token's header",
        (SignatureForm::UnknownKey, Some(id)) => {
            return format!("the set has no key for the algorithm with the id {id:?}");
        }
        (SignatureForm::UnknownKey, None) => "the set has no key for the algorithm",
        (SignatureForm::Unsigned, name) => {
            return format!("the algorithm {:?} has no public key", name.map_or("", |name| name));
        }
        (SignatureForm::Unsupported, name) => {
            return format!("edgeproof does not support the algorithm {:?}", name.map_or("", |name| name));
        }
        (SignatureForm::Malformed, _) => "is not a JWS",
    };
    fixed.to_owned()
}
