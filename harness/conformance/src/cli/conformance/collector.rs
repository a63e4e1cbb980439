use std::path::Path;
use std::sync::Arc;

use edgeproof_browser::{BrowserError, IS_BUILT_IN};
use edgeproof_cli::Failure;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Profile, Spec};

use super::args::ConformanceArgs;
use crate::cli::edges::write_credentials;
use crate::cli::inputs::mint;
use crate::collector::{CollectorModule, EdgeCredentials, Opener};
use crate::run::CollectorRunnerOptions;

/// The collector under test: the reference collector, or any module.
pub(super) fn collector_options(
    args: &ConformanceArgs,
    spec: &Arc<Spec>,
    profile: Profile,
) -> Result<CollectorRunnerOptions, Failure> {
    // A list of the cases needs no browser.
    check_browser(IS_BUILT_IN || args.list, args.chromium.as_deref())?;
    let module = match &args.module {
        Some(module) => CollectorModule::parse(module)?,
        None => CollectorModule::reference(spec),
    };
    let name = args.name.clone().unwrap_or_else(|| CollectorRunnerOptions::MAKER.to_owned());
    if name.trim().is_empty() {
        return Err(Failure::usage(
            "cannot use the value of --name: it is empty",
            "give the name that the collector's error texts begin with, such as `service` in `service: unknown mode`",
        ));
    }
    let opener = args.open_with.as_deref().map(|line| Opener::parse(line, args.open_folder.as_deref()));
    let opener = opener.transpose()?.map(Arc::new);
    let hosts = CollectorRunnerOptions::HOSTS.map(str::to_owned);
    let credentials = Arc::new(mint(&hosts, None)?);
    let files = write_credentials(&credentials)?;
    let redactor = Arc::new(Redactor::new(&credentials));
    let browser = CollectorRunnerOptions::browser(&credentials, args.chromium.clone());
    let edges = EdgeCredentials { spec: Arc::clone(spec), profile, credentials, files };
    Ok(CollectorRunnerOptions {
        module,
        name,
        browser: Arc::new(browser),
        edges: Arc::new(edges),
        seal: None,
        opener,
        redactor,
    })
}

/// Fails without a browser in this build, and for a file that is none.
fn check_browser(is_built_in: bool, chromium: Option<&Path>) -> Result<(), Failure> {
    if !is_built_in {
        return Err(BrowserError::NotBuiltIn.into());
    }
    match chromium {
        Some(file) if !file.is_file() => Err(Failure::usage(
            format!("cannot use {} as Chromium: there is no such file", file.display()),
            "name the executable of Chromium or Chrome, or omit --chromium",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_without_a_browser_exits_2_with_the_command_that_builds_one() {
        let failure = check_browser(false, None).unwrap_err();
        let text = format!("{failure:?}");
        assert!(text.contains("NotBuiltIn"), "{text}");
        assert_eq!(failure.print(), 2);
        assert!(check_browser(true, None).is_ok());
    }
}
