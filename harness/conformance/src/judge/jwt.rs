//! Times in the claims of a token (RFC 7519 §4.1).

use std::time::{Duration, SystemTime};

use edgeproof_reports::difference::{DifferenceKind, MemberChange, Wire};

use super::check::Check;
use super::jws::claims;

/// Difference of two clocks that no test machine exceeds.
const SKEW: Duration = Duration::from_secs(24 * 3600);
/// A later end is no number of seconds.
const LONGEST: Duration = Duration::from_secs(20 * 365 * 24 * 3600);

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
        let (path, change) = (format!("the claim {name}"), MemberChange::Other);
        Some(Check::judged(DifferenceKind::Member { path, change, expected, actual }, ok))
    };
    ["iat", "nbf", "exp"].into_iter().filter_map(check).collect()
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
}
