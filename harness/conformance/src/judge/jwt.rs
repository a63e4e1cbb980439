//! Header and claims of a token (RFC 7515 §4, RFC 7519 §4).

use std::time::{Duration, SystemTime};

use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, MemberChange, TokenPart, Wire};
use serde_json::Value;

use super::check::Check;
use super::json_change::doubled_names;
use super::jws::{claims, decode, header, tokens};

/// Difference of two clocks that no test machine exceeds.
const SKEW: Duration = Duration::from_secs(24 * 3600);
/// A later end is no number of seconds.
const LONGEST: Duration = Duration::from_secs(20 * 365 * 24 * 3600);
/// Difference between the start of a token and the time of its answer that rounding and a slow proxy explain (s).
const LEEWAY: f64 = 2.0;
/// Difference of two numbers that rounding explains.
const ROUNDING: f64 = 0.01;
/// Claims of the standard (RFC 7519 §4.1).
const REGISTERED_CLAIMS: [&str; 7] = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"];
/// Header parameters of the standards, which `crit` must not name (RFC 7515 §4.1.11).
const REGISTERED: [&str; 11] =
    ["alg", "jku", "jwk", "kid", "x5u", "x5c", "x5t", "x5t#S256", "typ", "cty", "crit"];

/// Each time in the claims of this token is a number of seconds that makes sense now. Empty: it has none.
pub fn token_times(token: &str, now: SystemTime) -> Vec<Check> {
    let claims = claims(token).unwrap_or_default();
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let (past, future) = (now - SKEW.as_secs_f64(), now + SKEW.as_secs_f64());
    let issued = claims["iat"].as_f64().unwrap_or(f64::MIN);
    let makes_sense = |name: &str, time: f64| match name {
        "exp" => time > past.max(issued) && time < now + LONGEST.as_secs_f64(),
        _ => time < future,
    };
    let check = |name: &str| {
        let value = claims.get(name)?;
        let ok = value.as_f64().is_some_and(|time| makes_sense(name, time));
        let actual = Some(Wire::from(value.to_string()));
        let expected = if ok { actual.clone() } else { Some(Wire::from(format!("{now:.0}"))) };
        Some(member(TokenPart::Claims, name, expected, actual, ok))
    };
    ["iat", "nbf", "exp"].into_iter().filter_map(check).collect()
}

/// A token with the time of its issue has begun when it is sent. `sent`: that time by the clock of the service. None: it does
/// not say when it begins or was issued.
pub fn token_begun(token: &str, sent: SystemTime) -> Option<Check> {
    let claims = claims(token)?;
    let (issued, begins) = (claims["iat"].as_f64()?, claims["nbf"].as_f64()?);
    let sent = sent.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let ok = begins <= issued.max(sent) + LEEWAY;
    Some(claim("nbf", &claims["nbf"], Some(format!("{sent:.0}")), ok))
}

/// A token ends after the issue of another one that the service signed later. None: no such times.
pub fn outlives(token: &str, other: &str) -> Option<Check> {
    let (claims, other) = (claims(token)?, claims(other)?);
    let (ends, issued) = (claims["exp"].as_f64()?, other["iat"].as_f64()?);
    Some(claim("exp", &claims["exp"], Some(format!("{issued:.0}")), ends > issued))
}

/// The header of a token has each member once, and `crit` names extensions that are there (RFC 7515 §4, §4.1.11).
pub fn token_header(token: &str) -> Vec<Check> {
    let Some(header) = header(token) else { return Vec::new() };
    let mut checks = each_once(token, TokenPart::Header);
    if let Some(critical) = header.get("crit") {
        let names: Option<Vec<&str>> =
            critical.as_array().and_then(|names| names.iter().map(Value::as_str).collect());
        let names = names.unwrap_or_default();
        let is_extension = |name: &&str| !REGISTERED.contains(name) && header.get(*name).is_some();
        let is_twice = |(at, name): (usize, &&str)| names[..at].contains(name);
        let ok =
            !names.is_empty() && names.iter().all(is_extension) && !names.iter().enumerate().any(is_twice);
        checks.push(crit(critical, ok));
        // A recipient refuses a token with an extension that it does not know. Most libraries know b64 only.
        let known = names.iter().all(|name| *name == "b64");
        checks.extend((ok && !known).then(|| crit(critical, false).at(CaseLevel::Should)));
    }
    checks
}

/// The claims of a token have each member once (RFC 7519 §4), and the registered ones have their types (RFC 7519 §4.1).
pub fn token_claims(token: &str) -> Vec<Check> {
    let (Some(header), Some(claims)) = (header(token), claims(token)) else { return Vec::new() };
    let mut checks = each_once(token, TokenPart::Claims);
    // Another JWS may have other members.
    let level = if is_jwt(&header) { CaseLevel::Must } else { CaseLevel::Should };
    for name in ["iss", "sub", "aud", "jti"] {
        let Some(value) = claims.get(name) else { continue };
        let is_list = name == "aud" && value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
        let text = Value::String(value.to_string()).to_string();
        checks.push(claim(name, value, Some(text), value.is_string() || is_list).at(level));
    }
    checks
}

/// Two tokens with different claims have different ids (RFC 7519 §4.1.7). None: one has no id, or they are the same token.
pub fn distinct_tokens(first: &str, second: &str) -> Option<Check> {
    let (one, other) = (claims(first)?, claims(second)?);
    let (id, next) = (one["jti"].as_str()?, other["jti"].as_str()?);
    (one != other).then(|| claim("jti", &other["jti"], None, id != next))
}

/// A claim of a verdict's token has the value of the same member of the verdict. `body`: the verdict. Claims that the standard
/// registers may differ: times have several forms.
pub fn claims_agree(body: &[u8]) -> Vec<Check> {
    let verdict: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut checks = Vec::new();
    for claims in tokens(body).iter().filter_map(|token| claims(token)) {
        agree("", &verdict, &claims, &mut checks);
    }
    checks
}

fn agree(place: &str, verdict: &Value, claims: &Value, checks: &mut Vec<Check>) {
    let (Some(verdict), Some(claims)) = (verdict.as_object(), claims.as_object()) else { return };
    for (name, value) in verdict {
        let path = format!("{place}/{name}");
        let is_registered = place.is_empty() && REGISTERED_CLAIMS.contains(&name.as_str());
        let Some(claim) = claims.get(name).filter(|_| !is_registered) else { continue };
        let ok = match (value, claim) {
            (Value::Object(_), Value::Object(_)) => {
                agree(&path, value, claim, checks);
                continue;
            }
            (Value::Bool(_), Value::Bool(_)) | (Value::String(_), Value::String(_)) => value == claim,
            (Value::Number(_), Value::Number(_)) => {
                let difference = value.as_f64().unwrap_or_default() - claim.as_f64().unwrap_or_default();
                difference.abs() <= ROUNDING
            }
            // Another form of it.
            _ => continue,
        };
        let wire = |value: &Value| Some(Wire::from(value.to_string()));
        let (expected, actual) = (wire(value), wire(claim));
        let (token, change) = (Some(TokenPart::Claims), MemberChange::Other);
        let kind = DifferenceKind::Member { token, path, change, expected, actual };
        checks.push(Check::judged(kind, ok).at(CaseLevel::Should));
    }
}

/// The type in the header says that it is a JWT (RFC 7519 §5.1, RFC 8725 §3.11).
fn is_jwt(header: &Value) -> bool {
    let kind = header["typ"].as_str().unwrap_or_default().to_ascii_lowercase();
    let kind = kind.strip_prefix("application/").unwrap_or(&kind);
    kind == "jwt" || kind.ends_with("+jwt")
}

/// A part of a token has each member once. In a nested object it is advice (RFC 8259 §4).
fn each_once(token: &str, part: TokenPart) -> Vec<Check> {
    let number = match part {
        TokenPart::Header => 0,
        TokenPart::Claims => 1,
    };
    let bytes = token.split('.').nth(number).and_then(decode).unwrap_or_default();
    let check = |place: &String| {
        let kind = DifferenceKind::Member {
            token: Some(part),
            path: place.clone(),
            change: MemberChange::Doubled,
            expected: None,
            actual: None,
        };
        let is_inside = place.matches('/').count() > 1;
        Check::judged(kind, false).at(if is_inside { CaseLevel::Should } else { CaseLevel::Must })
    };
    doubled_names(&bytes).iter().map(check).collect()
}

fn claim(name: &str, value: &Value, expected: Option<String>, ok: bool) -> Check {
    let actual = Some(Wire::from(value.to_string()));
    let expected = if ok { actual.clone() } else { expected.map(Wire::from) };
    member(TokenPart::Claims, name, expected, actual, ok)
}

fn crit(value: &Value, ok: bool) -> Check {
    let actual = Some(Wire::from(value.to_string()));
    let expected = if ok { actual.clone() } else { None };
    member(TokenPart::Header, "crit", expected, actual, ok)
}

fn member(part: TokenPart, name: &str, expected: Option<Wire>, actual: Option<Wire>, ok: bool) -> Check {
    let (token, path, change) = (Some(part), format!("/{name}"), MemberChange::Other);
    Check::judged(DifferenceKind::Member { token, path, change, expected, actual }, ok)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(r#"{"sub":"1"}"#, &[])]
    #[case::seconds(r#"{"iat":1000000000,"nbf":1000000000,"exp":1000000120}"#, &[true, true, true])]
    #[case::fraction(r#"{"iat":1000000000.25}"#, &[true])]
    #[case::no_end(r#"{"iat":1000000000}"#, &[true])]
    #[case::other_clock(r#"{"iat":1000003600,"exp":1000003720}"#, &[true, true])]
    #[case::milliseconds(r#"{"iat":1000000000000,"exp":1000000120000}"#, &[false, false])]
    #[case::texts(r#"{"iat":"1000000000","exp":"2001-09-09T01:48:40Z"}"#, &[false, false])]
    #[case::expired(r#"{"exp":999900000}"#, &[false])]
    #[case::no_life(r#"{"iat":1000000000,"exp":1000000000}"#, &[true, false])]
    fn times_are_seconds(#[case] claims: &str, #[case] expected: &[bool]) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let token = format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        let seen: Vec<bool> = token_times(&token, now).iter().map(|check| check.ok).collect();
        assert_eq!(seen, expected);
    }

    fn token(header: &str, claims: &str) -> String {
        format!("{}.{}.c2ln", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims))
    }

    fn oks(checks: &[Check]) -> bool {
        checks.iter().all(|check| check.ok)
    }

    #[rstest]
    #[case::begun(r#"{"iat":1000,"nbf":1000}"#, Some(true))]
    #[case::rounded(r#"{"iat":1000,"nbf":1001}"#, Some(true))]
    #[case::later(r#"{"iat":1000,"nbf":1005}"#, Some(false))]
    #[case::other_clock(r#"{"iat":4600,"nbf":4600}"#, Some(true))]
    #[case::since_the_verdict(r#"{"iat":900,"nbf":999}"#, Some(true))]
    #[case::without_issue(r#"{"nbf":4600}"#, None)]
    fn token_that_has_not_begun_fails(#[case] claims: &str, #[case] expected: Option<bool>) {
        let sent = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        assert_eq!(token_begun(&token("{}", claims), sent).map(|check| check.ok), expected);
    }

    #[rstest]
    #[case::plain(r#"{"alg":"EdDSA","kid":"a"}"#, true)]
    #[case::doubled(r#"{"alg":"EdDSA","kid":"a","kid":"b"}"#, false)]
    #[case::no_names(r#"{"alg":"EdDSA","crit":[]}"#, false)]
    #[case::no_list(r#"{"alg":"EdDSA","crit":"b64","b64":true}"#, false)]
    #[case::registered(r#"{"alg":"EdDSA","kid":"a","crit":["kid"]}"#, false)]
    #[case::absent(r#"{"alg":"EdDSA","crit":["b64"]}"#, false)]
    #[case::twice(r#"{"alg":"EdDSA","b64":true,"crit":["b64","b64"]}"#, false)]
    #[case::extension(r#"{"alg":"EdDSA","b64":true,"crit":["b64"]}"#, true)]
    fn header_has_members_once_and_crit_names_extensions(#[case] header: &str, #[case] ok: bool) {
        assert_eq!(oks(&token_header(&token(header, "{}"))), ok);
    }

    #[test]
    fn unknown_critical_extension_is_a_should() {
        let checks = token_header(&token(r#"{"alg":"EdDSA","x":1,"crit":["x"]}"#, "{}"));
        let failed: Vec<CaseLevel> =
            checks.iter().filter(|check| !check.ok).map(|check| check.level).collect();
        assert_eq!(failed, [CaseLevel::Should]);
    }

    #[rstest]
    #[case::texts(r#"{"iss":"a","sub":"007","aud":"b","jti":"c"}"#, true)]
    #[case::list(r#"{"aud":["a","b"]}"#, true)]
    #[case::number(r#"{"sub":7}"#, false)]
    #[case::list_of_numbers(r#"{"aud":["a",1]}"#, false)]
    #[case::list_for_a_text(r#"{"sub":["a"]}"#, false)]
    #[case::null(r#"{"jti":null}"#, false)]
    #[case::doubled(r#"{"sub":"a","sub":"a"}"#, false)]
    #[case::others(r#"{"ref":7}"#, true)]
    fn registered_claims_have_their_types(#[case] claims: &str, #[case] ok: bool) {
        assert_eq!(oks(&token_claims(&token(r#"{"alg":"EdDSA","typ":"JWT"}"#, claims))), ok);
    }

    #[rstest]
    #[case::same(r#"{"decision":"deny","score":0.5}"#, &[true, true])]
    #[case::rounded(r#"{"score":0.504}"#, &[true])]
    #[case::other_decision(r#"{"decision":"allow"}"#, &[false])]
    #[case::other_number(r#"{"score":1}"#, &[false])]
    #[case::inside(r#"{"device":{"kind":"phone"}}"#, &[false])]
    #[case::another_form(r#"{"decision":{"allow":false},"ref":7}"#, &[])]
    #[case::registered(r#"{"exp":1}"#, &[])]
    #[case::others(r#"{"aud":"a"}"#, &[])]
    fn claims_that_the_verdict_has_too_are_the_same(#[case] claims: &str, #[case] expected: &[bool]) {
        let token = token(r#"{"alg":"EdDSA"}"#, claims);
        let body = format!(
            r#"{{"decision":"deny","score":0.5,"ref":"r","exp":2,"device":{{"kind":"desk"}},"token":"{token}"}}"#
        );
        let seen: Vec<bool> = claims_agree(body.as_bytes()).iter().map(|check| check.ok).collect();
        assert_eq!(seen, expected);
    }

    #[rstest]
    #[case::other_ids(r#"{"sub":"a","jti":"1"}"#, r#"{"sub":"b","jti":"2"}"#, Some(true))]
    #[case::same_id(r#"{"sub":"a","jti":"1"}"#, r#"{"sub":"b","jti":"1"}"#, Some(false))]
    #[case::same_token(r#"{"sub":"a","jti":"1"}"#, r#"{"sub":"a","jti":"1"}"#, None)]
    #[case::no_id(r#"{"sub":"a"}"#, r#"{"sub":"b","jti":"1"}"#, None)]
    fn different_tokens_have_different_ids(
        #[case] first: &str,
        #[case] second: &str,
        #[case] expected: Option<bool>,
    ) {
        let check = distinct_tokens(&token("{}", first), &token("{}", second));
        assert_eq!(check.map(|check| check.ok), expected);
    }
}
