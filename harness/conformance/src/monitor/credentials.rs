use std::collections::BTreeSet;

use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::{Arrival, ArrivalAnswer, presented_licenses};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, CertificateForm, DifferenceKind, Invariant, LicenseValue};
use http::header::{AUTHORIZATION, COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderName};

use super::arrivals::holds;
use super::breaches::Breaches;
use super::edge_record::{EdgeRecord, ExpectedCertificate, RequestsByBody};
use crate::judge::{Check, unset_license};

/// Each arrival has the license and the certificate of the edge, and neither a credential nor the Host of the client.
pub(super) fn judge(edge: &EdgeRecord) -> Vec<Check> {
    let (mut licenses, mut certificates) = (Breaches::default(), Breaches::default());
    let requests = RequestsByBody::new(edge);
    let mut unset = None;
    let (mut authorizations, mut cookies, mut hosts) =
        (Breaches::default(), Breaches::default(), Breaches::default());
    for arrival in edge.arrivals.iter().filter(|arrival| arrival.request.method == "POST") {
        let level = requests.level(&arrival.request.body);
        unset = unset.or_else(|| unset_license(&arrival.request.headers));
        let found = presented_licenses(&arrival.request.target, &arrival.request.headers);
        if let Some(license) = &edge.license
            && found.iter().any(|found| found != license)
        {
            let difference = DifferenceKind::License { actual: LicenseValue::OtherText };
            // No visitor chooses the credential, in whatever form the visit is.
            let is_of_page = found.iter().any(|found| found != license && sends(&requests, arrival, found));
            let level = if is_of_page { CaseLevel::Must } else { level };
            licenses.push_at(level, with(requests.breach(arrival), difference));
        } else if let Some(license) = &edge.license
            && !found.contains(license)
        {
            let difference = DifferenceKind::License { actual: LicenseValue::Absent };
            licenses.push_at(level, with(requests.breach(arrival), difference));
        }
        let presented = arrival.client_certificates.first().map(AsRef::as_ref);
        let is_expected = match &edge.certificate {
            ExpectedCertificate::Absent => presented.is_none(),
            ExpectedCertificate::Certificate(expected) => presented == Some(expected),
            ExpectedCertificate::Open => true,
        };
        if !is_expected {
            let actual = if presented.is_none() { CertificateForm::Absent } else { CertificateForm::Other };
            let expected = CertificateForm::Configured;
            let difference =
                DifferenceKind::Certificate { expected, actual, configured: None, presented: None };
            certificates.push_at(level, with(requests.breach(arrival), difference));
        }
        if has_host_of_page(&requests, arrival) {
            hosts.push_at(level, requests.breach(arrival));
        }
        for (name, breaches) in [(AUTHORIZATION, &mut authorizations), (COOKIE, &mut cookies)] {
            let sent = requests.with(&arrival.request.body).iter();
            let mut of_client = sent.filter_map(|request| request.draft.header_value(name.as_str()));
            let reaches = |value: &str| {
                let mut values = arrival.request.headers.values();
                !value.is_empty() && values.any(|seen| holds(seen.as_bytes(), value.as_bytes()))
            };
            if of_client.any(reaches) {
                breaches.push(requests.breach(arrival));
            }
        }
    }
    let license = licenses.check(Invariant::License);
    vec![
        license.advise_all(unset),
        certificates.check(Invariant::Certificate),
        authorizations.check(Invariant::ClientAuthorization).advise(Advice::ClientAuthorization),
        hosts.check(Invariant::PageHosts),
        cookies.check(Invariant::ClientCookies).at(CaseLevel::Should).advise(Advice::ClientCookies),
        returned_cookies(edge, &requests)
            .check(Invariant::ServiceCookies)
            .at(CaseLevel::Should)
            .advise(Advice::ServiceCookies),
    ]
}

/// Cookies that the service set, in later requests of pages that did not send them.
fn returned_cookies(edge: &EdgeRecord, requests: &RequestsByBody<'_>) -> Breaches {
    let (mut set, mut returned) = (BTreeSet::new(), Breaches::default());
    for arrival in edge.arrivals.iter().filter(|arrival| arrival.request.method == "POST") {
        let mut sent = pairs(&arrival.request.headers, &COOKIE);
        if sent.any(|pair| set.contains(pair) && !sends(requests, arrival, pair)) {
            returned.push(requests.breach(arrival));
        }
        if let Some(ArrivalAnswer::Answer { headers, .. }) = &arrival.answer {
            set.extend(pairs(headers, &SET_COOKIE));
        }
    }
    returned
}

/// Whether the page's request of an arrival has this text in its target or a header field.
fn sends(requests: &RequestsByBody<'_>, arrival: &Arrival, text: &str) -> bool {
    let mut sent = requests.with(&arrival.request.body).iter().map(|request| &request.draft);
    sent.any(|draft| draft.path.contains(text) || draft.headers.iter().any(|(_, value)| value.contains(text)))
}

/// The names with their values of cookie fields, and the attributes of those that set one.
fn pairs<'h>(headers: &'h HeaderMap, field: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(field).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(';').map(str::trim)).filter(|pair| pair.contains('='))
}

fn with(breach: Breach, difference: DifferenceKind) -> Breach {
    Breach { difference: Some(Box::new(difference)), ..breach }
}

/// The request at the service has the Host of the page's request: a client sends that of the URL (RFC 9112 §3.2).
fn has_host_of_page(requests: &RequestsByBody<'_>, arrival: &Arrival) -> bool {
    let sent = requests.with(&arrival.request.body).first().and_then(|request| request.sent.as_ref());
    let (host, of_page) =
        (arrival.request.headers.get(HOST), sent.and_then(|sent| sent.request.headers.get(HOST)));
    host.is_some() && host == of_page
}
