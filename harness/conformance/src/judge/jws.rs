//! Verification of a token with a key set (RFC 7515, 7518, 8037).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_fixtures::key_set::{Jwk, KeySet};
use edgeproof_reports::difference::SignatureForm;
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::Value;

/// The text is a compact JWS: three parts of base64, the first a header with an algorithm (RFC 7515 §7.1). Base64 other than
/// base64url makes it malformed.
pub fn is_jws(text: &str) -> bool {
    header(text).is_some()
}

/// The algorithm makes another signature each time, of two numbers with leading zeros (RFC 7518 §3.4).
pub fn is_ecdsa(token: &str) -> bool {
    header(token).is_some_and(|header| header["alg"].as_str().is_some_and(|name| name.starts_with("ES")))
}

/// The id of the key that signed a token, by its header (RFC 7515 §4.1.4).
pub fn key_id(token: &str) -> Option<String> {
    header(token)?.get("kid")?.as_str().map(str::to_owned)
}

/// The claims of a token (RFC 7519 §3). None: its payload is no JSON.
pub fn claims(token: &str) -> Option<Value> {
    serde_json::from_slice(&decode(token.split('.').nth(1)?)?).ok()
}

/// All texts of the verdict that look like a compact JWS: the interface does not show which member holds the token.
pub fn tokens(body: &[u8]) -> Vec<String> {
    let mut tokens = Vec::new();
    visit(&parsed(body), "", &mut |_, leaf| {
        tokens.extend(leaf.as_str().filter(|text| is_jws(text)).map(str::to_owned));
    });
    tokens
}

/// All texts of a JSON body, and of the claims of the tokens in it, with their places. Another body is one text.
pub fn texts(body: &[u8]) -> Vec<(String, String)> {
    let leaves = leaves(body).into_iter();
    leaves.filter_map(|(place, value)| Some((place, value.as_str()?.to_owned()))).collect()
}

/// All values of a JSON body that contain no others, and those of the claims of the tokens in it, with their places.
pub fn leaves(body: &[u8]) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    collect(&parsed(body), "", &mut leaves);
    leaves
}

/// Verifies a compact JWS. Yields the result, and the id or algorithm in the token's header that it is about.
pub fn verify_jws(token: &str, set: &KeySet) -> (SignatureForm, Option<String>) {
    let Some(header) = header(token) else { return (SignatureForm::Malformed, None) };
    let text = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
    let algorithm = text("alg").unwrap_or_default();
    if algorithm.eq_ignore_ascii_case("none") || algorithm.starts_with("HS") {
        return (SignatureForm::Unsigned, Some(algorithm));
    }
    let Some(method) = Method::of(&algorithm) else { return (SignatureForm::Unsupported, Some(algorithm)) };
    let kid = text("kid");
    let named = |key: &&Jwk| method.fits(key) && (kid.is_none() || key.kid() == kid.as_deref());
    // The id is a hint (RFC 7515 §4.1.4), and a key can lack one (RFC 7517 §4.5).
    let unnamed = |key: &&Jwk| method.fits(key) && kid.is_some() && key.kid().is_none();
    let signed_by = |keys: &[&Jwk], signed: &str, signature: &[u8]| {
        keys.iter().any(|key| method.verify(key, signed.as_bytes(), signature).unwrap_or(false))
    };
    let keys: Vec<&Jwk> = set.keys().iter().filter(named).collect();
    let parts: Option<Vec<_>> = token.split('.').map(decode).collect();
    let (Some([_, _, signature]), Some((signed, _))) = (parts.as_deref(), token.rsplit_once('.')) else {
        return (SignatureForm::Malformed, None);
    };
    if signed_by(&keys, signed, signature) {
        return (SignatureForm::Verified, None);
    }
    if signed_by(&set.keys().iter().filter(unnamed).collect::<Vec<_>>(), signed, signature) {
        return (SignatureForm::VerifiedUnnamed, None);
    }
    if keys.is_empty() { (SignatureForm::UnknownKey, kid) } else { (SignatureForm::NotVerified, None) }
}

/// A signature algorithm.
enum Method {
    Ed25519,
    Ecdsa(&'static str, &'static dyn VerificationAlgorithm),
    Rsa(&'static RsaParameters),
}

impl Method {
    fn of(algorithm: &str) -> Option<Self> {
        Some(match algorithm {
            "EdDSA" | "Ed25519" => Self::Ed25519,
            "ES256" => Self::Ecdsa("P-256", &signature::ECDSA_P256_SHA256_FIXED),
            "ES384" => Self::Ecdsa("P-384", &signature::ECDSA_P384_SHA384_FIXED),
            "RS256" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            "RS384" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            "RS512" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            "PS256" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            "PS384" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            "PS512" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            _ => return None,
        })
    }

    fn fits(&self, key: &Jwk) -> bool {
        match self {
            Self::Ed25519 => key.kty() == Some("OKP") && key.text("crv") == Some("Ed25519"),
            Self::Ecdsa(curve, _) => key.kty() == Some("EC") && key.text("crv") == Some(curve),
            Self::Rsa(_) => key.kty() == Some("RSA"),
        }
    }

    /// None: the key lacks a member.
    fn verify(&self, key: &Jwk, signed: &[u8], signature: &[u8]) -> Option<bool> {
        let part = |name: &str| key.text(name).and_then(decode);
        let verified = match self {
            Self::Ed25519 => {
                UnparsedPublicKey::new(&signature::ED25519, part("x")?).verify(signed, signature)
            }
            Self::Ecdsa(_, algorithm) => {
                let point = [vec![4], part("x")?, part("y")?].concat();
                UnparsedPublicKey::new(*algorithm, point).verify(signed, signature)
            }
            Self::Rsa(parameters) => {
                RsaPublicKeyComponents { n: part("n")?, e: part("e")? }.verify(parameters, signed, signature)
            }
        };
        Some(verified.is_ok())
    }
}

/// The header of a compact JWS.
pub(super) fn header(token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (Some(header), Some(payload), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let header: Value = serde_json::from_slice(&decode(header.trim_end_matches('='))?).ok()?;
    // A token with padding, or in the other alphabet, is a malformed token.
    let is_encoded = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'='))
    };
    (is_encoded(payload) && is_encoded(signature) && header.get("alg")?.is_string()).then_some(header)
}

/// The JSON of a body. Another body is one text.
fn parsed(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| String::from_utf8_lossy(body).trim().into())
}

fn collect(value: &Value, place: &str, leaves: &mut Vec<(String, Value)>) {
    visit(
        value,
        place,
        &mut |place, leaf| match leaf.as_str().filter(|text| is_jws(text)).and_then(claims) {
            Some(claims) => collect(&claims, place, leaves),
            None => leaves.push((place.to_owned(), leaf.clone())),
        },
    );
}

/// Calls back for each value in a value that contains no others, with its place.
fn visit(value: &Value, place: &str, see: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit(item, &format!("{place}/{index}"), see);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                visit(item, &format!("{place}/{name}"), see);
            }
        }
        leaf => see(place, leaf),
    }
}

/// The bytes of base64url without padding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// RFC 7515 appendix A.3, and RFC 8037 appendix A.
    const SET: &str = r#"{"keys":[
        {"kty":"EC","crv":"P-256","kid":"ec","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
        {"kty":"OKP","crv":"Ed25519","kid":"ed","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    const ES256: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    const EDDSA: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

    #[rstest]
    #[case::es256(ES256.into(), SignatureForm::Verified, None)]
    #[case::eddsa(EDDSA.into(), SignatureForm::Verified, None)]
    #[case::altered_payload(ES256.replace("eyJpc3MiOiJqb2", "eyJpc3MiOiJqb3"), SignatureForm::NotVerified, None)]
    #[case::altered_signature(EDDSA.replace("hgyY0il", "hgyY1il"), SignatureForm::NotVerified, None)]
    #[case::unsigned("eyJhbGciOiJub25lIn0.e30.".into(), SignatureForm::Unsigned, Some("none"))]
    #[case::symmetric("eyJhbGciOiJIUzI1NiJ9.e30.AA".into(), SignatureForm::Unsigned, Some("HS256"))]
    #[case::unsupported("eyJhbGciOiJFUzUxMiJ9.e30.AA".into(), SignatureForm::Unsupported, Some("ES512"))]
    #[case::no_such_key("eyJhbGciOiJSUzI1NiJ9.e30.AA".into(), SignatureForm::UnknownKey, None)]
    #[case::no_token("a.b.c".into(), SignatureForm::Malformed, None)]
    #[case::padded_header(ES256.replacen('.', "=.", 1), SignatureForm::Malformed, None)]
    #[case::padded_signature(format!("{ES256}=="), SignatureForm::Malformed, None)]
    #[case::other_alphabet(ES256.replace("Xx-F4", "Xx+F4"), SignatureForm::Malformed, None)]
    fn tokens_verify_with_their_key_only(
        #[case] token: String,
        #[case] form: SignatureForm,
        #[case] named: Option<&str>,
    ) {
        let set = KeySet::parse(SET.as_bytes()).unwrap();
        assert_eq!(verify_jws(&token, &set), (form, named.map(str::to_owned)));
    }

    #[test]
    fn key_without_id_verifies_as_unnamed() {
        let key = signature::Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let signed = format!("{}.e30", URL_SAFE_NO_PAD.encode(r#"{"alg":"EdDSA","kid":"a"}"#));
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes())));
        let x = URL_SAFE_NO_PAD.encode(signature::KeyPair::public_key(&key));
        let set = format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}]}}"#);
        assert_eq!(
            verify_jws(&token, &KeySet::parse(set.as_bytes()).unwrap()),
            (SignatureForm::VerifiedUnnamed, None)
        );
    }

    #[rstest]
    #[case(ES256, true)]
    #[case("1.2.3", false)]
    #[case("eyJhbGciOiJFUzI1NiJ9.e30", false)]
    #[case("www.example.org", false)]
    #[case(&format!("{ES256}=="), true)]
    fn only_a_compact_jws_is_a_token(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_jws(text), expected);
    }
}
