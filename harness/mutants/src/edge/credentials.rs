//! Edges that present another license or certificate than their settings say.

use std::path::{Path, PathBuf};

use edgeproof_edge::EdgeOptions;
use edgeproof_fixtures::credentials::{EdgeSettings, LICENSE_PREFIX, Role, Secret};

use super::prelude::*;

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("drops-license", "Relays without the license.")
        .breaks("statement.license-presented", "license-wrong")
        .then(Start(|options, _| options.settings.license = None)),
    mutant("reads-license-too-early", "Reads LICENSE before it is set: sends the scheme alone.")
        .breaks("statement.license-presented", "license-wrong")
        .then(License("")),
    mutant("lower-cases-license", "Relays the license in lower case.")
        .breaks("statement.license-presented", "license-wrong")
        .then(Start(|options, _| change_license(options, |license| Some(license.to_ascii_lowercase())))),
    mutant("strips-license-prefix", "Relays the license without its prefix.")
        .breaks("setting.edge.license", "license-wrong")
        .then(Start(|options, _| {
            change_license(options, |license| {
                Some(license.rsplit_once('_').map_or(license, |(_, rest)| rest).to_owned())
            });
        })),
    mutant("quotes-license", "Keeps the quotes of a settings file around the license.")
        .breaks("statement.license-presented", "license-wrong")
        .then(Start(|options, _| change_license(options, |license| Some(format!("\"{license}\""))))),
    mutant("checks-license-prefix", "Drops a LICENSE that lacks the license prefix.")
        .breaks("statement.read-token-no-license", "credentials-judged")
        .then(Start(|options, _| {
            change_license(options, |license| {
                license.starts_with(LICENSE_PREFIX).then(|| license.to_owned())
            });
        })),
    mutant("requires-license", "Refuses collections while LICENSE is unset.")
        .breaks("statement.relays-without-license", "credentials-judged")
        .when(All(&[Collection, LicenseUnset]))
        .then(Instead(Json(500, r#"{"error":"no_license"}"#))),
    mutant("keeps-first-license", "Presents the license of the first edge and ignores LICENSE.")
        .breaks("setting.edge.license", "license-wrong")
        .then(Start(|options, first| options.settings.license.clone_from(&first.license))),
    mutant("sends-bearer-undefined", "Sends Bearer undefined while LICENSE is unset.")
        .breaks("statement.relays-without-license", "license-wrong")
        .when(LicenseUnset)
        .then(License("undefined")),
    mutant("sends-bearer-null", "Sends Bearer null while LICENSE is unset.")
        .breaks("statement.relays-without-license", "license-wrong")
        .when(LicenseUnset)
        .then(License("null")),
    mutant("sends-bearer-none", "Sends Bearer None while LICENSE is unset.")
        .breaks("statement.relays-without-license", "license-wrong")
        .when(LicenseUnset)
        .then(License("None")),
    mutant("starts-with-license-only", "Does not start while LICENSE is unset.")
        .breaks("statement.relays-without-license", "credentials-judged")
        .then(Start(|options, _| {
            if options.settings.license.is_none() {
                // The reference edge does not start without it.
                options.settings.service_url = None;
            }
        })),
    mutant("presents-no-certificate", "Presents no client certificate.")
        .breaks("statement.certificate-presented", "client-certificate-missing")
        .then(Start(present_none)),
    mutant("presents-other-certificate", "Presents the client certificate of another license.")
        .breaks("statement.certificate-presented", "client-certificate-missing")
        .then(Start(|options, _| present_other(&mut options.settings))),
    mutant("ignores-cert-file", "Ignores EDGE_CLIENT_CERT_FILE.")
        .breaks("setting.edge.client-cert-file", "client-certificate-missing")
        .then(Start(present_none)),
    mutant("ignores-key-file", "Ignores EDGE_CLIENT_KEY_FILE.")
        .breaks("setting.edge.client-key-file", "client-certificate-missing")
        .then(Start(|options, _| options.settings.client_key_file = None)),
    mutant("requires-certificate", "Refuses collections while no client certificate is set.")
        .breaks("statement.relays-without-certificate", "credentials-judged")
        .when(All(&[Collection, CertificateUnset]))
        .then(Instead(Json(500, r#"{"error":"no_certificate"}"#))),
];

fn change_license(options: &mut EdgeOptions, change: impl Fn(&str) -> Option<String>) {
    let license = options.settings.license.take();
    options.settings.license = license.and_then(|license| change(license.expose())).map(Secret::new);
}

fn present_none(options: &mut EdgeOptions, _first: &EdgeSettings) {
    (options.settings.client_cert_file, options.settings.client_key_file) = (None, None);
}

/// Presents the client certificate of another license, from the folder of the right one.
fn present_other(settings: &mut EdgeSettings) {
    let Some(folder) = settings.client_cert_file.as_deref().and_then(Path::parent).map(PathBuf::from) else {
        return;
    };
    let mine = Role::ClientForOtherLicense.to_string();
    let other =
        if settings.client_cert_file.as_ref().is_some_and(|file| file.ends_with(format!("{mine}.pem"))) {
            Role::ClientForLicense.to_string()
        } else {
            mine
        };
    settings.client_cert_file = Some(folder.join(format!("{other}.pem")));
    settings.client_key_file = Some(folder.join(format!("{other}.key")));
}
