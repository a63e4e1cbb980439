use std::path::PathBuf;

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, EdgeSettings, LicenseForm, Role, Secret,
};

/// Origin of the page that an edge is set up for.
pub const ALLOWED_ORIGIN: &str = "https://shop.example";
/// Origin of the page in [`Setup::OtherLicense`].
pub const OTHER_ALLOWED_ORIGIN: &str = "https://desk.example:8443";
/// Where the service is in [`Setup::NameUnresolved`]: no name under `.invalid` ever resolves (RFC 6761 §6.4).
const UNRESOLVED: &str = "https://service.invalid";

/// The settings that an edge is started with: those that let it work, or those with one thing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Setup {
    /// Everything is right.
    Standard,
    /// Everything is right, for another license and another page.
    OtherLicense,
    /// A read token in place of the license.
    ReadTokenAsLicense,
    /// No `LICENSE`.
    NoLicense,
    /// A license that has expired.
    WrongLicense,
    /// Neither client certificate nor key.
    NoCertificate,
    /// A client certificate that the service did not issue.
    ForeignCertificate,
    /// A client certificate of another license.
    MismatchedCertificate,
    /// A client certificate that was revoked.
    RevokedCertificate,
    /// A client certificate that has expired.
    ExpiredCertificate,
    /// A client certificate without its key.
    CertificateWithoutKey,
    /// The key of a client certificate without the certificate.
    KeyWithoutCertificate,
    /// No `SERVICE_CA_FILE`, though the service's certificate is from a private authority.
    NoCaFile,
    /// `SERVICE_URL` names a port where nobody listens yet: the caller gives the URL of a
    /// [`HeldPort`](super::HeldPort).
    PortClosed,
    /// `SERVICE_URL` names a host that does not exist.
    NameUnresolved,
}

impl Setup {
    /// Every setup, the one that works first.
    pub const ALL: [Self; 15] = [
        Self::Standard,
        Self::OtherLicense,
        Self::ReadTokenAsLicense,
        Self::NoLicense,
        Self::WrongLicense,
        Self::NoCertificate,
        Self::ForeignCertificate,
        Self::MismatchedCertificate,
        Self::RevokedCertificate,
        Self::ExpiredCertificate,
        Self::CertificateWithoutKey,
        Self::KeyWithoutCertificate,
        Self::NoCaFile,
        Self::PortClosed,
        Self::NameUnresolved,
    ];

    /// A slug, the same in every version.
    pub fn id(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::OtherLicense => "other-license",
            Self::ReadTokenAsLicense => "read-token-as-license",
            Self::NoLicense => "no-license",
            Self::WrongLicense => "wrong-license",
            Self::NoCertificate => "no-certificate",
            Self::ForeignCertificate => "foreign-certificate",
            Self::MismatchedCertificate => "mismatched-certificate",
            Self::RevokedCertificate => "revoked-certificate",
            Self::ExpiredCertificate => "expired-certificate",
            Self::CertificateWithoutKey => "certificate-without-key",
            Self::KeyWithoutCertificate => "key-without-certificate",
            Self::NoCaFile => "no-ca-file",
            Self::PortClosed => "port-closed",
            Self::NameUnresolved => "name-unresolved",
        }
    }

    /// In words, for people: what follows "an edge with …".
    pub fn describe(self) -> &'static str {
        match self {
            Self::Standard => "all six settings, and all of them right",
            Self::OtherLicense => "another license, its client certificate, and another ALLOWED_ORIGIN",
            Self::ReadTokenAsLicense => "a read token as LICENSE",
            Self::NoLicense => "LICENSE not set",
            Self::WrongLicense => "an expired license as LICENSE",
            Self::NoCertificate => "EDGE_CLIENT_CERT_FILE and EDGE_CLIENT_KEY_FILE not set",
            Self::ForeignCertificate => "a client certificate that the service did not issue",
            Self::MismatchedCertificate => "a client certificate of another license than LICENSE",
            Self::RevokedCertificate => "a revoked client certificate",
            Self::ExpiredCertificate => "an expired client certificate",
            Self::CertificateWithoutKey => "EDGE_CLIENT_CERT_FILE set and EDGE_CLIENT_KEY_FILE not",
            Self::KeyWithoutCertificate => "EDGE_CLIENT_KEY_FILE set and EDGE_CLIENT_CERT_FILE not",
            Self::NoCaFile => "SERVICE_CA_FILE not set, and a service whose authority is private",
            Self::PortClosed => "a SERVICE_URL where nobody listens",
            Self::NameUnresolved => "a SERVICE_URL whose host does not exist",
        }
    }

    /// The settings. `service_url` is where the mock service is, or for [`Setup::PortClosed`] will be.
    pub fn settings(
        self,
        credentials: &Credentials,
        files: &CredentialFiles,
        service_url: &str,
    ) -> EdgeSettings {
        let standard = files.settings(credentials, service_url, ALLOWED_ORIGIN);
        let license = |form| Some(Secret::new(credentials.license(form)));
        let with_certificate = |role| {
            let (client_cert_file, client_key_file) = pair(files, role);
            EdgeSettings { client_cert_file, client_key_file, ..standard.clone() }
        };
        match self {
            Self::Standard | Self::PortClosed => standard,
            Self::OtherLicense => EdgeSettings {
                license: license(LicenseForm::OtherLicense),
                allowed_origin: Some(OTHER_ALLOWED_ORIGIN.to_owned()),
                ..with_certificate(Role::ClientForOtherLicense)
            },
            Self::ReadTokenAsLicense => EdgeSettings { license: license(LicenseForm::ReadToken), ..standard },
            Self::NoLicense => EdgeSettings { license: None, ..standard },
            Self::WrongLicense => EdgeSettings { license: license(LicenseForm::Expired), ..standard },
            Self::NoCertificate => EdgeSettings { client_cert_file: None, client_key_file: None, ..standard },
            Self::ForeignCertificate => with_certificate(Role::ClientForeign),
            Self::MismatchedCertificate => with_certificate(Role::ClientForOtherLicense),
            Self::RevokedCertificate => with_certificate(Role::ClientRevoked),
            Self::ExpiredCertificate => with_certificate(Role::ClientExpired),
            Self::CertificateWithoutKey => EdgeSettings { client_key_file: None, ..standard },
            Self::KeyWithoutCertificate => EdgeSettings { client_cert_file: None, ..standard },
            Self::NoCaFile => EdgeSettings { service_ca_file: None, ..standard },
            Self::NameUnresolved => EdgeSettings { service_url: Some(UNRESOLVED.to_owned()), ..standard },
        }
    }
}

fn pair(files: &CredentialFiles, role: Role) -> (Option<PathBuf>, Option<PathBuf>) {
    (Some(files.certificate(role)), files.key(role))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write;

    use edgeproof_fixtures::credentials::MintOptions;

    use super::*;

    #[test]
    fn each_setup_changes_what_its_name_says() {
        let credentials = Credentials::mint(&MintOptions::default()).unwrap();
        let files = CredentialFiles::write(&credentials).unwrap();
        let folder = files.folder().display().to_string();
        let names: Vec<(String, String)> = LicenseForm::ALL
            .map(|form| (Secret::new(credentials.license(form)).digest(), form.label().to_owned()))
            .into();
        let mut text = String::new();
        for setup in Setup::ALL {
            writeln!(text, "{}: {}", setup.id(), setup.describe()).unwrap();
            for line in setup.settings(&credentials, &files, "https://127.0.0.1:4433").redacted() {
                let line = line.replace(&folder, "DIR");
                let line = names.iter().fold(line, |line, (digest, label)| line.replace(digest, label));
                writeln!(text, "  {line}").unwrap();
            }
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn no_setup_is_missing_or_there_twice() {
        assert_eq!(Setup::ALL.iter().collect::<BTreeSet<_>>().len(), Setup::ALL.len());
        assert_eq!(Setup::ALL.map(Setup::id).iter().collect::<BTreeSet<_>>().len(), Setup::ALL.len());
        assert_eq!(Setup::ALL.last().map(|last| *last as usize + 1), Some(Setup::ALL.len()));
    }
}
