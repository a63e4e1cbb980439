use std::time::{Duration, SystemTime};

use edgeproof_reports::CaseLevel as Level;

use super::Check;
use super::answer::values;
use edgeproof_http::{Answer, NoAnswer};

type Reply = Result<Answer, NoAnswer>;

/// The answer lets nobody keep it longer than this (RFC 9111 §4.2.1). What says nothing, or forbids keeping it, is right.
pub fn fresh_for(longest: Duration, reply: &Reply) -> Check {
    let expected = format!("at most {} seconds", longest.as_secs());
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::new("answer", expected, why.to_string(), false),
    };
    let lifetimes = lifetimes(answer);
    let ok =
        lifetimes.iter().all(|lifetime| lifetime.seconds.is_some_and(|seconds| seconds <= longest.as_secs()));
    let told: Vec<&str> = lifetimes.iter().map(|lifetime| lifetime.told.as_str()).collect();
    let actual = if told.is_empty() { "nothing that lets it be kept".to_owned() } else { told.join(", ") };
    Check::new("cache lifetime", expected, actual, ok).hint(
        "whoever keeps the key set longer does not see a rotation: `Cache-Control: max-age=300` at most",
    )
}

/// The answer says how long it may be kept, and does not offer itself stale beyond this (RFC 9111 §4.2.2, RFC 5861): without a
/// word every cache decides for itself.
pub fn bounded(longest: Duration, reply: &Reply) -> Check {
    let expected =
        format!("a word on how long it is kept, stale or not: at most {} seconds", longest.as_secs());
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::new("answer", expected, why.to_string(), false).at(Level::Should),
    };
    let control = values(answer, "cache-control").unwrap_or_default();
    let directives = directives(&control);
    let forbids = directives.iter().any(|(name, _)| matches!(name.as_str(), "no-store" | "no-cache"));
    let stale = |name: &str| matches!(name, "stale-while-revalidate" | "stale-if-error");
    let stale = directives
        .iter()
        .filter(|(name, _)| stale(name))
        .map(|(_, value)| seconds(value).unwrap_or(u64::MAX));
    let fresh = lifetimes(answer).into_iter().filter_map(|lifetime| lifetime.seconds).max();
    let kept = fresh.unwrap_or_default().saturating_add(stale.max().unwrap_or_default());
    let ok = forbids || (fresh.is_some() && kept <= longest.as_secs());
    let actual = match (fresh, control.is_empty()) {
        (None, true) => "nothing".to_owned(),
        (_, true) => "Expires".to_owned(),
        (_, false) => control,
    };
    Check::new("time in caches", expected, actual, ok).at(Level::Should).hint(
        "answer with `Cache-Control: max-age=300` at most, and nothing that lets stale keys be used longer",
    )
}

/// The answer does not ask shared caches to keep it, although the request carried a credential (RFC 9111 §3.5).
pub fn not_shared(reply: &Reply) -> Check {
    let expected = "neither public nor s-maxage nor must-revalidate";
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::new("answer", expected, why.to_string(), false),
    };
    let control = values(answer, "cache-control").unwrap_or_default();
    let directives = directives(&control);
    let has = |name: &str| directives.iter().any(|(directive, _)| directive == name);
    // Whoever forbids storing has forbidden it for everybody.
    let ok =
        has("no-store") || has("private") || !["public", "s-maxage", "must-revalidate"].into_iter().any(has);
    let actual = if control.is_empty() { "no Cache-Control".to_owned() } else { control };
    Check::new("Cache-Control", expected, actual, ok)
        .hint("a proxy that keeps it may give it to somebody without a token: answer with `Cache-Control: no-store`")
}

/// One of the ways in which an answer says how long it may be kept.
struct Lifetime {
    told: String,
    /// None: it is not a number.
    seconds: Option<u64>,
}

fn lifetimes(answer: &Answer) -> Vec<Lifetime> {
    let directives = directives(&values(answer, "cache-control").unwrap_or_default());
    if directives.iter().any(|(name, _)| matches!(name.as_str(), "no-store" | "no-cache")) {
        return Vec::new();
    }
    let mut lifetimes: Vec<Lifetime> = directives
        .into_iter()
        .filter(|(name, _)| matches!(name.as_str(), "max-age" | "s-maxage"))
        .map(|(name, value)| Lifetime { seconds: seconds(&value), told: format!("{name}={value}") })
        .collect();
    // Expires counts only where Cache-Control says no number (RFC 9111 §5.3).
    if lifetimes.is_empty()
        && let Some(expires) = values(answer, "expires")
    {
        lifetimes.push(expiry(answer, &expires));
    }
    lifetimes
}

fn expiry(answer: &Answer, expires: &str) -> Lifetime {
    let date = values(answer, "date").and_then(|date| httpdate::parse_http_date(&date).ok());
    let from = date.unwrap_or_else(SystemTime::now);
    // What is no date has expired already (RFC 9111 §5.3).
    let till = httpdate::parse_http_date(expires).unwrap_or(from);
    let seconds = till.duration_since(from).map_or(0, |time| time.as_secs());
    Lifetime { told: format!("Expires in {seconds} seconds"), seconds: Some(seconds) }
}

/// Names in lower case, with their values out of quotes.
fn directives(control: &str) -> Vec<(String, String)> {
    let named = |directive: &str| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"').to_owned())
    };
    control.split(',').map(named).filter(|(name, _)| !name.is_empty()).collect()
}

/// More than fits is for ever.
fn seconds(value: &str) -> Option<u64> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| value.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderName, Version};
    use rstest::rstest;

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "what is judged may also be none")]
    fn reply(headers: &[(&'static str, &str)]) -> Reply {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        Ok(Answer {
            status: 200,
            version: Version::HTTP_11,
            headers: map,
            body: Bytes::new(),
            complete: true,
        })
    }

    const DATE: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");

    #[rstest]
    #[case::nothing(&[], true)]
    #[case::just_so(&[("cache-control", "public, max-age=300")], true)]
    #[case::longer(&[("cache-control", "max-age=301")], false)]
    #[case::quoted(&[("cache-control", "max-age=\"86400\"")], false)]
    #[case::capitals(&[("cache-control", "Max-Age=3600")], false)]
    #[case::for_proxies(&[("cache-control", "max-age=60, s-maxage=3600")], false)]
    #[case::two_fields(&[("cache-control", "public"), ("cache-control", "max-age=3600")], false)]
    #[case::not_stored(&[("cache-control", "no-store, max-age=3600")], true)]
    #[case::endless(&[("cache-control", "max-age=99999999999999999999")], false)]
    #[case::no_number(&[("cache-control", "max-age=soon")], false)]
    #[case::expires(&[DATE, ("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], false)]
    #[case::expires_soon(&[DATE, ("expires", "Sun, 06 Nov 1994 08:50:37 GMT")], true)]
    #[case::expired(&[("expires", "0")], true)]
    #[case::expires_not_counted(&[DATE, ("cache-control", "max-age=300"), ("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], true)]
    fn judges_lifetimes(#[case] headers: &[(&'static str, &str)], #[case] ok: bool) {
        assert_eq!(fresh_for(Duration::from_secs(300), &reply(headers)).ok, ok);
    }

    #[rstest]
    #[case::nothing(&[], false)]
    #[case::just_so(&[("cache-control", "max-age=300")], true)]
    #[case::not_stored(&[("cache-control", "no-store")], true)]
    #[case::who_may(&[("cache-control", "public")], false)]
    #[case::stale_for_a_day(&[("cache-control", "max-age=300, stale-while-revalidate=86400")], false)]
    #[case::stale_for_a_minute(&[("cache-control", "max-age=240, stale-if-error=60")], true)]
    #[case::expires_soon(&[DATE, ("expires", "Sun, 06 Nov 1994 08:50:37 GMT")], true)]
    fn judges_bounds(#[case] headers: &[(&'static str, &str)], #[case] ok: bool) {
        assert_eq!(bounded(Duration::from_secs(300), &reply(headers)).ok, ok);
    }

    #[rstest]
    #[case::nothing("", true)]
    #[case::private("private, max-age=10", true)]
    #[case::public("public, max-age=10", false)]
    #[case::for_proxies("s-maxage=10", false)]
    fn judges_sharing(#[case] control: &str, #[case] ok: bool) {
        let reply = if control.is_empty() { reply(&[]) } else { reply(&[("cache-control", control)]) };
        assert_eq!(not_shared(&reply).ok, ok);
    }
}
