use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::fault_hooks::Trust;

/// Verifies as the interface asks for, and forgives what a deviation forgives.
#[derive(Debug)]
pub(super) struct Lax {
    trust: Trust,
    /// None where there is nobody to trust.
    right: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Lax {
    /// None where nothing is forgiven. `has_file`: `SERVICE_CA_FILE` is set.
    pub(super) fn new(
        trust: Trust,
        has_file: bool,
        roots: RootCertStore,
        provider: &Arc<CryptoProvider>,
    ) -> Option<Self> {
        let trust = match trust {
            Trust::Right => return None,
            Trust::AllWithoutCaFile if has_file => return None,
            Trust::AllWithoutCaFile => Trust::All,
            other => other,
        };
        let provider = Arc::clone(provider);
        let right = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        Some(Self { trust, right: right.build().ok(), provider })
    }
}

impl ServerCertVerifier for Lax {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        issuers: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.trust == Trust::All {
            return Ok(ServerCertVerified::assertion());
        }
        let Some(right) = &self.right else {
            return Err(Error::InvalidCertificate(CertificateError::UnknownIssuer));
        };
        right.verify_server_cert(leaf, issuers, name, stapled, now).or_else(|why| {
            if forgives(self.trust, &why) { Ok(ServerCertVerified::assertion()) } else { Err(why) }
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

fn forgives(trust: Trust, why: &Error) -> bool {
    use CertificateError::{Expired, ExpiredContext, NotValidForName, NotValidForNameContext};
    let Error::InvalidCertificate(why) = why else { return false };
    match trust {
        Trust::AnyHost => matches!(why, NotValidForName | NotValidForNameContext { .. }),
        Trust::AnyTime => matches!(why, Expired | ExpiredContext { .. }),
        Trust::Right | Trust::All | Trust::AllWithoutCaFile => false,
    }
}
