use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_cli::args::EdgeScheme;
use edgeproof_cli::{Failure, check_ca_file};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeConnection, SettingsFolder};
use edgeproof_fixtures::spec::{Endpoint, PartName, Profile, Spec};
use edgeproof_http::listen_address;
use edgeproof_launch::{BaseUrl, CommandLine, Launch, PortName, Scheme};
use edgeproof_mock::ReplyShape;
use edgeproof_targets::{Attached, Embedded, Target};

use super::args::EdgeTargetArgs;
use crate::cli::inputs::mint;
use crate::nearest::nearest;
use crate::run::{EdgePoolOptions, EdgeUpstream};

/// What a command tests at the edges.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EdgeSelection<'a> {
    /// URL of a running edge that is given without an option.
    pub(crate) positional: Option<&'a str>,
    /// The service behind the running edge is not the mock service.
    pub(crate) no_service: bool,
    /// Origin that the edge allows, with `no_service`.
    pub(crate) origin: Option<&'a str>,
}

/// The edges under test, and the service behind them.
pub(crate) fn edge_options(
    args: &EdgeTargetArgs,
    selection: EdgeSelection<'_>,
    spec: &Arc<Spec>,
    profile: Profile,
    reply_shape: ReplyShape,
) -> Result<EdgePoolOptions, Failure> {
    let url = edge_url(args, selection.positional, spec)?;
    let settings = args.settings.as_deref().map(|dir| SettingsFolder::load(dir, SystemTime::now()));
    let settings = settings.transpose()?;
    if url.is_none() && (args.settings.is_some() || selection.no_service) {
        let option = if selection.no_service { "--no-service" } else { "--settings" };
        return Err(Failure::usage(
            format!("cannot use {option} without the URL of an edge"),
            "the option applies to an edge that already runs: add --url URL",
        ));
    }
    let (credentials, connection) = match settings {
        Some(folder) => (folder.credentials, Some(folder.connection)),
        None => (mint(&[], None)?, None),
    };
    let files = write_credentials(&credentials)?;
    let upstream = match &url {
        None => EdgeUpstream::MockPerEdge,
        Some(_) => upstream_of_attached(args, selection, connection.as_ref(), &credentials, &files)?,
    };
    let target = target(args, url, spec, &profile, &credentials, &files)?;
    let edges = EdgePoolOptions::new(Arc::clone(spec), target, Arc::new(credentials), files);
    Ok(EdgePoolOptions { profile, reply_shape, upstream, ..edges })
}

/// URL of a running edge.
fn edge_url(
    args: &EdgeTargetArgs,
    positional: Option<&str>,
    spec: &Spec,
) -> Result<Option<BaseUrl>, Failure> {
    if let Some(word) = positional.filter(|word| !word.contains("://")) {
        check_word(word, args.launch.as_deref())?;
    }
    let given = [positional.is_some(), args.url.is_some(), args.launch.is_some()];
    if given.into_iter().filter(|is_given| *is_given).count() > 1 {
        return Err(Failure::usage(
            "cannot test two targets at once",
            "give only one of URL, --url and --launch",
        ));
    }
    Ok(positional.or(args.url.as_deref()).map(|url| BaseUrl::of_edge(url, spec)).transpose()?)
}

/// Refuses a word that is no URL, but a part with a typo, or a word of the command after `--launch`.
fn check_word(word: &str, launch: Option<&str>) -> Result<(), Failure> {
    let parts = PartName::ALL.iter().map(|part| part.name());
    match (launch, nearest(word, parts).first()) {
        (Some(launch), _) => {
            let command = shell_words::quote(&format!("{launch} {word}")).into_owned();
            Err(Failure::usage(
                format!("cannot use {word:?} beside --launch {launch}"),
                format!("quote the whole command: --launch {command}"),
            ))
        }
        (None, Some(part)) => Err(Failure::usage(
            format!("cannot test {word:?}: there is no such part"),
            format!("did you mean `{part}`?"),
        )),
        (None, None) => Ok(()),
    }
}

fn upstream_of_attached(
    args: &EdgeTargetArgs,
    selection: EdgeSelection<'_>,
    connection: Option<&EdgeConnection>,
    credentials: &Credentials,
    files: &CredentialFiles,
) -> Result<EdgeUpstream, Failure> {
    let (Some(connection), Some(dir)) = (connection, &args.settings) else {
        return Ok(EdgeUpstream::Foreign {
            origin: selection.origin.map(str::to_owned),
            intended: selection.no_service,
        });
    };
    let listen = match args.service_listen {
        Some(address) => address,
        None => listen_address(&connection.service_url)
            .map_err(|why| Failure::of(&why, "set the listen address with --service-listen ADDR"))?,
    };
    let settings = files.settings(credentials, &connection.service_url, &connection.allowed_origin);
    // As when the folder was saved.
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.clone());
    let reported = Box::new(connection.edge_settings(credentials, &dir));
    Ok(EdgeUpstream::MockAt { listen, settings, reported })
}

fn target(
    args: &EdgeTargetArgs,
    url: Option<BaseUrl>,
    spec: &Arc<Spec>,
    profile: &Profile,
    credentials: &Credentials,
    files: &CredentialFiles,
) -> Result<Target, Failure> {
    if let Some(ca) = &args.edge_ca {
        if url.is_none() && args.launch.is_none() {
            return Err(Failure::usage(
                "cannot use --edge-ca with the embedded edge",
                "the embedded edge has a CA of its own: omit the option, or add --launch CMD or --url URL",
            ));
        }
        check_ca_file("--edge-ca", ca)?;
    }
    let scheme = args.edge_scheme.unwrap_or_default();
    if let Some(url) = url {
        if args.edge_scheme.is_some() {
            return Err(Failure::usage(
                "cannot use --edge-scheme with an edge that already runs",
                "its URL gives the scheme: omit the option",
            ));
        }
        return Ok(Target::Attached(Attached {
            url,
            ca: args.edge_ca.clone(),
            ready_path: spec.path(Endpoint::Health).to_owned(),
        }));
    }
    if let Some(command) = &args.launch {
        let command = CommandLine::parse_in(command, args.launch_folder.as_deref())?;
        let mut launch = Launch::new(command).of_version(spec);
        launch.port_name = PortName::from_str(&args.port_env)?;
        launch.scheme = match scheme {
            EdgeScheme::Http => Scheme::Http,
            EdgeScheme::Https => Scheme::Https,
        };
        launch.ca.clone_from(&args.edge_ca);
        launch.ready_timeout = args.ready_timeout;
        return Ok(Target::Launched(launch));
    }
    let embedded = Embedded::new(Arc::clone(spec), profile.clone());
    Ok(Target::Embedded(Box::new(match scheme {
        EdgeScheme::Http => embedded,
        EdgeScheme::Https => embedded.https(credentials, files),
    })))
}

/// Writes the credentials of a run to a temporary folder.
pub(crate) fn write_credentials(credentials: &Credentials) -> Result<CredentialFiles, Failure> {
    CredentialFiles::write(credentials).map_err(|why| {
        Failure::usage(
            format!("cannot write credentials to a temporary folder: {why}"),
            "check TMPDIR and the free space there",
        )
    })
}
