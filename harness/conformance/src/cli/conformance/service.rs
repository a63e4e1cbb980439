use std::sync::Arc;

use edgeproof_cli::{Failure, check_ca_file};
use edgeproof_fixtures::credentials::{LICENSE_PREFIX, READ_PREFIX, Redactor, Secret};
use edgeproof_fixtures::spec::{PartName, Profile, Spec};
use edgeproof_launch::BaseUrl;

use super::args::ConformanceArgs;
use crate::cases::ServiceInputs;
use crate::cli::edges::write_credentials;
use crate::cli::inputs::mint;
use crate::run::{ServiceLocation, ServiceRunnerOptions};

/// Variable that holds the read token, so that no argument shows it.
const READ_TOKEN: &str = "READ_TOKEN";

/// The service or key set under test: the built-in mock, or any URL.
pub(super) fn service_options(
    args: &ConformanceArgs,
    part: PartName,
    spec: &Arc<Spec>,
    profile: Profile,
) -> Result<ServiceRunnerOptions, Failure> {
    let (waits, spec) = (args.waits, Arc::clone(spec));
    let service = args.base_url.as_deref().map(|url| BaseUrl::of_service(url, &spec)).transpose()?;
    let keys = args.keys_url.as_deref().map(|url| BaseUrl::of_keys(url, &spec)).transpose()?;
    let is_mock = match part {
        PartName::Keys => keys.is_none(),
        _ => service.is_none(),
    };
    if is_mock {
        let credentials = mint(&[], None)?;
        let files = write_credentials(&credentials)?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let inputs = ServiceRunnerOptions::mock_inputs(&credentials);
        let location = ServiceLocation::Mock(Arc::new(credentials), files);
        return Ok(ServiceRunnerOptions {
            spec,
            mock_spec: None,
            profile,
            location,
            inputs,
            waits,
            redactor,
        });
    }
    if let Some(ca) = &args.service_ca {
        check_ca_file("--service-ca", ca)?;
    }
    let inputs = inputs(args, service.is_some())?;
    let redactor = Arc::new(redactor(&inputs));
    let location = ServiceLocation::At { service, keys, ca: args.service_ca.clone() };
    Ok(ServiceRunnerOptions { spec, mock_spec: None, profile, location, inputs, waits, redactor })
}

fn inputs(args: &ConformanceArgs, has_service: bool) -> Result<ServiceInputs, Failure> {
    // A key set alone must not receive a token that happens to be in the environment.
    let from_environment = || std::env::var(READ_TOKEN).ok().filter(|token| has_service && !token.is_empty());
    let token = args.read_token.clone().or_else(from_environment);
    let accepted = token.map(|token| read_token("--read-token", &token)).transpose()?;
    let expired = args.expired_token.as_deref();
    let expired = expired.map(|token| read_token("--expired-token", token)).transpose()?;
    let license = args.license.as_deref().map(|license| secret("--license", license)).transpose()?;
    if license.as_ref().is_some_and(|license| license.expose().starts_with(READ_PREFIX)) {
        return Err(Failure::usage(
            "cannot use the value of --license: it is a read token",
            "give a license; a case checks that the service refuses it as a read token",
        ));
    }
    if args.session_ref.as_deref() == Some("") {
        return Err(Failure::usage(
            "cannot use the value of --session-ref: it is empty",
            "give the reference that the page passed to start()",
        ));
    }
    Ok(ServiceInputs {
        read_token: accepted,
        expired_token: expired,
        license,
        session_ref: args.session_ref.clone(),
    })
}

/// A read token, with its prefix added if it is missing.
fn read_token(option: &str, value: &str) -> Result<Secret, Failure> {
    let token = secret(option, value)?;
    if token.expose().starts_with(LICENSE_PREFIX) {
        return Err(Failure::usage(
            format!("cannot use the value of {option}: it is a license"),
            format!("give a read token, which begins with {READ_PREFIX}"),
        ));
    }
    if token.expose().starts_with(READ_PREFIX) {
        return Ok(token);
    }
    Ok(Secret::new(format!("{READ_PREFIX}{}", token.expose())))
}

/// A credential: the value itself, or the content of the file after `@`.
fn secret(option: &str, value: &str) -> Result<Secret, Failure> {
    let text = match value.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|why| {
                Failure::usage(
                    format!("cannot read the credential for {option} from {path}: {why}"),
                    "name a text file that holds only the credential after @",
                )
            })?
            .trim()
            .to_owned(),
        None => value.to_owned(),
    };
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::usage(
            format!("cannot use the value of {option}: it is not a token"),
            "a token consists of ASCII characters without spaces; write @FILE for a token in a file",
        ));
    }
    Ok(Secret::new(text))
}

fn redactor(inputs: &ServiceInputs) -> Redactor {
    let mut redactor = Redactor::empty();
    let secrets = [
        ("read-token given", &inputs.read_token),
        ("read-token expired", &inputs.expired_token),
        ("license given", &inputs.license),
    ];
    for (label, secret) in secrets {
        if let Some(secret) = secret {
            redactor.add(label, secret.expose());
        }
    }
    redactor
}
