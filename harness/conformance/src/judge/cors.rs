//! The Fetch algorithm as a browser applies it, without credentials: no hop of the interface sends the page's cookies.

use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, GrantForm, HeaderRule, Statuses, Wire};

use super::answer::status_in;
use super::author::author;
use super::check::{AnswerResult, Check};
use super::values::{header, silence, values};
use edgeproof_http::Answer;

/// A page of `origin` can read the answer (Fetch: CORS check).
pub fn readable(origin: &str, reply: &AnswerResult) -> Check {
    match reply {
        Ok(answer) => {
            let value = values(answer, GRANT);
            let hint = grant_hint(answer, value.as_deref());
            let ok = grants(value.as_deref(), origin);
            Check::judged(grant(origin, true, value), ok).hint(&hint)
        }
        Err(why) => Check::unanswered(why, grant(origin, true, None)),
    }
}

/// A page of `origin` cannot read the answer.
pub fn no_grant(origin: &str, reply: &AnswerResult) -> Check {
    match reply {
        Ok(answer) => {
            let value = values(answer, GRANT);
            let ok = !grants(value.as_deref(), origin);
            Check::judged(grant(origin, false, value), ok)
                .hint("compare Origin with ALLOWED_ORIGIN as whole strings; do not answer with `*` or with the request's own Origin")
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
    let status = status_in(Statuses::Success, reply)
        .hint("answer with 204; a browser accepts no other status for a preflight, not even a redirect");
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
    check.hint("send Vary: Origin; otherwise a cache could send one origin's answer to another")
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
fn grant_hint(answer: &Answer, grant: Option<&str>) -> String {
    let fields = answer.headers.get_all(GRANT).iter().count();
    let hint = match grant {
        None if answer.status >= 400 => {
            let author = author(answer);
            let always = match author {
                Some("nginx" | "OpenResty") => ": add_header … always".to_owned(),
                Some(author) => format!("; {author} wrote this answer without it"),
                None => String::new(),
            };
            return format!(
                "send this header on errors too, before anything can fail: this {} has none, so the page cannot read its \
                 reason{always}",
                answer.status
            );
        }
        None => "send this header; without it the page's fetch fails with a TypeError and hides the status",
        Some(_) if fields > 1 => {
            let times = if fields == 2 { "twice".to_owned() } else { format!("{fields} times") };
            return format!("sent {times}: browsers refuse the combined value; send the field once");
        }
        Some(grant) if grant.contains(',') || grant.trim().contains(' ') => {
            "a list of origins: browsers refuse it; send the field once, with this origin alone"
        }
        Some(_) => {
            "send exactly the page's origin, or `*`; with any other value the page's fetch fails with a TypeError"
        }
    };
    hint.to_owned()
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
    Check::judged(kind, ok)
        .hint("send this header; without it a browser does not send a POST of application/json")
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
    #[case::none(&[], "send this header; without it")]
    #[case::twice(&[PAGE, PAGE], "sent twice: browsers refuse the combined value; send the field once")]
    #[case::three_times(&[PAGE, PAGE, PAGE], "sent 3 times: browsers refuse")]
    #[case::list(&["https://page.example, https://other.example"], "a list of origins: browsers refuse it")]
    #[case::words(&["https://page.example https://other.example"], "a list of origins: browsers refuse it")]
    #[case::other(&["https://Page.example"], "send exactly the page's origin")]
    fn hint_names_the_fault_of_the_grant(#[case] grants: &[&'static str], #[case] hint: &str) {
        let headers: Vec<_> = grants.iter().map(|grant| ("access-control-allow-origin", *grant)).collect();
        let check = readable(PAGE, &reply(200, &headers));
        assert!(!check.ok);
        assert!(check.hint.as_deref().unwrap().starts_with(hint), "{check:?}");
    }

    #[rstest]
    #[case::refusal(401, &[], "send this header on errors too, before anything can fail: this 401 has none")]
    #[case::framework(404, &[("x-powered-by", "Express")], "Express wrote this answer without it")]
    #[case::nginx(502, &[("server", "nginx")], "add_header … always")]
    #[case::success(200, &[], "send this header; without it")]
    fn grant_on_success_only_is_explained(
        #[case] status: u16,
        #[case] headers: &[(&'static str, &'static str)],
        #[case] hint: &str,
    ) {
        let check = readable(PAGE, &reply(status, headers));
        assert!(check.hint.as_deref().unwrap().contains(hint), "{check:?}");
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
