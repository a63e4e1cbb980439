//! An edge, from the arguments: embedded, launched, or attached to.

use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, EdgeSettings, MintOptions, Redactor, SettingsFolder,
};
use edgeproof_fixtures::spec::{Profile, Spec};

use super::args::{Conformance, Scheme};
use super::plan::selection;
use crate::cases::{self, Catalog};
use crate::run::{Capabilities, EdgePoolOptions, EdgeUpstream, Plan};
use crate::target::{Attached, Embedded, Target};
use edgeproof_cli::Failure;
use edgeproof_cli::authority;
use edgeproof_launch::{BaseUrl, CommandLine, Launch, PortName, Scheme as EdgeScheme, listen_address};
use edgeproof_mock::ReplyShape;

/// The cases for an edge, and what their edge_pool is made from.
pub(super) fn plan_edges(
    args: &Conformance,
    spec: &Arc<Spec>,
    profile: Profile,
    shape: ReplyShape,
    seed: u64,
) -> Result<(Plan, EdgePoolOptions), Failure> {
    let stray = [
        ("--base-url", args.base_url.is_some()),
        ("--keys-url", args.keys_url.is_some()),
        ("--service-ca", args.service_ca.is_some()),
        ("--read-token", args.read_token.is_some()),
        ("--expired-token", args.expired_token.is_some()),
        ("--license", args.license.is_some()),
        ("--session-ref", args.session_ref.is_some()),
    ];
    if let Some((option, _)) = stray.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(
            format!("use {option} for an edge"),
            "it is for `edgeproof conformance service` and `edgeproof conformance keys`",
        ));
    }
    let EdgeParts { credentials, files, target, behind, capabilities } = edge_parts(args, spec, &profile)?;
    let cases = cases::edge(Catalog::new(spec, &shape, args.waits).fuzz(args.fuzz, seed));
    let plan = Plan::new(cases, &selection(args)?, &capabilities)?;
    let redactor = Arc::new(Redactor::new(&credentials));
    let spare = if matches!(target, Target::Embedded(_)) { 4 } else { 2 };
    let spec = Arc::clone(spec);
    Ok((plan, EdgePoolOptions { spec, profile, shape, credentials, files, target, behind, redactor, spare }))
}

struct EdgeParts {
    credentials: Arc<Credentials>,
    files: CredentialFiles,
    target: Target,
    behind: EdgeUpstream,
    capabilities: Capabilities,
}

fn edge_parts(args: &Conformance, spec: &Arc<Spec>, profile: &Profile) -> Result<EdgeParts, Failure> {
    let url = edge_url(args)?;
    let settings =
        args.settings.as_deref().map(|dir| SettingsFolder::load(dir, SystemTime::now())).transpose()?;
    if url.is_none() && (args.settings.is_some() || args.no_service) {
        let option = if args.no_service { "--no-service" } else { "--settings" };
        return Err(Failure::usage(
            format!("use {option} without the address of an edge"),
            "it is for an edge that runs already: add --url URL",
        ));
    }
    let (credentials, connection) = if let Some(folder) = settings {
        (folder.credentials, Some(folder.connection))
    } else {
        let credentials = Credentials::mint(&MintOptions::default());
        (credentials.map_err(|why| Failure::of(&why, "this should not happen: please report it"))?, None)
    };
    let files = CredentialFiles::write(&credentials).map_err(|why| {
        Failure::usage(
            format!("write credentials to a temporary folder: {why}"),
            "check TMPDIR and the space left there",
        )
    })?;
    let behind = match (&url, &connection) {
        (None, _) => EdgeUpstream::Each,
        (Some(_), Some(connection)) => {
            let listen = match args.service_listen {
                Some(address) => address,
                None => listen_address(&connection.service_url)
                    .map_err(|why| Failure::of(&why, "set the listen address with --service-listen ADDR"))?,
            };
            let settings: EdgeSettings =
                files.settings(&credentials, &connection.service_url, &connection.allowed_origin);
            EdgeUpstream::Listening(listen, settings)
        }
        (Some(_), None) => EdgeUpstream::Nothing(args.origin.clone(), args.no_service),
    };
    let target = target(args, url, &credentials, &files, spec, profile)?;
    let capabilities = capabilities(args, &target, &behind);
    Ok(EdgeParts { credentials: Arc::new(credentials), files, target, behind, capabilities })
}

fn edge_url(args: &Conformance) -> Result<Option<BaseUrl>, Failure> {
    let given = match args.target.as_deref() {
        None | Some("edge") => args.url.as_deref(),
        Some(_) if args.url.is_some() || args.launch.is_some() => {
            return Err(Failure::usage(
                "use two targets at once",
                "give one of an address, --url and --launch",
            ));
        }
        Some(url) => Some(url),
    };
    if args.url.is_some() && args.launch.is_some() {
        return Err(Failure::usage("use two targets at once", "give one of an address, --url and --launch"));
    }
    Ok(given.map(BaseUrl::of_edge).transpose()?)
}

fn target(
    args: &Conformance,
    url: Option<BaseUrl>,
    credentials: &Credentials,
    files: &CredentialFiles,
    spec: &Arc<Spec>,
    profile: &Profile,
) -> Result<Target, Failure> {
    if let Some(ca) = &args.edge_ca {
        if url.is_none() && args.launch.is_none() {
            return Err(Failure::usage(
                "use --edge-ca for the embedded edge",
                "it brings its own authority: leave the option out, or add --launch CMD or --url URL",
            ));
        }
        authority::check("--edge-ca", ca)?;
    }
    if let Some(url) = url {
        if args.edge_scheme.is_some() {
            return Err(Failure::usage(
                "use --edge-scheme for an edge that runs already",
                "its address says what it speaks: leave the option out",
            ));
        }
        return Ok(Target::Attached(Attached { url, ca: args.edge_ca.clone() }));
    }
    if let Some(command) = &args.launch {
        let scheme = if https(args) { EdgeScheme::Https } else { EdgeScheme::Http };
        let mut launch = Launch::new(CommandLine::parse(command)?);
        launch.port_name = PortName::from_str(&args.port_env)?;
        launch.scheme = scheme;
        launch.ca.clone_from(&args.edge_ca);
        launch.ready_timeout = args.ready_timeout;
        return Ok(Target::Launched(launch));
    }
    let embedded = Embedded::new(Arc::clone(spec), profile.clone());
    let embedded = if https(args) { embedded.https(credentials, files) } else { embedded };
    Ok(Target::Embedded(Box::new(embedded)))
}

/// Whether an edge that is started here speaks TLS.
fn https(args: &Conformance) -> bool {
    args.edge_scheme == Some(Scheme::Https)
}

fn capabilities(args: &Conformance, target: &Target, behind: &EdgeUpstream) -> Capabilities {
    let attached = match target {
        Target::Attached(attached) => Some(attached.url.as_url()),
        _ => None,
    };
    let here = attached.is_none_or(|url| matches!(url.host_str(), Some("localhost" | "127.0.0.1")));
    Capabilities {
        starts_edges: matches!(behind, EdgeUpstream::Each),
        service: !matches!(behind, EdgeUpstream::Nothing(_, true)),
        origin: !matches!(behind, EdgeUpstream::Nothing(None, true)),
        log: attached.is_none(),
        https: attached.map_or(https(args), |url| url.scheme() == "https"),
        // Only Linux answers on the whole of 127.0.0.0/8 without being set up for it.
        loopback_clients: here && cfg!(target_os = "linux"),
    }
}
