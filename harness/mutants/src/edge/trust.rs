//! Edges that trust another service, and edges that give their secrets away.

use edgeproof_edge::{CertificateCheck, UpstreamOptions};
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;

use super::prelude::*;
use crate::behaviour::html;

const LEAK: Change = By(|seen, mut answer| {
    let license = seen.setup.license.clone();
    answer.headers.extend(license.map(|license| (HeaderName::from_static("x-license"), license)));
    answer
});

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("skips-certificate-check", "Does not verify the service's certificate.")
        .breaks("edge.502.service-unreachable", "service-certificate-unchecked")
        .then(ChecksCertificate(CertificateCheck::Off)),
    mutant(
        "skips-certificate-check-without-ca-file",
        "Does not verify the service's certificate while SERVICE_CA_FILE is unset.",
    )
    .breaks("setting.edge.service-ca-file", "service-certificate-unchecked")
    .then(ChecksCertificate(CertificateCheck::OffWithoutCaFile)),
    mutant("accepts-certificate-of-any-host", "Does not verify the host name in the service's certificate.")
        .breaks("statement.server-identity", "service-certificate-unchecked")
        .then(ChecksCertificate(CertificateCheck::IgnoreHost)),
    mutant("accepts-expired-certificate", "Accepts an expired service certificate.")
        .breaks("statement.server-identity", "service-certificate-unchecked")
        .then(ChecksCertificate(CertificateCheck::IgnoreExpiry)),
    mutant("keeps-first-service-url", "Calls the SERVICE_URL of the first edge and ignores its own.")
        .breaks("setting.edge.service-url", "service-url-misread")
        .then(Start(|options, first| options.settings.service_url.clone_from(&first.service_url))),
    mutant("relays-to-named-host", "Relays to the host that X-Forwarded-Host names.")
        .breaks("statement.license-not-elsewhere", "service-url-misread")
        .then(Upstream(|right| UpstreamOptions { trusts_named_host: true, ..right })),
    mutant("forwards-cookies", "Sends the page's cookies to the service.")
        .breaks("statement.cookies-not-relayed", "request-form")
        .then(Upstream(|right| UpstreamOptions {
            page_fields: Some(|page, sent| forward(&COOKIE, page, sent)),
            ..right
        })),
    mutant("forwards-authorization", "Sends the page's Authorization to the service, beside the license.")
        .breaks("statement.license-presented", "request-form")
        .then(Upstream(|right| UpstreamOptions {
            page_fields: Some(|page, sent| forward(&AUTHORIZATION, page, sent)),
            ..right
        })),
    mutant("takes-license-of-page", "Presents a license that the page names in place of its own.")
        .breaks("statement.license-presented", "license-wrong")
        .then(Upstream(|right| UpstreamOptions { page_fields: Some(take_license), ..right })),
    mutant("keeps-cookies", "Sends the cookies of the service with later collections.")
        .breaks("statement.cookies-not-relayed", "request-form")
        .then(Upstream(|right| UpstreamOptions { keeps_cookies: true, ..right })),
    mutant("follows-redirects", "Follows redirects of the service.")
        .breaks("statement.license-not-redirected", "redirects-followed")
        .then(Upstream(|right| UpstreamOptions { follows_redirects: true, ..right })),
    mutant("follows-redirects-without-license", "Follows redirects of the service without the license.")
        .breaks("statement.license-not-redirected", "redirects-followed")
        .then(Upstream(|right| UpstreamOptions {
            follows_redirects: true,
            drops_license_on_redirect: true,
            ..right
        })),
    mutant("leaks-license-in-header", "Returns the license in a header.")
        .breaks("statement.secrets-not-answered", "secrets-answered")
        .when(Not(&Any(&[PREFLIGHT, Health])))
        .answers(LEAK),
    mutant("leaks-license-in-errors", "Returns the license in error bodies.")
        .breaks("statement.secrets-not-answered", "secrets-answered")
        .when(Not(&SUCCESS))
        .answers(SetMember("debug", |seen| json!(seen.setup.license()))),
    mutant("leaks-client-key", "Returns the client key if the service is unreachable.")
        .breaks("statement.secrets-not-answered", "secrets-answered")
        .when(Unreachable)
        .answers(SetMember("debug", |seen| json!(seen.setup.key))),
    mutant("leaks-license-in-health-check", "Returns the license in the health check.")
        .breaks("statement.secrets-not-answered", "secrets-answered")
        .when(Health)
        .answers(SetMember("debug", |seen| json!(seen.setup.license()))),
    mutant("leaks-license-in-preflight", "Returns the license in preflight answers.")
        .breaks("statement.secrets-not-answered", "secrets-answered")
        .when(PREFLIGHT)
        .answers(LEAK),
    mutant("returns-debug-page", "Returns a debug page with the settings if the service is unreachable.")
        .breaks("statement.secrets-not-answered", "secrets-answered")
        .when(Unreachable)
        .answers(Becomes(Made(|seen| {
            let page = "<!DOCTYPE html>\n<title>ConnectionError at /v1/signals</title>\n<h2>Settings</h2>\n";
            let license = seen.setup.license();
            html(500, &format!("{page}<table><tr><td>LICENSE</td><td>{license}</td></tr></table>\n"))
        }))),
];

/// Sends a field of the page's request on.
fn forward(name: &HeaderName, page: &HeaderMap, sent: &mut HeaderMap) {
    for value in page.get_all(name) {
        sent.append(name, value.clone());
    }
}

/// Replaces the license.
fn take_license(page: &HeaderMap, sent: &mut HeaderMap) {
    let named = page.get("x-license-token").and_then(|value| value.to_str().ok());
    if let Some(Ok(license)) = named.map(|license| HeaderValue::from_str(&format!("Bearer {license}"))) {
        sent.insert(AUTHORIZATION, license);
    }
}
