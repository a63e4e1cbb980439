use std::fmt::Write as _;

use bytes::Bytes;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Advice, Spec};
use edgeproof_mock::{Arrival, ArrivalAnswer, presented_licenses};
use edgeproof_reports::difference::{Count, Counted};
use edgeproof_reports::escape::{one_line, visible};

use crate::judge::{self, Check, excerpt};
use crate::monitor::ExpectedCertificate;
use crate::run::report::hint;

/// What an edge has to send to its service.
pub(super) struct ExpectedArrival {
    /// `LICENSE`, if the edge has one.
    pub(super) license: Option<String>,
    /// The client certificate.
    pub(super) certificate: ExpectedCertificate,
    /// Bodies that it relays. Empty: any body.
    pub(super) relayed: Vec<Bytes>,
    /// Bodies that it does not relay.
    pub(super) kept_back: Vec<Bytes>,
}

/// A request at the service for a reader: what arrived, each check, and the reply.
pub(super) fn arrival_text(
    arrival: &Arrival,
    expected: &ExpectedArrival,
    spec: &Spec,
    redactor: &Redactor,
) -> String {
    let request = &arrival.request;
    let mut text = format!(
        "request {} at the service: {} {}",
        arrival.number + 1,
        visible(&request.method),
        visible(&request.target)
    );
    for check in judge_arrival(arrival, expected) {
        if check.ok {
            _ = write!(text, "\n  ok     {}: {}", check.what, one_line(&check.actual));
            continue;
        }
        let (expected, actual) = (one_line(&check.expected), one_line(&check.actual));
        _ = write!(text, "\n  wrong  {}: expected {expected}, got {actual}", check.what);
        if let Some(hint) = check.mismatch().and_then(|mismatch| hint(&mismatch.advice, spec)) {
            _ = write!(text, "\n         {}", visible(&hint));
        }
    }
    let reply = match &arrival.answer {
        Some(ArrivalAnswer::Answer { status, body, .. }) if body.is_empty() => {
            format!("replies {status} without a body")
        }
        Some(ArrivalAnswer::Answer { status, body, .. }) => {
            format!("replies {status} {}", visible(&excerpt(body)))
        }
        Some(ArrivalAnswer::Partial(part)) => format!("replies in part: {part}"),
        Some(ArrivalAnswer::Other(end)) => format!("does not reply: {end}"),
        None => "does not reply".to_owned(),
    };
    _ = write!(text, "\n  the service {reply}");
    redactor.redact(&text).into_owned()
}

/// The checks of a request at the service.
fn judge_arrival(arrival: &Arrival, expected: &ExpectedArrival) -> Vec<Check> {
    let request = &arrival.request;
    if request.method != "POST" {
        let count = Count::new(Counted::OtherMethods, 0, 1).first(Some(&request.method));
        return vec![Check::judged(count, false)];
    }
    let mut checks = Vec::new();
    if !request.complete {
        checks.push(Check::counted(Counted::BrokenRequests, 0, 1).advise(Advice::UploadBrokenOff));
    }
    if let Some(license) = &expected.license {
        checks.push(judge::carries_license(license, &presented_licenses(&request.target, &request.headers)));
    }
    let presented = arrival.client_certificates.first().map(AsRef::as_ref);
    let certificate = match &expected.certificate {
        ExpectedCertificate::Absent => Some(None),
        ExpectedCertificate::Certificate(certificate) => Some(Some(certificate.as_slice())),
        ExpectedCertificate::Open => None,
    };
    if let Some(certificate) = certificate {
        checks.push(judge::presents_certificate(certificate, presented));
    }
    let nothing = expected.relayed.is_empty() && !expected.kept_back.is_empty();
    if nothing || expected.kept_back.contains(&request.body) {
        checks.push(Check::counted(Counted::ForeignRequests, 0, 1));
        return checks;
    }
    let bodies: Vec<&[u8]> = expected.relayed.iter().map(AsRef::as_ref).collect();
    if request.complete {
        checks.extend(judge::relays_one_of(&bodies, arrival));
    }
    checks
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use edgeproof_fixtures::spec;
    use edgeproof_http::Request;
    use http::{HeaderMap, Version};

    use super::*;

    const BODY: &str = r#"{"n":9007199254740993}"#;

    fn arrival(method: &str, body: &str, authorization: &str, certificate: Option<&[u8]>) -> Arrival {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", authorization.parse().unwrap());
        let body = Bytes::copy_from_slice(body.as_bytes());
        let (method, target) = (method.to_owned(), "/v1/relay".to_owned());
        let request = Request { method, target, version: Version::HTTP_11, headers, body, complete: true };
        let certificates: Vec<_> = certificate.map(|der| der.to_vec().into()).into_iter().collect();
        let answer =
            ArrivalAnswer::Answer { status: 200, headers: HeaderMap::new(), body: r#"{"ok":true}"#.into() };
        Arrival {
            client_certificates: Arc::from(certificates),
            answer: Some(answer),
            ..Arrival::without_connection(0, request)
        }
    }

    fn expected(relays: bool) -> ExpectedArrival {
        let (relayed, kept_back) =
            if relays { (vec![BODY.into()], vec![]) } else { (vec![], vec![BODY.into()]) };
        ExpectedArrival {
            license: Some("service_license_x".to_owned()),
            certificate: ExpectedCertificate::Certificate(b"der".to_vec()),
            relayed,
            kept_back,
        }
    }

    fn shown(arrival: &Arrival, expected: &ExpectedArrival, redactor: &Redactor) -> String {
        arrival_text(arrival, expected, &Spec::builtin(spec::Version::Current), redactor)
    }

    fn text(arrival: &Arrival, relays: bool) -> String {
        shown(arrival, &expected(relays), &Redactor::empty())
    }

    #[test]
    fn right_arrival_is_ok_in_each_part() {
        let arrival = arrival("POST", BODY, "Bearer service_license_x", Some(b"der"));
        insta::assert_snapshot!(text(&arrival, true), @r#"
        request 1 at the service: POST /v1/relay
          ok     license at the service: unchanged
          ok     client certificate at the service: EDGE_CLIENT_CERT_FILE
          ok     body at the service: {"n":9007199254740993}
          the service replies 200 {"ok":true}
        "#);
    }

    #[test]
    fn each_wrong_part_is_shown_with_its_fix() {
        let arrival = arrival("POST", r#"{"n":9007199254740992}"#, "Bearer other", None);
        let text = text(&arrival, true);
        assert_eq!(text.matches("\n  wrong  ").count(), 3, "{text}");
        for part in ["another token: 5 bytes", "use EDGE_CLIENT_CERT_FILE", "sent `7199254740993}`, arrived"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn request_of_a_case_that_relays_nothing_is_wrong() {
        let arrival = arrival("POST", BODY, "Bearer service_license_x", Some(b"der"));
        let text = text(&arrival, false);
        assert!(
            text.contains("wrong  requests at the service: expected none of this case, got one"),
            "{text}"
        );
    }

    #[test]
    fn other_method_is_wrong() {
        let text = text(&arrival("GET", "", "x", None), true);
        assert!(text.contains("wrong  method: expected POST, got GET"), "{text}");
    }

    #[test]
    fn secrets_are_redacted() {
        let mut redactor = Redactor::empty();
        redactor.add("license", "service_license_hunter2hunter2");
        let mut arrival = arrival("POST", "service_license_hunter2hunter2", "Bearer x", Some(b"der"));
        arrival.request.target = "/?l=service_license_hunter2hunter2".to_owned();
        let text = shown(&arrival, &expected(true), &redactor);
        assert!(!text.contains("hunter2"), "{text}");
    }
}
