use std::time::SystemTime;

use edgeproof_fixtures::credentials::{
    ClientCertificateFault, Credentials, LicenseClaims, Role, check_client_certificate, check_license,
};
use edgeproof_fixtures::seal::CollectionFault;
use edgeproof_fixtures::spec::Stimulus;
use http::HeaderMap;
use rustls_pki_types::CertificateDer;

use super::{Outage, presented_licenses};

/// What the mock service saw of a relayed collection: all that its decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionFacts {
    /// The license, or why it is none.
    pub license: Result<LicenseClaims, Stimulus>,
    /// What keeps the service from checking licenses.
    pub outage: Option<Outage>,
    /// The client certificate, judged for that license.
    pub certificate: Result<(), ClientCertificateFault>,
    /// Length of the body, in bytes.
    pub body_length: u64,
    /// The body is a collection that opens and is complete, or the first thing that is wrong with it.
    pub collection: Result<(), CollectionFault>,
    /// Whether the collection was accepted before.
    pub replay: Replay,
}

/// Whether a collection was accepted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// Not inside the window.
    Fresh,
    /// It came by the same edge.
    Copy,
    /// It came by another edge.
    CopyFromElsewhere,
}

/// A request as far as it is looked at.
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
    /// Looks at a request, whose body was looked at already. Of several licenses, a valid one counts; otherwise the first.
    pub(crate) fn of(
        request: RelayedRequest<'_>,
        credentials: &Credentials,
        collection: Result<(), CollectionFault>,
        outage: Option<Outage>,
        now: SystemTime,
    ) -> Self {
        let check =
            |token: Option<&str>| check_license(token, credentials.keys(), credentials.revocations(), now);
        let mut checked =
            presented_licenses(request.target, request.headers).into_iter().map(|token| check(Some(&token)));
        let license = match checked.next() {
            None => check(None),
            Some(first) => first.or_else(|stimulus| checked.find_map(Result::ok).ok_or(stimulus)),
        };
        let authority = credentials.certificate(Role::ClientAuthority);
        let license_id = license.as_ref().map(|claims| claims.license_id.as_str()).unwrap_or_default();
        let certificate = check_client_certificate(
            request.client_certificates,
            authority.der(),
            license_id,
            credentials.revocations(),
            now,
        );
        Self {
            certificate: match certificate {
                // Without a license, there is none that it could be for.
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
    /// The cause of a refusal that it is.
    pub fn stimulus(self) -> Option<Stimulus> {
        match self {
            Self::Fresh => None,
            Self::Copy => Some(Stimulus::Replayed),
            Self::CopyFromElsewhere => Some(Stimulus::ReplayedElsewhere),
        }
    }
}
