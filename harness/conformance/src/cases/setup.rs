use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use edgeproof_fixtures::credentials::{
    ALLOWED_ORIGIN, CredentialFiles, Credentials, EdgeSettings, LicenseForm, Role, Secret,
};

use super::setting_forms::SettingForms;

/// Origin that the edge allows in [`Setup::OtherLicense`].
pub const OTHER_ALLOWED_ORIGIN: &str = "https://desk.example:8443";
/// Service URL in [`Setup::NameUnresolved`]: no name under `.invalid` resolves (RFC 6761 §6.4).
const UNRESOLVED: &str = "https://service.invalid";

/// The settings that an edge starts with: the standard ones, or one change to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Setup {
    /// Valid settings.
    Standard,
    /// Valid settings for another license and another origin.
    OtherLicense,
    /// A read token in place of the license.
    ReadTokenAsLicense,
    /// No `LICENSE`.
    NoLicense,
    /// An expired license.
    WrongLicense,
    /// Neither client certificate nor key.
    NoCertificate,
    /// A client certificate that the service did not issue.
    ForeignCertificate,
    /// A client certificate of another license.
    MismatchedCertificate,
    /// A revoked client certificate.
    RevokedCertificate,
    /// An expired client certificate.
    ExpiredCertificate,
    /// A client certificate without its key.
    CertificateWithoutKey,
    /// The key of a client certificate without the certificate.
    KeyWithoutCertificate,
    /// No `SERVICE_CA_FILE`, but a service certificate from a private CA.
    NoCaFile,
    /// `SERVICE_URL` with a closed port. The caller passes the URL of a port that it reserved.
    PortClosed,
    /// `SERVICE_URL` with a host that does not resolve.
    NameUnresolved,
    /// Valid settings in other forms.
    Forms(SettingForms),
}

impl Setup {
    /// Text for messages, to follow "an edge with".
    pub fn describe(self) -> Cow<'static, str> {
        let text = match self {
            Self::Forms(forms) => return format!("settings in other forms: {forms}").into(),
            Self::Standard => "six valid settings",
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
            Self::NoCaFile => "SERVICE_CA_FILE not set, and a service with a private CA",
            Self::PortClosed => "a SERVICE_URL with a closed port",
            Self::NameUnresolved => "a SERVICE_URL that does not resolve",
        };
        text.into()
    }

    /// Whether only its own case recognises the license.
    pub fn has_other_license(self) -> bool {
        matches!(self, Self::Forms(forms) if forms.has_other_license())
    }

    /// Whether it is open which origin the edge allows.
    pub fn is_origin_open(self) -> bool {
        matches!(self, Self::Forms(forms) if forms.is_origin_open())
    }

    /// Whether it is open which client certificate the edge presents.
    pub fn is_certificate_open(self) -> bool {
        match self {
            Self::ExpiredCertificate => true,
            Self::Forms(forms) => forms.is_certificate_open(),
            _ => false,
        }
    }

    /// Whether no service can be reached with these settings.
    pub fn is_without_service(self) -> bool {
        matches!(self, Self::NoCaFile | Self::PortClosed | Self::NameUnresolved)
    }

    /// The settings. `service_url`: URL of the mock service, or of the closed port for [`Setup::PortClosed`]. Fails if a
    /// file in another form cannot be written.
    pub fn settings(
        self,
        credentials: &Credentials,
        files: &CredentialFiles,
        service_url: &str,
    ) -> io::Result<EdgeSettings> {
        let standard = files.settings(credentials, service_url, ALLOWED_ORIGIN);
        let license = |form| Some(Secret::new(credentials.license(form)));
        let with_certificate = |role| {
            let (client_cert_file, client_key_file) = pair(files, role);
            EdgeSettings { client_cert_file, client_key_file, ..standard.clone() }
        };
        let settings = match self {
            Self::Forms(forms) => return forms.settings(standard, credentials, files),
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
        };
        Ok(settings)
    }
}

fn pair(files: &CredentialFiles, role: Role) -> (Option<PathBuf>, Option<PathBuf>) {
    (Some(files.certificate(role)), files.key(role))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use edgeproof_fixtures::credentials::MintOptions;

    use super::*;

    /// The setups without forms.
    const SETUPS: [Setup; 15] = [
        Setup::Standard,
        Setup::OtherLicense,
        Setup::ReadTokenAsLicense,
        Setup::NoLicense,
        Setup::WrongLicense,
        Setup::NoCertificate,
        Setup::ForeignCertificate,
        Setup::MismatchedCertificate,
        Setup::RevokedCertificate,
        Setup::ExpiredCertificate,
        Setup::CertificateWithoutKey,
        Setup::KeyWithoutCertificate,
        Setup::NoCaFile,
        Setup::PortClosed,
        Setup::NameUnresolved,
    ];

    #[test]
    fn each_setup_changes_the_named_settings() {
        let credentials = Credentials::mint(&MintOptions::default()).unwrap();
        let files = CredentialFiles::write(&credentials).unwrap();
        let folder = files.folder().display().to_string();
        let names: Vec<(String, String)> = LicenseForm::ALL
            .map(|form| (Secret::new(credentials.license(form)).digest(), form.label().to_owned()))
            .into();
        let mut text = String::new();
        for setup in SETUPS {
            writeln!(text, "{setup:?}: {}", setup.describe()).unwrap();
            let settings = setup.settings(&credentials, &files, "https://127.0.0.1:4433").unwrap();
            for line in settings.redacted() {
                let line = line.replace(&folder, "DIR");
                let line = names.iter().fold(line, |line, (digest, label)| line.replace(digest, label));
                writeln!(text, "  {line}").unwrap();
            }
        }
        insta::assert_snapshot!(text);
    }
}
