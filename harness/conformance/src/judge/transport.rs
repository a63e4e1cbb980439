use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, TRANSFER_ENCODING, VARY};

use super::check::{AnswerResult, Check};
use super::coding::is_gzip;

/// Checks what depends on how the request was sent: the transfer coding of the answer on its version, the content coding on
/// what the client accepts. The body of the answer is decoded.
pub fn transport(draft: &Draft, reply: &AnswerResult) -> Vec<Check> {
    let Ok(answer) = reply else { return Vec::new() };
    let mut checks = Vec::new();
    if draft.form.http10 {
        let coded = answer.headers.contains_key(TRANSFER_ENCODING);
        let actual = if coded { "in the answer" } else { "none" };
        let check = Check::new("transfer coding in an answer to HTTP/1.0", "none", actual, !coded);
        checks.push(check.hint("clients of HTTP/1.0 take chunk sizes for content (RFC 9112 §6.1)"));
    }
    let Some(coding) = answer.headers.get(CONTENT_ENCODING) else { return checks };
    let coding = String::from_utf8_lossy(coding.as_bytes());
    // Decoding removed the coding of an intact body.
    let intact = answer.complete && !is_gzip(&answer.body);
    let actual = if intact { "complete" } else { "cut off, or not in this coding" };
    let check = Check::new(&format!("body in {coding}"), "complete", actual, intact);
    checks.push(check.hint("Content-Length is the number of coded bytes (RFC 9110 §8.6)"));
    // Without the field any coding is acceptable.
    let accepted = draft.header_value(ACCEPT_ENCODING.as_str()).unwrap_or("*");
    let fits = coding == "identity" || accepts(accepted, &coding);
    let check = Check::new("content coding", "one that the request accepts", coding.clone(), fits);
    checks.push(
        check
            .at(CaseLevel::Should)
            .hint("apply a coding only if Accept-Encoding names it (RFC 9110 §12.5.3)"),
    );
    // Only a stored answer can reach another client.
    if answer.headers.contains_key(ETAG) {
        let values = answer.headers.get_all(VARY).iter().filter_map(|value| value.to_str().ok());
        let names: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        let varies = names.iter().any(|name| *name == "*" || name.eq_ignore_ascii_case("accept-encoding"));
        let actual = names.join(", ");
        let check = Check::new("header vary of a coded answer", "Accept-Encoding", actual, varies);
        checks.push(
            check.at(CaseLevel::Should).hint("a cache may send this coding to clients that do not accept it"),
        );
    }
    checks
}

/// The answer to `HEAD` has the `Content-Length` of the same request with `GET`, or none (RFC 9110 §8.6).
pub fn head_length(get: &AnswerResult, head: &AnswerResult) -> Check {
    let check = |actual: String, expected: String, ok| {
        Check::new("header content-length of HEAD", expected, actual, ok).at(CaseLevel::Should)
    };
    let (Ok(get), Ok(head)) = (get, head) else {
        let none = "no answer to GET or HEAD".to_owned();
        return check(none, "that of GET, or none".to_owned(), false);
    };
    let length = head.headers.get(CONTENT_LENGTH).map(|value| String::from_utf8_lossy(value.as_bytes()));
    // Without the status of GET it is another answer.
    let Some(length) = length.filter(|_| get.status == head.status) else {
        return check("none".to_owned(), "that of GET, or none".to_owned(), true);
    };
    let expected = get.headers.get(CONTENT_LENGTH).map_or_else(
        || get.body.len().to_string(),
        |value| String::from_utf8_lossy(value.as_bytes()).into_owned(),
    );
    let ok = *length == *expected;
    check(length.into_owned(), format!("{expected}, or none"), ok)
        .hint("a cache that gets another length drops its stored answer to GET (RFC 9111 §4.3.5)")
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
