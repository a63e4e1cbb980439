//! Times in the claims of a token (RFC 7519 §4.1).

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_reports::difference::{DifferenceKind, MemberChange, Wire};
use serde_json::Value;

use super::check::Check;

/// Difference of two clocks that no test machine exceeds.
const SKEW: Duration = Duration::from_secs(24 * 3600);
/// A later end is no number of seconds.
const LONGEST: Duration = Duration::from_secs(20 * 365 * 24 * 3600);

/// Each time in the claims of this token is a number of seconds that makes sense now. Empty: it has none.
pub fn token_times(token: &str, now: SystemTime) -> Vec<Check> {
    let Some(claims) = claims(token) else { return Vec::new() };
    let seconds =
        |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let (past, future) = (seconds(now) - SKEW.as_secs_f64(), seconds(now) + SKEW.as_secs_f64());
    let number = |name: &str| claims.get(name).and_then(Value::as_f64);
    let issued = number("iat").unwrap_or(f64::MIN);
    let end = seconds(now) + LONGEST.as_secs_f64();
    let rules: [(&str, &dyn Fn(f64) -> bool); 3] = [
        ("iat", &|time| time < future),
        ("nbf", &|time| time < future),
        ("exp", &|time| time > past && time > issued && time < end),
    ];
    let check = |(name, makes_sense): (&str, &dyn Fn(f64) -> bool)| {
        let value = claims.get(name)?;
        let ok = number(name).is_some_and(makes_sense);
        let actual = Some(Wire::from(value.to_string()));
        let expected = if ok { actual.clone() } else { Some(Wire::from(format!("{:.0}", seconds(now)))) };
        let (path, change) = (format!("the claim {name}"), MemberChange::Other);
        Some(Check::judged(DifferenceKind::Member { path, change, expected, actual }, ok))
    };
    rules.into_iter().filter_map(check).collect()
}

fn claims(token: &str) -> Option<Value> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&claims).ok()
}

#[cfg(test)]
mod tests {
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
}
