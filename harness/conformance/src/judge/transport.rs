use edgeproof_fixtures::spec::Advice;
use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{CodingRule, DifferenceKind, Wire};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, TRANSFER_ENCODING, VARY};

use super::check::{AnswerResult, Check};
use super::coding::is_gzip;
use super::values::header;

/// Length of a URI that each recipient should support (RFC 9110 §4.1).
const SUPPORTED_URI: usize = 8000;

/// Whether a server refuses a URI as too long that it should support.
pub fn refuses_short_uri(draft: &Draft, reply: &AnswerResult) -> bool {
    draft.path.len() < SUPPORTED_URI && reply.as_ref().is_ok_and(|answer| answer.status == 414)
}

/// Checks what depends on how the request was sent: the transfer coding of the answer on its version, the content coding on
/// what the client accepts. The body of the answer is decoded.
pub fn transport(draft: &Draft, reply: &AnswerResult) -> Vec<Check> {
    let Ok(answer) = reply else { return Vec::new() };
    let mut checks = Vec::new();
    if draft.form.http10 {
        let coded = answer.headers.contains_key(TRANSFER_ENCODING);
        let check =
            check(CodingRule::Transfer, None, header(answer, TRANSFER_ENCODING.as_str()), None, !coded);
        checks.push(check.advise(Advice::ChunkedInOldVersion));
    }
    let Some(coding) = answer.headers.get(CONTENT_ENCODING) else { return checks };
    let coding = String::from_utf8_lossy(coding.as_bytes());
    let wire = || Some(Wire::from(&*coding));
    // Decoding removed the coding of an intact body.
    let intact = answer.complete && !is_gzip(&answer.body);
    let actual = (!intact).then(|| answer.body.as_ref().into());
    let intact = check(CodingRule::Intact, None, actual, wire(), intact);
    checks.push(intact.advise(Advice::CodedLength));
    // Without the field any coding is acceptable.
    let accepted = draft.header_value(ACCEPT_ENCODING.as_str()).unwrap_or("*");
    let fits = coding == "identity" || accepts(accepted, &coding);
    checks.push(
        check(CodingRule::Accepted, Some(accepted.into()), wire(), wire(), fits)
            .at(CaseLevel::Should)
            .advise(Advice::CodingUnasked),
    );
    // Only a stored answer can reach another client.
    if answer.headers.contains_key(ETAG) {
        let values = answer.headers.get_all(VARY).iter().filter_map(|value| value.to_str().ok());
        let names: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        let varies = names.iter().any(|name| *name == "*" || name.eq_ignore_ascii_case("accept-encoding"));
        let actual = Some(names.join(", ").into());
        checks.push(
            check(CodingRule::Vary, None, actual, wire(), varies)
                .at(CaseLevel::Should)
                .advise(Advice::CodingVary),
        );
    }
    checks
}

/// The answer to `HEAD` has the `Content-Length` of the same request with `GET`, or none (RFC 9110 §8.6).
pub fn head_length(get: &AnswerResult, head: &AnswerResult) -> Check {
    let check = |actual, expected, ok| {
        check(CodingRule::HeadLength, expected, actual, None, ok).at(CaseLevel::Should)
    };
    let (get, head) = match (get, head) {
        (Ok(get), Ok(head)) => (get, head),
        (Err(why), _) | (_, Err(why)) => {
            let kind = DifferenceKind::Coding {
                rule: CodingRule::HeadLength,
                expected: None,
                actual: None,
                coding: None,
            };
            return Check::unanswered(why, kind).at(CaseLevel::Should);
        }
    };
    // Without the status of GET it is another answer.
    let Some(length) = header(head, CONTENT_LENGTH.as_str()).filter(|_| get.status == head.status) else {
        return check(None, None, true);
    };
    let expected = header(get, CONTENT_LENGTH.as_str()).unwrap_or_else(|| get.body.len().to_string().into());
    let ok = length == expected;
    check(Some(length), Some(expected), ok).advise(Advice::HeadLengthOther)
}

fn check(
    rule: CodingRule,
    expected: Option<Wire>,
    actual: Option<Wire>,
    coding: Option<Wire>,
    ok: bool,
) -> Check {
    Check::judged(DifferenceKind::Coding { rule, expected, actual, coding }, ok)
}

/// Whether `Accept-Encoding` names this coding, or all.
fn accepts(accepted: &str, coding: &str) -> bool {
    accepted.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        !refused && (name == "*" || name.eq_ignore_ascii_case(coding))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("gzip, deflate", "gzip", true)]
    #[case("GZIP;q=0.5", "gzip", true)]
    #[case("*", "gzip", true)]
    #[case("identity;q=1, *;q=0", "gzip", false)]
    #[case("gzip;q=0, deflate", "gzip", false)]
    #[case("", "gzip", false)]
    fn coding_is_accepted(#[case] accepted: &str, #[case] coding: &str, #[case] expected: bool) {
        assert_eq!(accepts(accepted, coding), expected);
    }
}
