//! Fault hooks of an edge that handles one form of a setting wrongly.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use edgeproof::cases::page_origin;
use edgeproof_edge::{CertificateCheck, EdgeOptions};
use edgeproof_fixtures::credentials::{EdgeSettings, Secret};
use edgeproof_fixtures::spec::{
    AllowedOriginForm, CaFileForm, CertificateFileForm, KeyFileForm, LicenseText, PathForm, ServiceUrlForm,
    SettingChange,
};

use crate::behaviour::{Answer, Change, Condition, Engine, Page, Seen, Setup};
use crate::edge::EdgeEffect;
use crate::mutation::{SettingFault, SettingMutation};

/// Closed port: nothing listens on port 1.
const CLOSED: &str = "https://localhost:1";
/// Length at which a license is cut.
const CUT: usize = 1024;
/// Text of the comments in PEM files.
const COMMENT: &str = "Bag Attributes";

/// Changes the options of an edge whose settings have the form.
pub(super) fn inject(mutation: &SettingMutation, options: &mut EdgeOptions) {
    if !has_form(mutation.change, &options.settings) {
        return;
    }
    let settings = &mut options.settings;
    match mutation.fault {
        SettingFault::Fails => match mutation.change {
            SettingChange::AllowedOrigin(_) => settings.allowed_origin = None,
            SettingChange::CaFile(_) => settings.service_ca_file = None,
            _ => settings.service_url = Some(CLOSED.to_owned()),
        },
        SettingFault::Distorts => distort(mutation.change, options),
        SettingFault::TrustsAny => settings.service_ca_file = None,
        // Without its unusable files, and with a service URL, the edge starts.
        SettingFault::AcceptsAnyway if mutation.change.is_unusable() => {
            (settings.client_cert_file, settings.client_key_file) = (None, None);
            settings.service_url.get_or_insert_with(|| CLOSED.to_owned());
        }
        SettingFault::AcceptsAnyway | SettingFault::GrantsAny => {}
    }
    let (when, then) = match mutation.fault {
        SettingFault::Fails | SettingFault::Distorts => return,
        SettingFault::TrustsAny => (Condition::Always, EdgeEffect::ChecksCertificate(CertificateCheck::Off)),
        SettingFault::AcceptsAnyway => {
            let accepted = |_: &Seen<'_>| Answer::json(200, r#"{"ok":true}"#).without("content-type");
            (Condition::Collection, EdgeEffect::Instead(Page::Made(accepted)))
        }
        SettingFault::GrantsAny => (Condition::Always, EdgeEffect::Answering(Change::Grants(|_, _| true))),
    };
    options.hooks = Arc::new(Engine::of(Condition::Always, vec![(when, then)], Setup::of_edge(options)));
}

fn distort(change: SettingChange, options: &mut EdgeOptions) {
    let settings = &mut options.settings;
    match change {
        SettingChange::ServiceUrl(ServiceUrlForm::Slash) => options.profile.relay_path.insert(0, '/'),
        SettingChange::ServiceUrl(ServiceUrlForm::EncodedPrefix) => {
            settings.service_url = settings.service_url.take().map(|url| url.replace("%2F", "/"));
        }
        SettingChange::ServiceUrl(_) => {
            let base = |url: String| url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
            settings.service_url = settings.service_url.take().map(base);
        }
        SettingChange::License(_) => {
            let license = settings.license.take();
            settings.license = license.map(|license| {
                let text = license.expose();
                Secret::new(text.get(..CUT).unwrap_or(text.trim_end_matches('=')))
            });
        }
        SettingChange::Certificate(_) => leaf_only(settings),
        _ => {}
    }
}

/// Presents the first certificate of the file only.
fn leaf_only(settings: &mut EdgeSettings) {
    const END: &str = "-----END CERTIFICATE-----\n";
    let Some(file) = &settings.client_cert_file else { return };
    let leaf = file.with_extension("leaf");
    let pem = read(file);
    let end = pem.find(END).map_or(pem.len(), |at| at + END.len());
    if fs::write(&leaf, &pem[..end]).is_ok() {
        settings.client_cert_file = Some(leaf);
    }
}

/// Whether settings have a form.
fn has_form(change: SettingChange, settings: &EdgeSettings) -> bool {
    let url = settings.service_url.as_deref().unwrap_or_default();
    let license = settings.license.as_ref().map(Secret::expose).unwrap_or_default();
    let origin = settings.allowed_origin.as_deref();
    let content = |file: &Option<std::path::PathBuf>| file.as_deref().map(read).unwrap_or_default();
    let (ca, cert) = (content(&settings.service_ca_file), content(&settings.client_cert_file));
    let key = content(&settings.client_key_file);
    let is_missing = |file: &Option<std::path::PathBuf>| file.as_deref().is_some_and(|file| !file.exists());
    match change {
        SettingChange::ServiceUrl(form) => match form {
            ServiceUrlForm::SchemeUpperCase => url.starts_with("HTTPS:"),
            ServiceUrlForm::HostUpperCase => url.contains("://LOCALHOST"),
            ServiceUrlForm::Ipv4 => url.contains("://127.0.0.1"),
            ServiceUrlForm::Prefix => url.contains("/gateway"),
            ServiceUrlForm::EncodedPrefix => url.contains('%'),
            ServiceUrlForm::Slash => url.ends_with('/'),
            ServiceUrlForm::Unset => url.is_empty(),
        },
        SettingChange::License(text) => match text {
            LicenseText::Characters => license.ends_with("=="),
            LicenseText::Long => license.len() > CUT,
            LicenseText::Visible => license.contains('"'),
            LicenseText::OuterSpace => license.starts_with(' '),
        },
        SettingChange::AllowedOrigin(form) => match form {
            AllowedOriginForm::Localhost | AllowedOriginForm::Ipv6 => origin == page_origin(form),
            AllowedOriginForm::Slash => origin.is_some_and(|origin| origin.ends_with('/')),
            AllowedOriginForm::UpperCase => origin.is_some_and(|origin| origin.starts_with("HTTPS")),
            AllowedOriginForm::Several => origin.is_some_and(|origin| origin.contains(',')),
            AllowedOriginForm::Empty => origin == Some(""),
            AllowedOriginForm::Unset => origin.is_none(),
        },
        SettingChange::CaFile(form) => match form {
            CaFileForm::Bundle => count(&ca) > 1,
            CaFileForm::Crlf => ca.contains("\r\n"),
            CaFileForm::Text => ca.contains(COMMENT),
            CaFileForm::Unended => count(&ca) == 1 && !ca.ends_with('\n'),
            CaFileForm::Missing => is_missing(&settings.service_ca_file),
            CaFileForm::Empty => ca.is_empty() && !is_missing(&settings.service_ca_file),
            CaFileForm::NotPem => !ca.is_empty() && count(&ca) == 0,
        },
        SettingChange::Certificate(form) => match form {
            CertificateFileForm::Chain => count(&cert) > 1,
            CertificateFileForm::Crlf => cert.contains("\r\n"),
            CertificateFileForm::Text => cert.contains(COMMENT),
            CertificateFileForm::Missing => is_missing(&settings.client_cert_file),
        },
        SettingChange::Key(form) => match form {
            KeyFileForm::Text => key.contains(COMMENT),
            KeyFileForm::Sec1 => key.contains("EC PRIVATE KEY"),
            KeyFileForm::Other => {
                settings.client_key_file.as_ref().is_some_and(|file| file.ends_with("key-other.key"))
            }
        },
        SettingChange::Paths(form) => settings.service_ca_file.as_deref().is_some_and(|file| match form {
            PathForm::Space => file.to_string_lossy().contains(' '),
            PathForm::Unicode => !file.to_string_lossy().is_ascii(),
            PathForm::Symlink => file.is_symlink(),
        }),
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Number of certificates in a PEM file.
fn count(pem: &str) -> usize {
    pem.matches("BEGIN CERTIFICATE").count()
}
