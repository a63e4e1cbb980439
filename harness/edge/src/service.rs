use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::Profile;
use http::Uri;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use url::{Host, Url};

use super::EdgeError;
use super::connect::Connector;
use super::fault_hooks::{Habits, Trust};
use super::pool::{Pool, Upkeep};
use super::relay::{Relay, license_header};
use super::style::{Outbound, Reuse, Style, Upload};
use super::trust::Lax;

const URL_EXAMPLE: &str = "https://service.example";
const CERTIFICATES: &str = "certificates (BEGIN CERTIFICATE)";
const KEY: &str = "a private key (BEGIN PRIVATE KEY)";

/// Makes the way to the service out of the settings. Reads the files that they name, here and never again.
pub(super) fn relay(
    settings: &EdgeSettings,
    profile: &Profile,
    timeout: Duration,
    style: Style,
    habits: Habits,
) -> Result<Relay, EdgeError> {
    let given = settings
        .service_url
        .as_deref()
        .ok_or(EdgeError::Missing { setting: "SERVICE_URL", example: URL_EXAMPLE })?;
    let service = parse(given)?;
    let license = settings.license.as_ref().map(edgeproof_fixtures::credentials::Secret::expose);
    let path = style.relay_path(&profile.relay_path, license);
    let uri = format!("{}{path}", service.as_str().trim_end_matches('/'));
    let uri: Uri = uri.parse().map_err(|why| not_a_service(given, &why))?;
    let (host, name) = match service.host() {
        Some(Host::Domain(name)) => (name.to_owned(), ServerName::try_from(name.to_owned()).ok()),
        Some(Host::Ipv4(ip)) => (ip.to_string(), Some(ServerName::from(std::net::IpAddr::from(ip)))),
        Some(Host::Ipv6(ip)) => (ip.to_string(), Some(ServerName::from(std::net::IpAddr::from(ip)))),
        None => return Err(not_a_service(given, &"it names no host")),
    };
    let name = name.ok_or_else(|| not_a_service(given, &"its host cannot be in a certificate"))?;
    let tls = match service.scheme() {
        "https" => Some((Arc::new(client_config(settings, style, habits.trust)?), name)),
        _ => None,
    };
    let port = service.port_or_known_default().unwrap_or(443);
    let header = |license: &str| match style.license(license) {
        None => license_header(profile.license_header.as_str(), &profile.license_scheme, license).map(Some),
        Some(None) => Some(None),
        Some(Some((name, value))) => license_header(name.as_str(), "", &value).map(Some),
    };
    let license = license
        .map(|license| header(license).ok_or(EdgeError::NotAHeader { setting: "LICENSE" }))
        .transpose()?
        .flatten();
    let upkeep = Upkeep { keeps: style.reuse == Reuse::Kept, reconnects: habits.reconnects };
    let pool = Arc::new(Pool::new(Connector { host, port, tls }, upkeep));
    let (more, sized) = (style.request_headers(), style.upload == Upload::Sized);
    Ok(Relay { pool, uri, license, more, sized, timeout, follows_redirects: habits.follows_redirects })
}

/// The line to say at the start if only one of certificate and key is set: then none is presented.
pub(super) fn half_a_pair(settings: &EdgeSettings) -> Option<&'static str> {
    match (&settings.client_cert_file, &settings.client_key_file) {
        (Some(_), None) => {
            Some("EDGE_CLIENT_CERT_FILE without EDGE_CLIENT_KEY_FILE: no client certificate is presented")
        }
        (None, Some(_)) => {
            Some("EDGE_CLIENT_KEY_FILE without EDGE_CLIENT_CERT_FILE: no client certificate is presented")
        }
        _ => None,
    }
}

/// The certificates of a PEM file, at least one.
pub(super) fn certificates(
    setting: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, EdgeError> {
    let bad = |why| bad_file(setting, path, CERTIFICATES, why);
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(bad)?;
    if Vec::is_empty(&certificates) {
        return Err(bad(pem::Error::NoItemsFound));
    }
    Ok(certificates)
}

/// The private key of a PEM file.
pub(super) fn private_key(setting: &'static str, path: &Path) -> Result<PrivateKeyDer<'static>, EdgeError> {
    PrivateKeyDer::from_pem_file(path).map_err(|why| bad_file(setting, path, KEY, why))
}

fn parse(given: &str) -> Result<Url, EdgeError> {
    let url = Url::parse(given).map_err(|why| not_a_service(given, &why))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(not_a_service(given, &"it is neither https nor http"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(not_a_service(given, &"it holds a user or a password, which goes nowhere"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(not_a_service(given, &"it holds a query or a fragment, which goes nowhere"));
    }
    Ok(url)
}

fn client_config(settings: &EdgeSettings, style: Style, trust: Trust) -> Result<ClientConfig, EdgeError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = roots(settings.service_ca_file.as_deref())?;
    let lax = Lax::new(trust, settings.service_ca_file.is_some(), roots.clone(), &provider);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of the default protocol versions")
        .with_root_certificates(roots);
    let mut config = match (&settings.client_cert_file, &settings.client_key_file) {
        (Some(cert), Some(key)) => {
            let (cert_setting, key_setting) = ("EDGE_CLIENT_CERT_FILE", "EDGE_CLIENT_KEY_FILE");
            let chain = certificates(cert_setting, cert)?;
            let key = private_key(key_setting, key)?;
            builder.with_client_auth_cert(chain, key).map_err(|why| EdgeError::Pair {
                cert: cert_setting,
                key: key_setting,
                why: why.to_string(),
            })?
        }
        _ => builder.with_no_client_auth(),
    };
    if let Some(lax) = lax {
        config.dangerous().set_certificate_verifier(Arc::new(lax));
    }
    config.alpn_protocols = match style.outbound {
        Outbound::Negotiated => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        Outbound::Http1 => vec![b"http/1.1".to_vec()],
    };
    Ok(config)
}

/// The authorities of `SERVICE_CA_FILE` and no others; without it, the system's.
fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, EdgeError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca_file else {
        let system = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(system.certs);
        // On a machine without any, nothing is trusted: every collection is answered with 502.
        return Ok(roots);
    };
    for certificate in certificates("SERVICE_CA_FILE", path)? {
        roots.add(certificate).map_err(|why| EdgeError::File {
            setting: "SERVICE_CA_FILE",
            path: path.to_owned(),
            expected: CERTIFICATES,
            why: format!("holds a certificate of no use: {why}"),
        })?;
    }
    Ok(roots)
}

fn bad_file(setting: &'static str, path: &Path, expected: &'static str, why: pem::Error) -> EdgeError {
    let why = match why {
        pem::Error::Io(error) => format!("cannot be read: {error}"),
        pem::Error::NoItemsFound => "holds none".to_owned(),
        other => format!("is damaged: {other}"),
    };
    EdgeError::File { setting, path: path.to_owned(), expected, why }
}

fn not_a_service(given: &str, why: &dyn std::fmt::Display) -> EdgeError {
    // A password in it must not show, wherever the rest of the parse failed.
    let value = given.rsplit_once('@').map_or_else(|| given.to_owned(), |(_, rest)| format!("…@{rest}"));
    EdgeError::ServiceUrl { value, why: why.to_string() }
}
