use std::time::SystemTime;

use edgeproof_fixtures::credentials::{
    ClientCertificateFault, Credentials, LicenseClaims, Role, VerifiedTokens, check_client_certificate,
};
use edgeproof_fixtures::seal::CollectionFault;
use edgeproof_fixtures::spec::Stimulus;
use http::HeaderMap;
use rustls_pki_types::CertificateDer;

use super::{Outage, presented_licenses};

/// Facts of a relayed collection: all inputs of [`decide`](super::decide) besides the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionFacts {
    /// Claims of the license, or the stimulus of its refusal.
    pub license: Result<LicenseClaims, Stimulus>,
    /// Fault of license checks.
    pub outage: Option<Outage>,
    /// Result of the client certificate check for that license.
    pub certificate: Result<(), ClientCertificateFault>,
    /// Length of the body, in bytes.
    pub body_length: u64,
    /// Result of opening the body: its first fault.
    pub collection: Result<(), CollectionFault>,
    /// Result of the replay check.
    pub replay: Replay,
}

/// Result of a replay check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// Not accepted within the replay window.
    Fresh,
    /// Accepted before from the same edge.
    Copy,
    /// Accepted before from another edge.
    CopyFromElsewhere,
}

/// The parts of a relayed request that the checks read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelayedRequest<'a> {
    /// Request target.
    pub(crate) target: &'a str,
    /// Header fields.
    pub(crate) headers: &'a HeaderMap,
    /// Certificates from the handshake, the leaf first.
    pub(crate) client_certificates: &'a [CertificateDer<'static>],
    /// Length of the whole body, in bytes.
    pub(crate) body_length: u64,
}

impl CollectionFacts {
    /// Checks the credentials of a request. Of several licenses a valid one counts, otherwise the first.
    pub(crate) fn new(
        request: RelayedRequest<'_>,
        credentials: &Credentials,
        tokens: &VerifiedTokens,
        collection: Result<(), CollectionFault>,
        outage: Option<Outage>,
        now: SystemTime,
    ) -> Self {
        let (keys, revoked) = (credentials.keys(), credentials.revocations());
        let check = |token: Option<&str>| tokens.check_license(token, keys, revoked, now);
        let mut checked =
            presented_licenses(request.target, request.headers).into_iter().map(|token| check(Some(&token)));
        let license = match checked.next() {
            None => check(None),
            Some(first) => first.or_else(|stimulus| checked.find_map(Result::ok).ok_or(stimulus)),
        };
        let authority = credentials.certificate(Role::ClientAuthority);
        let license_id = license.as_ref().map(|claims| claims.license_id.as_str()).unwrap_or_default();
        let certificate =
            check_client_certificate(request.client_certificates, authority.der(), license_id, revoked, now);
        Self {
            certificate: match certificate {
                // Without a valid license there is none that the certificate could match.
                Err(ClientCertificateFault::OtherLicense) if license.is_err() => Ok(()),
                certificate => certificate,
            },
            license,
            outage,
            body_length: request.body_length,
            collection,
            replay: Replay::Fresh,
        }
    }
}

impl Replay {
    /// Stimulus of the refusal; none for a fresh collection.
    pub fn stimulus(self) -> Option<Stimulus> {
        match self {
            Self::Fresh => None,
            Self::Copy => Some(Stimulus::Replayed),
            Self::CopyFromElsewhere => Some(Stimulus::ReplayedElsewhere),
        }
    }
}
