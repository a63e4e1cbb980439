use super::check::{Check, excerpt};
use edgeproof_mock::Arrival;

/// The body arrived once and unchanged.
pub fn relayed_once(sent: &[u8], arrivals: &[Arrival]) -> Vec<Check> {
    let count = Check::new("requests at the service", "1", arrivals.len().to_string(), arrivals.len() == 1);
    let count = match arrivals.len() {
        0 => count.hint("relay every POST to SERVICE_URL, with any body; the edge answered without relaying"),
        1 => count,
        _ => count.hint("do not retry a POST; the service refuses the copy as replayed (RFC 9110 §9.2.2)"),
    };
    let mut checks = vec![count];
    checks.extend(arrivals.first().map(|arrival| unchanged(sent, arrival)));
    checks
}

/// No request arrived, not even an incomplete one.
pub fn not_relayed(arrivals: &[Arrival]) -> Check {
    let actual = match arrivals {
        [] => "0".to_owned(),
        [first, ..] => format!(
            "{}; the first is a {} with a body of {} bytes",
            arrivals.len(),
            first.request.method,
            first.request.body.len()
        ),
    };
    Check::new("requests at the service", "0", actual, arrivals.is_empty())
}

/// The license arrived unchanged. Of another token the check reports the length only.
pub fn carries_license(license: &str, found: &[String]) -> Check {
    let ok = found.iter().any(|candidate| candidate == license);
    let actual = match found {
        _ if ok => "unchanged".to_owned(),
        [] => "no token in any header or in the request target".to_owned(),
        [other, ..] => difference(license, other),
    };
    Check::new("license at the service", "LICENSE, unchanged", actual, ok)
}

/// The presented client certificate is the expected one. `presented`: the end-entity certificate, if any; `name`: name of
/// the expected one in reports.
pub fn presents_certificate(expected: Option<&[u8]>, presented: Option<&[u8]>, name: &str) -> Check {
    let rendered = |certificate: Option<&[u8]>| match certificate {
        None => "none",
        Some(certificate) if Some(certificate) == expected => name,
        Some(_) => "another one",
    };
    let check = Check::new(
        "client certificate at the service",
        rendered(expected),
        rendered(presented),
        expected == presented,
    );
    match (expected, presented) {
        (Some(_), None) => check
            .hint("use EDGE_CLIENT_CERT_FILE and EDGE_CLIENT_KEY_FILE in the TLS handshake with SERVICE_URL"),
        _ => check,
    }
}

fn unchanged(sent: &[u8], arrival: &Arrival) -> Check {
    let body = &arrival.request.body;
    let ok = body.as_ref() == sent && arrival.request.complete;
    let check = Check::new("body at the service", describe(sent), describe(body), ok);
    if ok {
        return check;
    }
    let hint = if arrival.request.complete {
        let at = sent.iter().zip(body.iter()).take_while(|(a, b)| a == b).count();
        let (from, till) = (at.saturating_sub(12), at + 24);
        let around = |bytes: &[u8]| excerpt(&bytes[from.min(bytes.len())..till.min(bytes.len())]);
        let (sent, arrived) = (around(sent), around(body));
        format!(
            "relay the bytes without parsing them; difference at byte {at}: sent {sent:?}, arrived {arrived:?}"
        )
    } else {
        "the edge did not complete the request to the service".to_owned()
    };
    check.hint(&hint)
}

fn describe(body: &[u8]) -> String {
    match body.len() {
        0 => "an empty body".into(),
        1..=160 => excerpt(body),
        length => format!("{length} bytes, {}", excerpt(body)),
    }
}

fn difference(license: &str, other: &str) -> String {
    let at = license.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    format!("another token: {} bytes, expected {}; difference at byte {at}", other.len(), license.len())
}
