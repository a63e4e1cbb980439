use std::time::SystemTime;

use edgeproof_fixtures::credentials::{
    ClientCertificateFault, Credentials, LicenseClaims, Role, check_client_certificate, check_license,
};
use edgeproof_fixtures::seal::CollectionFault;
use edgeproof_fixtures::spec::Stimulus;
use http::HeaderMap;
use rustls_pki_types::CertificateDer;

use super::presented::presented_licenses;
use super::replay::Replay;

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

/// A fault of the service's own that keeps it from checking licenses (7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// The check ends without a result.
    CheckUnknown,
    /// The check itself fails.
    CheckFails,
    /// There are no license keys.
    KeysMissing,
    /// The license keys' address is not secure.
    KeysInsecure,
}

/// A request as far as it is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    /// Request target.
    pub(super) target: &'a str,
    /// Header fields.
    pub(super) headers: &'a HeaderMap,
    /// Certificates from the handshake, the leaf first.
    pub(super) client_certificates: &'a [CertificateDer<'static>],
    /// Length of the whole body, in bytes.
    pub(super) body_length: u64,
}

impl CollectionFacts {
    /// Looks at a request, whose body was looked at already. Of several licenses, a valid one counts; otherwise the first.
    pub(super) fn of(
        seen: Seen<'_>,
        credentials: &Credentials,
        collection: Result<(), CollectionFault>,
        outage: Option<Outage>,
        now: SystemTime,
    ) -> Self {
        let check =
            |token: Option<&str>| check_license(token, credentials.keys(), credentials.revocations(), now);
        let mut checked =
            presented_licenses(seen.target, seen.headers).into_iter().map(|token| check(Some(&token)));
        let license = match checked.next() {
            None => check(None),
            Some(first) => first.or_else(|cause| checked.find_map(Result::ok).ok_or(cause)),
        };
        let authority = credentials.certificate(Role::ClientAuthority);
        let license_id = license.as_ref().map(|claims| claims.license_id.as_str()).unwrap_or_default();
        let certificate = check_client_certificate(
            seen.client_certificates,
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
            body_length: seen.body_length,
            collection,
            replay: Replay::Fresh,
        }
    }
}

impl Outage {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::CheckUnknown, Self::CheckFails, Self::KeysMissing, Self::KeysInsecure];

    /// The outage that is this cause of a refusal.
    pub fn for_stimulus(stimulus: Stimulus) -> Option<Self> {
        Self::ALL.into_iter().find(|outage| outage.stimulus() == stimulus)
    }

    /// The cause of a refusal that it is.
    pub fn stimulus(self) -> Stimulus {
        match self {
            Self::CheckUnknown => Stimulus::LicenseCheckUnknown,
            Self::CheckFails => Stimulus::LicenseCheckFails,
            Self::KeysMissing => Stimulus::LicenseKeysMissing,
            Self::KeysInsecure => Stimulus::LicenseKeysInsecure,
        }
    }
}
