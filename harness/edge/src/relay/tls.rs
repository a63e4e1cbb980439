use std::path::Path;
use std::sync::Arc;

use edgeproof_fixtures::credentials::EdgeSettings;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

use super::upstream::CertificateCheck;
use crate::error::EdgeError;

const CERTIFICATES: &str = "certificates (BEGIN CERTIFICATE)";
const KEY: &str = "a private key (BEGIN PRIVATE KEY)";

/// TLS configuration for connections to the service. Reads the files of the settings.
pub(super) fn client_config(
    settings: &EdgeSettings,
    check: CertificateCheck,
    http2: bool,
) -> Result<ClientConfig, EdgeError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = roots(settings.service_ca_file.as_deref())?;
    let lenient = LenientVerifier::new(check, settings.service_ca_file.is_some(), roots.clone(), &provider);
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
    if let Some(lenient) = lenient {
        config.dangerous().set_certificate_verifier(Arc::new(lenient));
    }
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    if http2 {
        config.alpn_protocols.insert(0, b"h2".to_vec());
    }
    Ok(config)
}

/// Log line if only one of client certificate and key is set; the edge then presents no certificate.
pub(crate) fn unpaired_file_warning(settings: &EdgeSettings) -> Option<&'static str> {
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

/// Certificates of a PEM file, at least one.
pub(crate) fn certificates(
    setting: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, EdgeError> {
    let invalid = |why| invalid_file(setting, path, CERTIFICATES, why);
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(invalid)?;
    if Vec::is_empty(&certificates) {
        return Err(invalid(pem::Error::NoItemsFound));
    }
    Ok(certificates)
}

/// Private key of a PEM file.
pub(crate) fn private_key(setting: &'static str, path: &Path) -> Result<PrivateKeyDer<'static>, EdgeError> {
    PrivateKeyDer::from_pem_file(path).map_err(|why| invalid_file(setting, path, KEY, why))
}

/// CAs of `SERVICE_CA_FILE` only (default: system roots).
fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, EdgeError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca_file else {
        let system = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(system.certs);
        // Without system roots the edge trusts no service and answers every collection with 502.
        return Ok(roots);
    };
    for certificate in certificates("SERVICE_CA_FILE", path)? {
        roots.add(certificate).map_err(|why| EdgeError::File {
            setting: "SERVICE_CA_FILE",
            path: path.to_owned(),
            expected: CERTIFICATES,
            why: format!("invalid certificate: {why}"),
        })?;
    }
    Ok(roots)
}

fn invalid_file(setting: &'static str, path: &Path, expected: &'static str, why: pem::Error) -> EdgeError {
    let why = match why {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => format!("the file does not contain {expected}"),
        other => format!("invalid PEM: {other}"),
    };
    EdgeError::File { setting, path: path.to_owned(), expected, why }
}

/// Verifier that ignores the errors that a [`CertificateCheck`] ignores. Only faulty edges use it.
#[derive(Debug)]
struct LenientVerifier {
    check: CertificateCheck,
    /// Unset if there are no roots.
    full: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl LenientVerifier {
    /// `None` if the check is full.
    fn new(
        check: CertificateCheck,
        has_ca_file: bool,
        roots: RootCertStore,
        provider: &Arc<CryptoProvider>,
    ) -> Option<Self> {
        let check = match check {
            CertificateCheck::Full => return None,
            CertificateCheck::OffWithoutCaFile if has_ca_file => return None,
            CertificateCheck::OffWithoutCaFile => CertificateCheck::Off,
            other => other,
        };
        let provider = Arc::clone(provider);
        let full = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        Some(Self { check, full: full.build().ok(), provider })
    }

    fn ignores(&self, error: &Error) -> bool {
        use CertificateError::{Expired, ExpiredContext, NotValidForName, NotValidForNameContext};
        let Error::InvalidCertificate(error) = error else { return false };
        match self.check {
            CertificateCheck::IgnoreHost => {
                matches!(error, NotValidForName | NotValidForNameContext { .. })
            }
            CertificateCheck::IgnoreExpiry => matches!(error, Expired | ExpiredContext { .. }),
            CertificateCheck::Full | CertificateCheck::Off | CertificateCheck::OffWithoutCaFile => false,
        }
    }
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        issuers: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.check == CertificateCheck::Off {
            return Ok(ServerCertVerified::assertion());
        }
        let Some(full) = &self.full else {
            return Err(Error::InvalidCertificate(CertificateError::UnknownIssuer));
        };
        full.verify_server_cert(leaf, issuers, name, stapled, now).or_else(|error| {
            if self.ignores(&error) { Ok(ServerCertVerified::assertion()) } else { Err(error) }
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, leaf, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, leaf, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
