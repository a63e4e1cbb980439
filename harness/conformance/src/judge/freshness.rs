use std::time::{Duration, SystemTime};

use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{CacheRule, DifferenceKind, Lifetime};

use super::check::{AnswerResult, Check};
use super::values::values;
use edgeproof_http::Answer;

/// The answer, received at this time, permits caching for at most `longest` (RFC 9111 §4.2.1). No lifetime and `no-store` pass.
pub fn fresh_for(longest: Duration, reply: &AnswerResult, received: SystemTime) -> Check {
    let kind = |actual| cache(CacheRule::Lifetime, Some(longest), actual);
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::unanswered(why, kind(Vec::new())),
    };
    let lifetimes = lifetimes(answer, received);
    let ok =
        lifetimes.iter().all(|lifetime| lifetime.seconds.is_some_and(|seconds| seconds <= longest.as_secs()));
    let lifetimes = lifetimes.into_iter().map(|lifetime| lifetime.value).collect();
    Check::judged(kind(lifetimes), ok).advise(Advice::KeySetLifetime { longest: longest.as_secs() })
}

/// The answer sets a cache lifetime that is at most this long, stale use included (RFC 9111 §4.2.2, RFC 5861). Without a
/// lifetime each cache chooses its own.
pub fn cache_time_bounded(longest: Duration, reply: &AnswerResult, received: SystemTime) -> Check {
    let kind = |actual| cache(CacheRule::StaleIncluded, Some(longest), actual);
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::unanswered(why, kind(Vec::new())).at(CaseLevel::Should),
    };
    let control = values(answer, "cache-control").unwrap_or_default();
    let directives = directives(&control);
    let forbids = has(&directives, &["no-store", "no-cache"]);
    let stale = |name: &str| matches!(name, "stale-while-revalidate" | "stale-if-error");
    let stale = directives
        .iter()
        .filter(|(name, _)| stale(name))
        .map(|(_, value)| seconds(value).unwrap_or(u64::MAX));
    let fresh = lifetimes(answer, received).into_iter().filter_map(|lifetime| lifetime.seconds).max();
    let kept = fresh.unwrap_or_default().saturating_add(stale.max().unwrap_or_default());
    let ok = forbids || (fresh.is_some() && kept <= longest.as_secs());
    let actual = match (fresh, control.is_empty()) {
        (None, true) => Vec::new(),
        (_, true) => vec![Lifetime::Expires(None)],
        (_, false) => vec![Lifetime::Directives(control.into())],
    };
    Check::judged(kind(actual), ok)
        .at(CaseLevel::Should)
        .advise(Advice::KeySetStale { longest: longest.as_secs() })
}

/// The answer forbids every cache to store it (RFC 9111 §5.2.2.5).
pub fn is_never_stored(reply: &AnswerResult) -> bool {
    let control = reply.as_ref().ok().and_then(|answer| values(answer, "cache-control")).unwrap_or_default();
    has(&directives(&control), &["no-store"])
}

/// The answer does not permit shared caches to store it, because the request has a credential (RFC 9111 §3.5).
pub fn not_shared(reply: &AnswerResult) -> Check {
    let kind = |actual| cache(CacheRule::NotShared, None, actual);
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::unanswered(why, kind(Vec::new())),
    };
    let control = values(answer, "cache-control").unwrap_or_default();
    let directives = directives(&control);
    // no-store and private also forbid shared caches.
    let permits = |name: &str| directives.iter().any(|(directive, _)| directive == name);
    let ok = has(&directives, &["no-store", "private"])
        || !["public", "s-maxage", "must-revalidate"].into_iter().any(permits);
    let actual = if control.is_empty() { Vec::new() } else { vec![Lifetime::Directives(control.into())] };
    Check::judged(kind(actual), ok).advise(Advice::VerdictStored)
}

/// The answer to a request without a credential does not permit shared caches to store it (RFC 9111 §3). Its status, 401,
/// is not stored without a lifetime.
pub fn not_stored(reply: &AnswerResult, received: SystemTime) -> Check {
    let shared = not_shared(reply);
    let Ok(answer) = reply else { return shared };
    let control = values(answer, "cache-control").unwrap_or_default();
    let directives = directives(&control);
    let forbids = has(&directives, &["no-store", "private", "no-cache"]);
    match lifetimes(answer, received).into_iter().find(|lifetime| lifetime.seconds != Some(0)) {
        Some(lifetime) if shared.ok && !forbids => {
            let kind = cache(CacheRule::NotShared, None, vec![lifetime.value]);
            Check::judged(kind, false).advise(Advice::VerdictStored)
        }
        _ => shared,
    }
}

fn cache(rule: CacheRule, longest: Option<Duration>, actual: Vec<Lifetime>) -> DifferenceKind {
    DifferenceKind::Cache { rule, longest_s: longest.map(|longest| longest.as_secs()), actual }
}

/// A cache lifetime in an answer's header.
struct CacheLifetime {
    /// The lifetime as in the header.
    value: Lifetime,
    /// None: not a number.
    seconds: Option<u64>,
}

fn lifetimes(answer: &Answer, received: SystemTime) -> Vec<CacheLifetime> {
    let directives = directives(&values(answer, "cache-control").unwrap_or_default());
    if has(&directives, &["no-store", "no-cache"]) {
        return Vec::new();
    }
    let mut lifetimes: Vec<CacheLifetime> = directives
        .into_iter()
        .filter(|(name, _)| matches!(name.as_str(), "max-age" | "s-maxage"))
        .map(|(name, value)| CacheLifetime {
            seconds: seconds(&value),
            value: Lifetime::Directives(format!("{name}={value}").into()),
        })
        .collect();
    // Expires applies only without a lifetime in Cache-Control (RFC 9111 §5.3).
    if lifetimes.is_empty()
        && let Some(expires) = values(answer, "expires")
    {
        lifetimes.push(expiry(answer, &expires, received));
    }
    lifetimes
}

fn expiry(answer: &Answer, expires: &str, received: SystemTime) -> CacheLifetime {
    let date = values(answer, "date").and_then(|date| httpdate::parse_http_date(&date).ok());
    // Without a date, the answer is as old as its receipt (RFC 9110 §6.6.1).
    let from = date.unwrap_or(received);
    // An invalid date means expired (RFC 9111 §5.3).
    let till = httpdate::parse_http_date(expires).unwrap_or(from);
    let seconds = till.duration_since(from).map_or(0, |time| time.as_secs());
    CacheLifetime { value: Lifetime::Expires(Some(seconds)), seconds: Some(seconds) }
}

/// One of these directives is present. With names of fields, `no-cache` and `private` are about those fields only
/// (RFC 9111 §5.2.2.4, §5.2.2.7).
fn has(directives: &[(String, String)], names: &[&str]) -> bool {
    let is_qualified = |name: &str, value: &str| matches!(name, "no-cache" | "private") && !value.is_empty();
    directives.iter().any(|(name, value)| names.contains(&name.as_str()) && !is_qualified(name, value))
}

/// The directives: names in lower case, values without quotes. A comma in quotes is part of a value.
fn directives(control: &str) -> Vec<(String, String)> {
    let named = |directive: &str| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"').to_owned())
    };
    let mut in_quotes = false;
    let parts = control.split(|letter: char| {
        in_quotes ^= letter == '"';
        letter == ',' && !in_quotes
    });
    parts.map(named).filter(|(name, _)| !name.is_empty()).collect()
}

/// A number of seconds. A number that does not fit is the maximum.
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

    #[expect(clippy::unnecessary_wraps, reason = "the checks take an AnswerResult")]
    fn reply(headers: &[(&'static str, &str)]) -> AnswerResult {
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

    fn received() -> SystemTime {
        httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap()
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
    #[case::revalidated(&[("cache-control", "no-cache, max-age=3600")], true)]
    #[case::one_field_revalidated(&[("cache-control", "no-cache=\"set-cookie\", max-age=3600")], false)]
    #[case::two_fields_revalidated(&[("cache-control", "no-cache=\"a, no-store\", max-age=3600")], false)]
    #[case::expires(&[DATE, ("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], false)]
    #[case::expires_soon(&[DATE, ("expires", "Sun, 06 Nov 1994 08:50:37 GMT")], true)]
    #[case::expired(&[("expires", "0")], true)]
    #[case::expires_after_receipt(&[("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], false)]
    #[case::expires_soon_after_receipt(&[("expires", "Sun, 06 Nov 1994 08:50:37 GMT")], true)]
    #[case::expires_not_counted(&[DATE, ("cache-control", "max-age=300"), ("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], true)]
    fn lifetime_over_the_limit_fails(#[case] headers: &[(&'static str, &str)], #[case] ok: bool) {
        assert_eq!(fresh_for(Duration::from_secs(300), &reply(headers), received()).ok, ok);
    }

    #[rstest]
    #[case::nothing(&[], false)]
    #[case::just_so(&[("cache-control", "max-age=300")], true)]
    #[case::not_stored(&[("cache-control", "no-store")], true)]
    #[case::who_may(&[("cache-control", "public")], false)]
    #[case::stale_for_a_day(&[("cache-control", "max-age=300, stale-while-revalidate=86400")], false)]
    #[case::stale_for_a_minute(&[("cache-control", "max-age=240, stale-if-error=60")], true)]
    #[case::expires_soon(&[DATE, ("expires", "Sun, 06 Nov 1994 08:50:37 GMT")], true)]
    fn missing_or_long_lifetime_fails(#[case] headers: &[(&'static str, &str)], #[case] ok: bool) {
        assert_eq!(cache_time_bounded(Duration::from_secs(300), &reply(headers), received()).ok, ok);
    }

    #[rstest]
    #[case::nothing("", true)]
    #[case::private("private, max-age=10", true)]
    #[case::public("public, max-age=10", false)]
    #[case::one_field_private("private=\"set-cookie\", public", false)]
    #[case::in_quotes("private=\"a, public\"", true)]
    #[case::for_proxies("s-maxage=10", false)]
    fn shared_caching_fails(#[case] control: &str, #[case] ok: bool) {
        let reply = if control.is_empty() { reply(&[]) } else { reply(&[("cache-control", control)]) };
        assert_eq!(not_shared(&reply).ok, ok);
    }
}
