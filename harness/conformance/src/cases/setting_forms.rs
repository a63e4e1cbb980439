use std::fmt;
use std::io;

use edgeproof_fixtures::credentials::{
    ALLOWED_ORIGIN, CredentialFiles, Credentials, EdgeSettings, Role, Secret,
};
use edgeproof_fixtures::spec::{
    AllowedOriginForm, CertificateFileForm, ServiceUrlForm, SettingChange, SettingPart,
};
use strum::EnumCount;

/// Path in `SERVICE_URL` of [`ServiceUrlForm::Prefix`].
pub const URL_PREFIX: &str = "/gateway/service";
/// Path in `SERVICE_URL` of [`ServiceUrlForm::EncodedPrefix`].
pub const URL_ENCODED_PREFIX: &str = "/a%2Fb%20c";
/// The second origin of [`AllowedOriginForm::Several`].
pub const SECOND_ORIGIN: &str = "https://desk.example";

/// Changes to the valid settings of one launch, at most one for each part of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SettingForms([Option<SettingChange>; SettingPart::COUNT]);

impl SettingForms {
    /// These changes. Of two changes to the same part the later one counts.
    pub fn new(changes: &[SettingChange]) -> Self {
        let mut forms = Self::default();
        for change in changes {
            forms.0[change.part() as usize] = Some(*change);
        }
        forms
    }

    /// The changes.
    pub fn changes(&self) -> impl Iterator<Item = SettingChange> {
        self.0.iter().copied().flatten()
    }

    /// The valid settings with the changes. Fails if a file cannot be written.
    pub fn settings(
        &self,
        mut settings: EdgeSettings,
        credentials: &Credentials,
        files: &CredentialFiles,
    ) -> io::Result<EdgeSettings> {
        let at = self.changes().find_map(|change| match change {
            SettingChange::Paths(form) => Some(form),
            _ => None,
        });
        if at.is_some() {
            let role = |role, key| files.role_file(credentials, role, key, at).map(Some);
            settings.service_ca_file = role(Role::ServiceAuthority, false)?;
            settings.client_cert_file = role(Role::ClientForLicense, false)?;
            settings.client_key_file = role(Role::ClientForLicense, true)?;
        }
        for change in self.changes() {
            match change {
                SettingChange::ServiceUrl(form) => {
                    settings.service_url = settings.service_url.and_then(|url| service_url(&url, form));
                }
                SettingChange::License(text) => {
                    settings.license = Some(Secret::new(credentials.license_text(text)));
                }
                SettingChange::AllowedOrigin(form) => settings.allowed_origin = allowed_origin(form),
                SettingChange::CaFile(form) => {
                    settings.service_ca_file = Some(files.ca_file(credentials, form, at)?);
                }
                SettingChange::Certificate(form) => {
                    let [cert, key] = files.certificate_files(credentials, form, at)?;
                    (settings.client_cert_file, settings.client_key_file) = (Some(cert), Some(key));
                }
                SettingChange::Key(form) => {
                    settings.client_key_file = Some(files.key_file(credentials, form, at)?);
                }
                SettingChange::Paths(_) => {}
            }
        }
        Ok(settings)
    }

    /// Whether the license is another text than a token, which only its own case recognises.
    pub fn has_other_license(&self) -> bool {
        self.changes().any(|change| matches!(change, SettingChange::License(_)))
    }

    /// Whether it is open which origin the edge allows.
    pub fn is_origin_open(&self) -> bool {
        self.changes().any(|change| match change {
            SettingChange::AllowedOrigin(form) => page_origin(form).is_none(),
            _ => false,
        })
    }

    /// Whether a monitor does not know which client certificate the edge has to present. An edge may not read each form of a
    /// launch with several of them: then their cases play again alone.
    pub fn is_certificate_open(&self) -> bool {
        let is_open = |change: SettingChange| match change {
            SettingChange::Certificate(CertificateFileForm::Missing) => true,
            SettingChange::Key(_) => change.is_unusable(),
            _ => false,
        };
        self.changes().any(is_open) || self.changes().nth(1).is_some()
    }
}

impl fmt::Display for SettingForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.changes().map(SettingChange::name).collect();
        f.write_str(&names.join(", "))
    }
}

/// The origin whose pages this form of `ALLOWED_ORIGIN` allows. None: open.
pub fn page_origin(form: AllowedOriginForm) -> Option<&'static str> {
    match form {
        AllowedOriginForm::Localhost => Some("http://localhost:5173"),
        AllowedOriginForm::Ipv6 => Some("https://[2001:db8::1]:8443"),
        AllowedOriginForm::Slash
        | AllowedOriginForm::UpperCase
        | AllowedOriginForm::Several
        | AllowedOriginForm::Empty
        | AllowedOriginForm::Unset => None,
    }
}

fn allowed_origin(form: AllowedOriginForm) -> Option<String> {
    let text = match form {
        AllowedOriginForm::Localhost | AllowedOriginForm::Ipv6 => page_origin(form)?.to_owned(),
        AllowedOriginForm::Slash => format!("{ALLOWED_ORIGIN}/"),
        AllowedOriginForm::UpperCase => ALLOWED_ORIGIN.to_ascii_uppercase(),
        AllowedOriginForm::Several => format!("{ALLOWED_ORIGIN},{SECOND_ORIGIN}"),
        AllowedOriginForm::Empty => String::new(),
        AllowedOriginForm::Unset => return None,
    };
    Some(text)
}

/// Another form of a URL with scheme, host and port. None: not set.
fn service_url(url: &str, form: ServiceUrlForm) -> Option<String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let host_end = rest.find([':', '/']).unwrap_or(rest.len());
    let (host, after) = rest.split_at(host_end);
    Some(match form {
        ServiceUrlForm::SchemeUpperCase => format!("{}://{rest}", scheme.to_ascii_uppercase()),
        ServiceUrlForm::HostUpperCase => format!("{scheme}://{}{after}", host.to_ascii_uppercase()),
        ServiceUrlForm::Ipv4 => format!("{scheme}://127.0.0.1{after}"),
        ServiceUrlForm::Prefix => format!("{url}{URL_PREFIX}"),
        ServiceUrlForm::EncodedPrefix => format!("{url}{URL_ENCODED_PREFIX}"),
        ServiceUrlForm::Slash => format!("{url}/"),
        ServiceUrlForm::Unset => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use edgeproof_fixtures::credentials::{LicenseForm, MintOptions};
    use edgeproof_fixtures::spec::{Spec, Version};

    use super::*;

    /// More launches would make each run slower.
    const MOST_LAUNCHES: usize = 13;

    #[test]
    fn each_launch_changes_the_named_settings() {
        let credentials = Credentials::mint(&MintOptions::default()).unwrap();
        let files = CredentialFiles::write(&credentials).unwrap();
        let standard = files.settings(&credentials, "https://localhost:4433", ALLOWED_ORIGIN);
        let folder = files.folder().display().to_string();
        let spec = Spec::builtin(Version::Current);
        let launches = spec.variation().launches();
        assert!(launches.len() <= MOST_LAUNCHES, "{} launches", launches.len());
        let mut text = String::new();
        for launch in launches {
            let forms = SettingForms::new(&launch);
            assert_eq!(forms.changes().count(), launch.len(), "two changes of a part: {launch:?}");
            writeln!(text, "{forms}").unwrap();
            let settings = forms.settings(standard.clone(), &credentials, &files).unwrap();
            let license = settings.license.as_ref().unwrap().expose().to_owned();
            for line in settings.redacted().iter().skip(1) {
                writeln!(text, "  {}", line.replace(&folder, "DIR")).unwrap();
            }
            let valid = credentials.license(LicenseForm::Valid);
            assert_eq!(license == valid, !forms.has_other_license(), "{forms}");
        }
        insta::assert_snapshot!(text);
    }
}
