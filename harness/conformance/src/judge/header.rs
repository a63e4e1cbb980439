use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Answer, NoAnswer};
use edgeproof_reports::difference::{DifferenceKind, HeaderRule, Wire};
use http::header::{ALLOW, CONTENT_LENGTH};

use super::advice::{allow_advice, content_type_advice};
use super::check::{AnswerResult, Check};
use super::values::{header, values};

/// `same`: the answer has this value of another answer's header.
pub fn same_header(name: &str, expected: Option<&str>, answer: &Answer, same: bool) -> Check {
    let rule = HeaderRule::SameAs(expected.map(Wire::from));
    Check::judged(DifferenceKind::Header { name: name.into(), rule, actual: header(answer, name) }, same)
}

/// Two answers have the same value of a header. None: an answer is missing.
pub fn same_value(name: &str, first: &AnswerResult, second: &AnswerResult) -> Option<Check> {
    let (before, second) = (first.as_ref().ok()?, second.as_ref().ok()?);
    let (expected, actual) = (values(before, name), values(second, name));
    Some(same_header(name, expected.as_deref(), second, expected == actual).against(first))
}

/// Two answers to `HEAD` have the same `Content-Length`, which is that of the body for `GET` (RFC 9110 §8.6). None: an
/// answer is missing.
pub fn same_length(first: &AnswerResult, second: &AnswerResult) -> Option<Check> {
    same_value(CONTENT_LENGTH.as_str(), first, second).map(|check| check.advise(Advice::SessionRevealed))
}

/// A header's value satisfies `fits`, as `rule` says.
pub fn header_has(name: &str, rule: HeaderRule, fits: impl Fn(&str) -> bool, reply: &AnswerResult) -> Check {
    let kind = |actual| DifferenceKind::Header { name: name.to_owned(), rule, actual };
    match reply {
        Ok(answer) => {
            let ok = values(answer, name).as_deref().is_some_and(&fits);
            let check = Check::judged(kind(header(answer, name)), ok);
            let is_allow = name.eq_ignore_ascii_case(ALLOW.as_str());
            check.advise_all(allow_advice(answer).filter(|_| is_allow && !ok))
        }
        Err(why) => Check::unanswered(why, kind(None)),
    }
}

/// The answer contains none of these header fields of the service's reply.
pub fn without_fields(fields: &[(String, String)], reply: &Result<Answer, NoAnswer>) -> Check {
    // How long a page waits is for the service to say (RFC 9110 §10.2.3, RFC 6585 §4).
    let is_passed = |answer: &Answer, name: &str| {
        name.eq_ignore_ascii_case("retry-after") && matches!(answer.status, 429 | 503)
    };
    let holds = |answer: &Answer, (name, value): &(String, String)| {
        !is_passed(answer, name)
            && answer
                .headers
                .get_all(name.as_str())
                .iter()
                .any(|seen| seen.as_bytes() == value.trim().as_bytes())
    };
    let names: Vec<String> = match reply {
        Ok(answer) => {
            fields.iter().filter(|field| holds(answer, field)).map(|(name, _)| name.clone()).collect()
        }
        Err(_) => Vec::new(),
    };
    let ok = names.is_empty();
    let kind =
        DifferenceKind::Header { name: names.join(", "), rule: HeaderRule::NotOfService, actual: None };
    Check::judged(kind, ok).advise(Advice::ServiceHeadersCopied)
}

/// The content type is JSON (RFC 9110 §8.3).
pub fn json_content_type(reply: &Result<Answer, NoAnswer>) -> Check {
    let is_json = |value: &str| {
        let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    };
    let check = header_has("content-type", HeaderRule::JsonType, is_json, reply);
    let advice = reply.as_ref().ok().filter(|_| !check.ok).map(content_type_advice);
    check.advise_all(advice)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, Version};
    use rstest::rstest;

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "the checks take an AnswerResult")]
    fn head(length: Option<&str>) -> AnswerResult {
        let mut headers = HeaderMap::new();
        headers.extend(length.map(|length| (CONTENT_LENGTH, length.parse().unwrap())));
        Ok(Answer { status: 404, version: Version::HTTP_11, headers, body: Bytes::new(), complete: true })
    }

    #[rstest]
    #[case::same(head(Some("40")), head(Some("40")), Some(true))]
    #[case::none(head(None), head(None), Some(true))]
    #[case::other(head(Some("40")), head(Some("900")), Some(false))]
    #[case::one_without(head(None), head(Some("40")), Some(false))]
    #[case::no_answer(Err(NoAnswer::Closed), head(None), None)]
    fn other_length_for_head_fails(
        #[case] first: AnswerResult,
        #[case] second: AnswerResult,
        #[case] expected: Option<bool>,
    ) {
        assert_eq!(same_length(&first, &second).map(|check| check.ok), expected);
    }
}
