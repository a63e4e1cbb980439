use std::sync::Arc;

use edgeproof_cli::{Failure, check_ca_file};
use edgeproof_fixtures::credentials::{LICENSE_PREFIX, READ_PREFIX, Redactor, Secret};
use edgeproof_fixtures::spec::{PartName, Profile, Spec, Table};
use edgeproof_launch::BaseUrl;
use edgeproof_mock::ReadOutage;
use edgeproof_targets::{StateHook, StateOptions, StatePort};
use rand::RngExt;
use tokio::runtime::Runtime;

use super::args::ConformanceArgs;
use crate::cases::ServiceInputs;
use crate::cli::edges::write_credentials;
use crate::cli::inputs::mint;
use crate::run::{ServiceLocation, ServiceRunnerOptions};
use crate::states::{States, TrialTokens};

/// Variables that hold read tokens, so that no argument shows them.
const READ_TOKEN: &str = "READ_TOKEN";
const READ_TOKEN_EXPIRED: &str = "READ_TOKEN_EXPIRED";
const READ_TOKEN_REVOKED: &str = "READ_TOKEN_REVOKED";
const READ_TOKEN_OTHER: &str = "READ_TOKEN_OTHER";

/// The service or key set under test: the built-in mock, or any URL.
pub(super) fn service_options(
    args: &ConformanceArgs,
    part: PartName,
    spec: &Arc<Spec>,
    profile: Profile,
    runtime: &Runtime,
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
    let mut redactor = redactor(&inputs);
    let states = states(args, &inputs, &spec, &mut redactor, runtime)?;
    let redactor = Arc::new(redactor);
    let location = ServiceLocation::At { service, keys, ca: args.service_ca.clone(), states };
    Ok(ServiceRunnerOptions { spec, mock_spec: None, profile, location, inputs, waits, redactor })
}

fn inputs(args: &ConformanceArgs, has_service: bool) -> Result<ServiceInputs, Failure> {
    // A key set alone must not receive a token that happens to be in the environment.
    let token = |option: Option<(&str, &String)>, variable: &str| {
        if let Some((option, value)) = option {
            return read_token(option, value).map(Some);
        }
        let from_environment = std::env::var(variable).ok().filter(|token| has_service && !token.is_empty());
        from_environment.map(|token| read_token(variable, &token)).transpose()
    };
    let accepted = token(args.read_token.as_ref().map(|token| ("--read-token", token)), READ_TOKEN)?;
    let expired = args.expired_token.as_ref().map(|token| ("--expired-token", token));
    let expired = token(expired, READ_TOKEN_EXPIRED)?;
    let (revoked, other) = (token(None, READ_TOKEN_REVOKED)?, token(None, READ_TOKEN_OTHER)?);
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
        revoked_token: revoked,
        other_token: other,
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

/// The states of a service with a hook, each tried once. A list tries nothing.
fn states(
    args: &ConformanceArgs,
    inputs: &ServiceInputs,
    spec: &Spec,
    redactor: &mut Redactor,
    runtime: &Runtime,
) -> Result<Option<Arc<States>>, Failure> {
    let options = StateOptions {
        url: args.state_url.as_deref(),
        command: args.state_command.as_deref(),
        folder: args.state_folder.as_deref(),
        header: args.state_header.as_deref(),
        ca: args.service_ca.as_deref(),
    };
    let port = runtime
        .block_on(StatePort::of_options(options))
        .map_err(|why| if why.is_passing() { Failure::from(why).incomplete() } else { Failure::from(why) })?;
    let Some(port) = port else { return Ok(None) };
    if let Some(secret) = port.secret() {
        redactor.add("state-header", secret.expose());
    }
    let hook = StateHook::new(port, Arc::new(redactor.clone()));
    if args.list {
        return Ok(Some(Arc::new(States::assumed(hook))));
    }
    let outage = spec.by_stimulus(Table::Verdict, ReadOutage::ALL[0].stimulus());
    let tokens = TrialTokens {
        read: inputs.read_token.as_ref(),
        revoked: inputs.revoked_token.as_ref(),
        outage: outage.and_then(|row| row.code()),
    };
    let run = format!("{:08x}", rand::rng().random::<u32>());
    let mut states = runtime.block_on(States::tried(hook, tokens, &run)).map_err(|why| {
        let advice =
            "a state hook answers 200 or 501, or exits with 0 or 3, within 10 seconds; see docs/services.md";
        Failure::of(&why, advice).incomplete()
    })?;
    for secret in states.secrets() {
        let token = secret.expose().split_once(' ').map_or(secret.expose(), |(_, token)| token);
        redactor.add("credential of the state hook", token);
    }
    states.redact_with(Arc::new(redactor.clone()));
    Ok(Some(Arc::new(states)))
}

fn redactor(inputs: &ServiceInputs) -> Redactor {
    let mut redactor = Redactor::empty();
    let secrets = [
        ("read-token given", &inputs.read_token),
        ("read-token expired", &inputs.expired_token),
        ("read-token revoked", &inputs.revoked_token),
        ("read-token other", &inputs.other_token),
        ("license given", &inputs.license),
    ];
    for (label, secret) in secrets {
        if let Some(secret) = secret {
            redactor.add(label, secret.expose());
        }
    }
    redactor
}
