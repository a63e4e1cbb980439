use edgeproof_fixtures::credentials::{EdgeSettings, Secret};
use edgeproof_fixtures::spec::Profile;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::EdgeError;

/// Options of requests and connections to the service.
#[derive(Debug, Clone)]
pub struct UpstreamOptions {
    /// Path and query, appended to `SERVICE_URL`.
    pub path: String,
    /// License header; unset without `LICENSE`.
    pub license: Option<(HeaderName, HeaderValue)>,
    /// Additional request headers (default: none).
    pub headers: HeaderMap,
    /// Sends the body in chunks, without `Content-Length` (default: false).
    pub chunked: bool,
    /// Starts a request before the page's body is complete (default: false).
    pub streams: bool,
    /// Offers HTTP/2 in the TLS handshake (default: true).
    pub http2: bool,
    /// Keeps connections alive for later requests (default: true).
    pub keep_alive: bool,
    /// Opens another connection after the first one closes (default: true).
    pub reconnects: bool,
    /// Opens another connection in place of an idle one that the service has closed (default: true). Otherwise the request on it
    /// fails.
    pub replaces_closed: bool,
    /// Certificate check (default: [`CertificateCheck::Full`]).
    pub certificate_check: CertificateCheck,
    /// Changes the head of each HTTP/1.1 request before it is written (default: none).
    pub raw_head: Option<RawHead>,
    /// Sends a collection to the host that X-Forwarded-Host names (default: false).
    pub trusts_named_host: bool,
    /// Changes the header fields of a request to the service, given those of the page's request (default: none).
    pub page_fields: Option<PageFields>,
    /// Sends the cookies that the service set with later collections (default: false).
    pub keeps_cookies: bool,
    /// Follows redirects (default: false).
    pub follows_redirects: bool,
    /// Sends no license to the target of a redirect (default: false).
    pub drops_license_on_redirect: bool,
}

/// Changes the text of a request's head.
pub type RawHead = fn(&str) -> String;

/// Changes the header fields of a request to the service. The first ones are those of the page's request.
pub type PageFields = fn(&HeaderMap, &mut HeaderMap);

/// Check of the service's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateCheck {
    /// Issuer, host and validity period.
    Full,
    /// No check.
    Off,
    /// No check if `SERVICE_CA_FILE` is unset.
    OffWithoutCaFile,
    /// Issuer and validity period.
    IgnoreHost,
    /// Issuer and host.
    IgnoreExpiry,
}

impl UpstreamOptions {
    /// Options that the profile defines. Fails if the license is no header value.
    pub fn new(settings: &EdgeSettings, profile: &Profile) -> Result<Self, EdgeError> {
        let license =
            settings.license.as_ref().map(|license| license_header(license, profile)).transpose()?;
        Ok(Self {
            path: profile.relay_path.clone(),
            license,
            headers: HeaderMap::new(),
            chunked: false,
            streams: false,
            http2: true,
            keep_alive: true,
            reconnects: true,
            replaces_closed: true,
            certificate_check: CertificateCheck::Full,
            raw_head: None,
            trusts_named_host: false,
            page_fields: None,
            keeps_cookies: false,
            follows_redirects: false,
            drops_license_on_redirect: false,
        })
    }
}

fn license_header(license: &Secret, profile: &Profile) -> Result<(HeaderName, HeaderValue), EdgeError> {
    let name = HeaderName::try_from(profile.license_header.as_str()).unwrap_or(AUTHORIZATION);
    let value = match profile.license_scheme.as_str() {
        "" => license.expose().to_owned(),
        scheme => format!("{scheme} {}", license.expose()),
    };
    let mut value =
        HeaderValue::try_from(value).map_err(|_| EdgeError::HeaderValue { setting: "LICENSE" })?;
    // Keeps the license out of Debug output and out of HPACK's dynamic table.
    value.set_sensitive(true);
    Ok((name, value))
}
