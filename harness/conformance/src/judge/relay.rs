use super::advice::{body_advice, common_start};
use super::check::{AnswerResult, Check};
use super::unset::license_advice;
use super::values::body_change;
use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::{Arrival, ArrivalAnswer};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{CertificateForm, DifferenceKind, LicenseValue};
use http::header::EXPECT;

/// Requests of an exchange at the service.
#[derive(Debug, Default)]
pub struct RelayedRequests {
    /// Complete requests, in the order of arrival. A request that the edge broke off is no relay.
    pub complete: Vec<Arrival>,
    /// Number of requests that broke off.
    pub broken_off: usize,
    /// Complete requests that belong to no case, since a body without the case's marker may be a changed one.
    pub unclaimed: Vec<Arrival>,
}

impl RelayedRequests {
    /// Sorts the requests of an exchange by completeness.
    pub fn new(arrivals: Vec<Arrival>) -> Self {
        let all = arrivals.len();
        let complete: Vec<_> = arrivals.into_iter().filter(|arrival| arrival.request.complete).collect();
        Self { broken_off: all - complete.len(), complete, unclaimed: Vec::new() }
    }

    /// Adds requests that belong to no case.
    #[must_use]
    pub fn unclaimed(self, arrivals: Vec<Arrival>) -> Self {
        Self { unclaimed: Self::new(arrivals).complete, ..self }
    }

    /// The request with the body that `sent` most likely became.
    fn changed(&self, sent: &[u8]) -> Option<&Arrival> {
        let others = self.unclaimed.iter().filter(|arrival| arrival.request.body.as_ref() != sent);
        others.max_by_key(|arrival| common(sent, &arrival.request.body))
    }
}

/// Whether an HTTP client may send the request again by itself after this answer: 408 (RFC 9110 §15.5.9), 421 (§15.5.20), or 417
/// to a request with `Expect` (§10.1.1). No answer of the page tells it apart from a first attempt.
pub fn permits_repeat(arrival: &Arrival) -> bool {
    match arrival.answer.as_ref().and_then(ArrivalAnswer::status) {
        Some(408 | 421) => true,
        Some(417) => arrival.request.headers.contains_key(EXPECT),
        _ => false,
    }
}

/// The body arrived once and unchanged, or again after answers that permit it. `reply`: the edge's answer to it; `copy`: level of a second request.
pub fn relayed_once(
    sent: &[u8],
    relayed: &RelayedRequests,
    reply: &AnswerResult,
    copy: CaseLevel,
) -> Vec<Check> {
    if let ([], Some(changed)) = (relayed.complete.as_slice(), relayed.changed(sent)) {
        return vec![unchanged(sent, changed)];
    }
    let count = relayed.complete.len();
    let kind = DifferenceKind::Arrivals {
        expected: 1,
        actual: count as u64,
        broken_off: relayed.broken_off as u64,
        method: None,
        body_bytes: None,
    };
    let is_repeated =
        relayed.complete.split_last().is_some_and(|(_, earlier)| earlier.iter().all(permits_repeat));
    let check = Check::judged(kind, is_repeated);
    let check = match (count, reply) {
        _ if is_repeated => check,
        (0, _) if relayed.broken_off > 0 => check.advise(Advice::UploadBrokenOff),
        (0, Ok(answer)) => check.advise(Advice::NotRelayed { status: u64::from(answer.status) }),
        (0, Err(_)) => check.advise(Advice::NotRelayedUnanswered),
        _ => check.advise(Advice::CopySent).at(copy),
    };
    let mut checks = vec![check];
    let judged = if is_repeated { count } else { 1 };
    checks.extend(relayed.complete.iter().take(judged).map(|arrival| unchanged(sent, arrival)));
    checks
}

/// The body of an arrival is one of these bodies.
pub fn relays_one_of(sent: &[&[u8]], arrival: &Arrival) -> Option<Check> {
    let body = arrival.request.body.as_ref();
    let nearest = sent.iter().max_by_key(|sent| (**sent == body, common(sent, body)))?;
    Some(unchanged(nearest, arrival))
}

/// No complete request arrived.
pub fn not_relayed(relayed: &RelayedRequests) -> Check {
    let first = relayed.complete.first().map(|arrival| &arrival.request);
    let kind = DifferenceKind::Arrivals {
        expected: 0,
        actual: relayed.complete.len() as u64,
        broken_off: relayed.broken_off as u64,
        method: first.map(|request| (&request.method).into()),
        body_bytes: first.map(|request| request.body.len() as u64),
    };
    Check::judged(kind, relayed.complete.is_empty())
}

/// The license arrived unchanged. Of another token the check reports the length only.
pub fn carries_license(license: &str, found: &[String]) -> Check {
    let ok = found.iter().any(|candidate| candidate == license);
    let actual = match found {
        _ if ok => LicenseValue::Unchanged,
        [] => LicenseValue::Absent,
        [other, ..] => LicenseValue::OtherToken {
            bytes: other.len() as u64,
            expected: license.len() as u64,
            differs_at: common_start(license.as_bytes(), other.as_bytes()) as u64,
        },
    };
    let check = Check::judged(DifferenceKind::License { actual }, ok);
    check.advise_all(license_advice(license, found).filter(|_| !ok))
}

/// The presented client certificate is the expected one. `presented`: the end-entity certificate, if any.
pub fn presents_certificate(expected: Option<&[u8]>, presented: Option<&[u8]>) -> Check {
    let form = |certificate: Option<&[u8]>| match certificate {
        None => CertificateForm::Absent,
        Some(certificate) if Some(certificate) == expected => CertificateForm::Configured,
        Some(_) => CertificateForm::Other,
    };
    let kind = DifferenceKind::Certificate {
        expected: form(expected),
        actual: form(presented),
        configured: None,
        presented: None,
    };
    let check = Check::judged(kind, expected == presented);
    match (expected, presented) {
        (Some(_), None) => check.advise(Advice::CertificateAbsent),
        _ => check,
    }
}

fn unchanged(sent: &[u8], arrival: &Arrival) -> Check {
    let body = &arrival.request.body;
    let ok = body.as_ref() == sent;
    let kind = DifferenceKind::RelayedBody {
        sent: sent.into(),
        arrived: body.as_ref().into(),
        change: body_change(sent, body),
    };
    let check = Check::judged(kind, ok);
    if ok { check } else { check.advise_all(body_advice(sent, body)) }
}

/// Number of equal bytes at the start and at the end.
fn common(a: &[u8], b: &[u8]) -> usize {
    let ends = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    common_start(a, b) + ends
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use edgeproof_http::{Answer, NoAnswer, Request};
    use http::{HeaderMap, Version};
    use rstest::rstest;

    use super::*;

    const SENT: &[u8] = br#"{"sealed":"m1"}"#;

    fn arrival(body: &str, complete: bool) -> Arrival {
        let (method, target) = ("POST".to_owned(), "/".to_owned());
        let body = Bytes::copy_from_slice(body.as_bytes());
        let (version, headers) = (Version::HTTP_11, HeaderMap::new());
        Arrival::without_connection(0, Request { method, target, version, headers, body, complete })
    }

    #[expect(clippy::unnecessary_wraps, reason = "the checks take an AnswerResult")]
    fn answered() -> AnswerResult {
        let (version, headers) = (Version::HTTP_11, HeaderMap::new());
        Ok(Answer { status: 200, version, headers, body: Bytes::new(), complete: true })
    }

    fn once(arrivals: Vec<Arrival>, unclaimed: Vec<Arrival>, reply: &AnswerResult) -> Option<Advice> {
        let relayed = RelayedRequests::new(arrivals).unclaimed(unclaimed);
        let checks = relayed_once(SENT, &relayed, reply, CaseLevel::Must);
        checks.iter().find(|check| !check.ok).and_then(|check| check.advice.first().cloned())
    }

    #[test]
    fn request_that_broke_off_is_no_relay() {
        let broken = || arrival(r#"{"sealed""#, false);
        assert!(not_relayed(&RelayedRequests::new(vec![broken()])).ok);
        assert!(!not_relayed(&RelayedRequests::new(vec![arrival(r#"{"sealed""#, true)])).ok);
        let whole = || arrival(r#"{"sealed":"m1"}"#, true);
        assert_eq!(once(vec![broken(), whole()], vec![], &answered()), None);
        assert!(once(vec![whole(), whole()], vec![], &answered()).is_some());
    }

    #[rstest]
    #[case::timeout(408, false, true)]
    #[case::misdirected(421, false, true)]
    #[case::expectation_failed(417, true, true)]
    #[case::refusal(417, false, false)]
    #[case::unavailable(503, true, false)]
    fn repeat_is_open_only_where_a_standard_permits_it(
        #[case] status: u16,
        #[case] expects: bool,
        #[case] is_open: bool,
    ) {
        let mut first = arrival(r#"{"sealed":"m1"}"#, true);
        if expects {
            first.request.headers.insert(EXPECT, http::HeaderValue::from_static("100-continue"));
        }
        first.answer = Some(ArrivalAnswer::Answer { status, headers: HeaderMap::new(), body: Bytes::new() });
        let second = || arrival(r#"{"sealed":"m1"}"#, true);
        let copied = once(vec![first.clone(), second()], vec![], &answered());
        assert_eq!(copied.is_none(), is_open);
        assert!(once(vec![first.clone(), second(), second()], vec![], &answered()).is_some());
        assert!(once(vec![first, arrival("other", true)], vec![], &answered()).is_some() || !is_open);
    }

    #[rstest]
    #[case::no_request(vec![], vec![], answered(), Advice::NotRelayed { status: 200 })]
    #[case::crash(vec![], vec![], Err(NoAnswer::Closed), Advice::NotRelayedUnanswered)]
    #[case::broken_off(vec![arrival("{", false)], vec![], answered(), Advice::UploadBrokenOff)]
    #[case::changed(vec![], vec![arrival("other", true), arrival(r#"{"sealed":"M1"}"#, true)], answered(), Advice::BodyRewritten { changes: vec!["values".into()] })]
    #[case::empty(vec![], vec![arrival("", true)], answered(), Advice::BodyEmptied)]
    fn advice_names_what_happened(
        #[case] arrivals: Vec<Arrival>,
        #[case] unclaimed: Vec<Arrival>,
        #[case] reply: AnswerResult,
        #[case] expected: Advice,
    ) {
        assert_eq!(once(arrivals, unclaimed, &reply), Some(expected));
    }
}
