use std::path::{Path, PathBuf};
use std::time::Duration;

use edgeproof_edge::EdgeOptions;
use edgeproof_fixtures::credentials::{ALLOWED_ORIGIN, EdgeSettings, LICENSE_PREFIX, Role, Secret};

use crate::mutation::EdgeBehaviour;

/// Changes the settings of an edge. `first`: settings of the run's first edge.
pub(super) fn change(behaviour: EdgeBehaviour, options: &mut EdgeOptions, first: &EdgeSettings) {
    use EdgeBehaviour as B;
    let settings = &mut options.settings;
    let license = |change: fn(&str) -> Option<String>| {
        settings.license.as_ref().and_then(|license| change(license.expose())).map(Secret::new)
    };
    match behaviour {
        B::DropsLicense => settings.license = None,
        B::LowerCasesLicense => settings.license = license(|license| Some(license.to_ascii_lowercase())),
        B::StripsLicensePrefix => {
            settings.license = license(|license| {
                Some(license.rsplit_once('_').map_or(license, |(_, rest)| rest).to_owned())
            });
        }
        B::ChecksLicensePrefix => {
            settings.license =
                license(|license| license.starts_with(LICENSE_PREFIX).then(|| license.to_owned()));
        }
        B::SendsUndefined => unset(settings, "undefined"),
        B::SendsNull => unset(settings, "null"),
        B::SendsNone => unset(settings, "None"),
        B::KeepsFirstLicense => settings.license.clone_from(&first.license),
        B::PresentsNone | B::IgnoresCertFile => {
            (settings.client_cert_file, settings.client_key_file) = (None, None);
        }
        B::IgnoresKeyFile => settings.client_key_file = None,
        B::PresentsOther => present_other(settings),
        B::KeepsFirstServiceUrl => settings.service_url.clone_from(&first.service_url),
        B::IgnoresAllowedOrigin => settings.allowed_origin = Some(ALLOWED_ORIGIN.to_owned()),
        B::ShortTimeout => options.service_timeout = Duration::from_millis(300),
        _ => {}
    }
}

/// Sends this text as the license if none is set.
fn unset(settings: &mut EdgeSettings, text: &str) {
    settings.license.get_or_insert_with(|| Secret::new(text.to_owned()));
}

/// Line of the client key file that no other key file has.
pub(super) fn key_line(settings: &EdgeSettings) -> Option<String> {
    let pem = std::fs::read_to_string(settings.client_key_file.as_ref()?).ok()?;
    pem.lines().nth(1).map(str::to_owned)
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
