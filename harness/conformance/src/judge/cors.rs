//! The Fetch algorithm as a browser applies it, without credentials: no hop of the interface sends the page's cookies.

use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, GrantForm, HeaderRule, Statuses, Wire};

use super::answer::status_in;
use super::author::author;
use super::check::{AnswerResult, Check};
use super::values::{header, silence, values};
use edgeproof_http::Answer;
use url::{Origin, Url};

/// A page of `origin` can read the answer (Fetch: CORS check).
pub fn readable(origin: &str, reply: &AnswerResult) -> Check {
    match reply {
        Ok(answer) => {
            let value = values(answer, GRANT);
            let advice = grant_advice(answer, value.as_deref());
            let ok = grants(value.as_deref(), origin);
            Check::judged(grant(origin, true, value), ok).advise(advice)
        }
        Err(why) => Check::unanswered(why, grant(origin, true, None)),
    }
}

/// A page of `origin` cannot read the answer. No page has an origin that browsers serialise otherwise: a grant to it is open, but
/// neither a wildcard nor `null`.
pub fn no_grant(origin: &str, reply: &AnswerResult) -> Check {
    match reply {
        Ok(answer) => {
            let value = values(answer, GRANT);
            let ok = if is_serialised(origin) {
                !grants(value.as_deref(), origin)
            } else {
                !matches!(value.as_deref(), Some("*" | "null"))
            };
            Check::judged(grant(origin, false, value), ok).advise(Advice::GrantForeign)
        }
        // Without an answer there is no grant.
        Err(why) => Check { ok: true, ..Check::unanswered(why, grant(origin, false, None)) },
    }
}

/// A preflight for `POST` with the header `content-type` passes (Fetch: CORS-preflight fetch).
pub fn preflight_passes(origin: &str, reply: &AnswerResult) -> Vec<Check> {
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => {
            return vec![Check::judged(
                DifferenceKind::NoAnswer { silence: silence(why), wanted: None },
                false,
            )];
        }
    };
    let status = status_in(Statuses::Success, reply).advise(Advice::PreflightStatus);
    vec![status, readable(origin, reply), allows_method(answer), allows_content_type(answer)]
}

/// `Vary` names `Origin`, needed only when `Access-Control-Allow-Origin` depends on the request.
pub fn vary(allowed: &AnswerResult, other: &AnswerResult) -> Check {
    let kind = |allowed, other, actual| DifferenceKind::Header {
        name: "vary".into(),
        rule: HeaderRule::VaryOrigin { allowed, other },
        actual,
    };
    let (allowed, other) = match (allowed, other) {
        (Ok(allowed), Ok(other)) => (allowed, other),
        (Err(why), _) | (_, Err(why)) => {
            return Check::unanswered(why, kind(None, None, None)).at(CaseLevel::Should);
        }
    };
    let vary = values(allowed, "vary");
    let ok = vary.as_deref().is_some_and(|vary| lists(vary, "origin") || lists(vary, "*"));
    let (allowed, other) = (header(allowed, GRANT), header(other, GRANT));
    let same = allowed == other;
    let check = Check::judged(kind(allowed, other, vary.map(Wire::from)), same || ok).at(CaseLevel::Should);
    if same {
        return check;
    }
    check.advise(Advice::VaryMissing)
}

const GRANT: &str = "access-control-allow-origin";

fn grant(origin: &str, expected: bool, value: Option<String>) -> DifferenceKind {
    let form = match value.as_deref() {
        None => GrantForm::Absent,
        Some("*") => GrantForm::Any,
        Some(value) if value == origin => GrantForm::Origin,
        Some("null") => GrantForm::Null,
        Some(value) if value.contains([',', ' ']) => GrantForm::List,
        Some(_) => GrantForm::Other,
    };
    DifferenceKind::Grant { origin: origin.into(), expected, form, actual: value.map(Wire::from) }
}

/// Advice for an answer that the page cannot read.
fn grant_advice(answer: &Answer, grant: Option<&str>) -> Advice {
    let times = answer.headers.get_all(GRANT).iter().count();
    match grant {
        None if answer.status >= 400 => Advice::GrantMissingOnError {
            status: u64::from(answer.status),
            framework: author(answer).map(str::to_owned),
        },
        None => Advice::GrantMissing,
        Some(_) if times > 1 => Advice::GrantRepeated { times: times as u64 },
        Some(grant) if grant.contains(',') || grant.trim().contains(' ') => Advice::GrantList,
        Some(_) => Advice::GrantOther,
    }
}

/// Whether a browser can send this origin: it is serialised as HTML says. An extension has a scheme of its own.
fn is_serialised(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else { return origin == "null" };
    match url.origin() {
        Origin::Opaque(_) => url.has_host() && url.path().is_empty() && url.as_str() == origin,
        tuple @ Origin::Tuple(..) => tuple.ascii_serialization() == origin,
    }
}

fn grants(grant: Option<&str>, origin: &str) -> bool {
    grant.is_some_and(|grant| grant == "*" || grant == origin)
}

/// `POST` is a safelisted method, so a preflight answer without a list of methods passes.
fn allows_method(answer: &Answer) -> Check {
    let methods = values(answer, "access-control-allow-methods");
    let well_formed =
        methods.as_deref().is_none_or(|methods| methods.split(',').all(|method| is_token(method.trim())));
    let kind = DifferenceKind::Header {
        name: "access-control-allow-methods".into(),
        rule: HeaderRule::Methods,
        actual: methods.map(Wire::from),
    };
    Check::judged(kind, well_formed)
}

fn allows_content_type(answer: &Answer) -> Check {
    let headers = values(answer, "access-control-allow-headers");
    let ok = headers.as_deref().is_some_and(|headers| lists(headers, "content-type") || lists(headers, "*"));
    let kind = DifferenceKind::Header {
        name: "access-control-allow-headers".into(),
        rule: HeaderRule::ListsContentType,
        actual: headers.map(Wire::from),
    };
    Check::judged(kind, ok).advise(Advice::PreflightContentType)
}

fn lists(header: &str, word: &str) -> bool {
    header.split(',').any(|item| item.trim().eq_ignore_ascii_case(word))
}

fn is_token(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderName, HeaderValue, Version};
    use rstest::rstest;

    use super::*;

    const PAGE: &str = "https://page.example";

    #[expect(clippy::unnecessary_wraps, reason = "the checks take an AnswerResult")]
    fn reply(status: u16, headers: &[(&'static str, &'static str)]) -> AnswerResult {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        Ok(Answer { status, version: Version::HTTP_11, headers, body: Bytes::new(), complete: true })
    }

    #[rstest]
    #[case::exact(&[("access-control-allow-origin", PAGE)], true)]
    #[case::any(&[("access-control-allow-origin", "*")], true)]
    #[case::none(&[], false)]
    #[case::slash(&[("access-control-allow-origin", "https://page.example/")], false)]
    #[case::capitals(&[("access-control-allow-origin", "https://Page.example")], false)]
    #[case::list(&[("access-control-allow-origin", "https://page.example, https://other.example")], false)]
    fn page_reads_only_answers_with_its_grant(
        #[case] headers: &[(&'static str, &'static str)],
        #[case] expected: bool,
    ) {
        assert_eq!(readable(PAGE, &reply(200, headers)).ok, expected);
        assert_eq!(no_grant(PAGE, &reply(200, headers)).ok, !expected);
    }

    #[rstest]
    #[case::slash("https://page.example/", false)]
    #[case::capitals("HTTPS://PAGE.EXAMPLE", false)]
    #[case::default_port("https://page.example:443", false)]
    #[case::two("https://page.example https://other.example", false)]
    #[case::two_fields("https://page.example, https://other.example", false)]
    #[case::file("file:///C:/page.html", false)]
    #[case::no_origin("page.example", false)]
    #[case::foreign("https://other.example", true)]
    #[case::port("https://page.example:8443", true)]
    #[case::default_port_of_http("https://page.example:80", true)]
    #[case::extension("chrome-extension://abcdef", true)]
    #[case::opaque("null", true)]
    fn only_an_origin_that_a_browser_sends_is_foreign(
        #[case] origin: &'static str,
        #[case] is_foreign: bool,
    ) {
        assert_eq!(no_grant(origin, &reply(200, &[("access-control-allow-origin", origin)])).ok, !is_foreign);
        assert!(!no_grant(origin, &reply(200, &[("access-control-allow-origin", "*")])).ok);
        let null = no_grant(origin, &reply(200, &[("access-control-allow-origin", "null")]));
        assert_eq!(null.ok, is_foreign && origin != "null");
    }

    #[rstest]
    #[case::none(&[], Advice::GrantMissing)]
    #[case::twice(&[PAGE, PAGE], Advice::GrantRepeated { times: 2 })]
    #[case::three_times(&[PAGE, PAGE, PAGE], Advice::GrantRepeated { times: 3 })]
    #[case::list(&["https://page.example, https://other.example"], Advice::GrantList)]
    #[case::words(&["https://page.example https://other.example"], Advice::GrantList)]
    #[case::other(&["https://Page.example"], Advice::GrantOther)]
    fn advice_names_the_fault_of_the_grant(#[case] grants: &[&'static str], #[case] advice: Advice) {
        let headers: Vec<_> = grants.iter().map(|grant| ("access-control-allow-origin", *grant)).collect();
        let check = readable(PAGE, &reply(200, &headers));
        assert!(!check.ok);
        assert_eq!(check.advice, [advice]);
    }

    #[rstest]
    #[case::refusal(401, &[], None)]
    #[case::framework(404, &[("x-powered-by", "Express")], Some("Express"))]
    #[case::nginx(502, &[("server", "nginx")], Some("nginx"))]
    fn grant_on_success_only_is_explained(
        #[case] status: u16,
        #[case] headers: &[(&'static str, &'static str)],
        #[case] framework: Option<&str>,
    ) {
        let check = readable(PAGE, &reply(status, headers));
        let framework = framework.map(str::to_owned);
        assert_eq!(check.advice, [Advice::GrantMissingOnError { status: u64::from(status), framework }]);
    }

    #[rstest]
    #[case::full(204, &[("access-control-allow-origin", PAGE), ("access-control-allow-methods", "POST, OPTIONS"), ("access-control-allow-headers", "Content-Type")], true)]
    #[case::any_header(200, &[("access-control-allow-origin", PAGE), ("access-control-allow-headers", "*")], true)]
    #[case::no_content_type(204, &[("access-control-allow-origin", PAGE)], false)]
    #[case::redirect(302, &[("access-control-allow-origin", PAGE), ("access-control-allow-headers", "content-type")], false)]
    #[case::broken_methods(204, &[("access-control-allow-origin", PAGE), ("access-control-allow-headers", "content-type"), ("access-control-allow-methods", "POST OPTIONS")], false)]
    fn preflight_needs_status_grant_and_content_type(
        #[case] status: u16,
        #[case] headers: &[(&'static str, &'static str)],
        #[case] expected: bool,
    ) {
        let checks = preflight_passes(PAGE, &reply(status, headers));
        assert_eq!(checks.iter().all(|check| check.ok), expected, "{checks:#?}");
    }

    #[rstest]
    #[case::constant(&[("access-control-allow-origin", PAGE)], &[("access-control-allow-origin", PAGE)], true)]
    #[case::varies(&[("access-control-allow-origin", PAGE)], &[], false)]
    #[case::says_so(&[("access-control-allow-origin", PAGE), ("vary", "Accept, origin")], &[], true)]
    fn vary_is_needed_only_for_differing_grants(
        #[case] allowed: &[(&'static str, &'static str)],
        #[case] other: &[(&'static str, &'static str)],
        #[case] expected: bool,
    ) {
        assert_eq!(vary(&reply(200, allowed), &reply(200, other)).ok, expected);
    }
}
