//! A service or a key set, from the arguments: our mock, or one that runs somewhere.

use std::sync::Arc;

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, LICENSE_PREFIX, MintOptions, READ_PREFIX, Redactor, Secret,
};
use edgeproof_fixtures::spec::{Profile, Spec};

use super::args::Conformance;
use crate::cases::ServiceInputs;
use crate::run::{ServiceLocation, ServicePart, ServiceRunnerOptions};
use edgeproof_cli::Failure;
use edgeproof_cli::authority;
use edgeproof_launch::BaseUrl;

/// The variable that holds the read token, so that it need not stand among the arguments.
const READ_TOKEN: &str = "READ_TOKEN";

/// What a runner for this part is made from.
pub(super) fn runner(
    args: &Conformance,
    part: ServicePart,
    spec: &Arc<Spec>,
    profile: Profile,
) -> Result<ServiceRunnerOptions, Failure> {
    check_options(args, part)?;
    let waits = args.waits;
    let spec = Arc::clone(spec);
    let service = args.base_url.as_deref().map(BaseUrl::of_service).transpose()?;
    let keys = args.keys_url.as_deref().map(BaseUrl::of_keys).transpose()?;
    let ours = match part {
        ServicePart::Service => service.is_none(),
        ServicePart::Keys => keys.is_none(),
    };
    if ours {
        let credentials = Credentials::mint(&MintOptions::default())
            .map_err(|why| Failure::of(&why, "this should not happen: please report it"))?;
        let files = CredentialFiles::write(&credentials).map_err(|why| {
            Failure::usage(
                format!("write credentials to a temporary folder: {why}"),
                "check TMPDIR and the space left there",
            )
        })?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let inputs = ServiceRunnerOptions::mock_inputs(&credentials);
        let location = ServiceLocation::Mock(Arc::new(credentials), files);
        return Ok(ServiceRunnerOptions { spec, profile, part, location, inputs, waits, redactor });
    }
    if let Some(ca) = &args.service_ca {
        authority::check("--service-ca", ca)?;
    }
    let inputs = inputs(args, service.is_some())?;
    let redactor = Arc::new(redactor(&inputs));
    let location = ServiceLocation::At { service, keys, ca: args.service_ca.clone() };
    Ok(ServiceRunnerOptions { spec, profile, part, location, inputs, waits, redactor })
}

/// Options that mean nothing here would otherwise be passed over in silence.
fn check_options(args: &Conformance, part: ServicePart) -> Result<(), Failure> {
    let word = match part {
        ServicePart::Service => "service",
        ServicePart::Keys => "keys",
    };
    let of_edges = [
        ("--launch", args.launch.is_some()),
        ("--url", args.url.is_some()),
        ("--settings", args.settings.is_some()),
        ("--no-service", args.no_service),
        ("--edge-ca", args.edge_ca.is_some()),
        ("--reply-shape", args.reply_shape.is_some()),
        ("--fuzz", args.fuzz > 0),
    ];
    if let Some((option, _)) = of_edges.iter().find(|(_, inputs)| *inputs) {
        let advice = match part {
            ServicePart::Service => "it is for edges; the address of a service goes with --base-url",
            ServicePart::Keys => "it is for edges; the address of a key set goes with --keys-url",
        };
        return Err(Failure::usage(format!("use {option} for `{word}`"), advice));
    }
    if part == ServicePart::Service && args.keys_url.is_some() {
        return Err(Failure::usage(
            "use --keys-url for `service`",
            "it is for `edgeproof conformance keys`, which also takes --base-url to verify a verdict of that service",
        ));
    }
    let (address, inputs) = match part {
        ServicePart::Service => ("--base-url", args.base_url.is_some()),
        ServicePart::Keys => ("--keys-url", args.keys_url.is_some()),
    };
    let of_strangers = [
        ("--base-url", args.base_url.is_some()),
        ("--read-token", args.read_token.is_some()),
        ("--expired-token", args.expired_token.is_some()),
        ("--license", args.license.is_some()),
        ("--session-ref", args.session_ref.is_some()),
        ("--service-ca", args.service_ca.is_some()),
    ];
    if !inputs && let Some((option, _)) = of_strangers.iter().find(|(_, inputs)| *inputs) {
        return Err(Failure::usage(
            format!("use {option} without {address}"),
            format!("the mock service brings all that it needs: add {address} URL, or leave {option} out"),
        ));
    }
    Ok(())
}

fn inputs(args: &Conformance, service: bool) -> Result<ServiceInputs, Failure> {
    // For a key set alone, a token that happens to be in the environment is nobody's business.
    let from_environment = || std::env::var(READ_TOKEN).ok().filter(|token| service && !token.is_empty());
    let given_token = args.read_token.clone().or_else(from_environment);
    let accepted = given_token.map(|token| read_token("--read-token", &token)).transpose()?;
    let expired =
        args.expired_token.as_ref().map(|token| read_token("--expired-token", token)).transpose()?;
    let license = args.license.as_ref().map(|license| secret("--license", license)).transpose()?;
    if license.as_ref().is_some_and(|license| license.expose().starts_with(READ_PREFIX)) {
        return Err(Failure::usage(
            "use --license: it is a read token",
            "give a license: the case is that it opens nothing",
        ));
    }
    if args.session_ref.as_deref() == Some("") {
        return Err(Failure::usage("use --session-ref: it is empty", "give what the page passed to start()"));
    }
    Ok(ServiceInputs {
        read_token: accepted,
        expired_token: expired,
        license,
        session_ref: args.session_ref.clone(),
    })
}

/// A read token; where it was given without its beginning, with it.
fn read_token(option: &str, inputs: &str) -> Result<Secret, Failure> {
    let token = secret(option, inputs)?;
    if token.expose().starts_with(LICENSE_PREFIX) {
        return Err(Failure::usage(
            format!("use {option}: it is a license"),
            "read tokens are minted apart from licenses, and begin with service_read_",
        ));
    }
    if token.expose().starts_with(READ_PREFIX) {
        return Ok(token);
    }
    Ok(Secret::new(format!("{READ_PREFIX}{}", token.expose())))
}

/// A credential: as it was given, or from the file that `@` names.
fn secret(option: &str, inputs: &str) -> Result<Secret, Failure> {
    let text = match inputs.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|why| {
                Failure::usage(
                    format!("read the credential for {option} from {path}: {why}"),
                    "after @ goes a text file that holds nothing else",
                )
            })?
            .trim()
            .to_owned(),
        None => inputs.to_owned(),
    };
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::usage(
            format!("use {option}: it is no token"),
            "a token is a word of ASCII characters without spaces; one that a file holds is given as @FILE",
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
