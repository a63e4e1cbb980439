use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use fixtures::credentials::{
    CredentialFiles, Credentials, EdgeSettings, MintOptions, Redactor, SettingsFolder,
};
use fixtures::spec::{Profile, Spec};
use rand::RngExt;
use reports::{Format, Outcome, Reader, Report};

use super::args::{Conformance, Scheme};
use super::failure::Failure;
use crate::cases::{self, Case, Catalog};
use crate::mock::ReplyShape;
use crate::run::{Baseline, Behind, Circumstances, Options, Pins, Plan, Props, Selection, Verdict};
use crate::target::{
    Attached, CommandLine, EdgeUrl, Embedded, Launch, PortName, Scheme as EdgeScheme, Target,
};

/// A run of which everything that can be wrong with its arguments and files was found to be right.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) props: Props,
    pub(super) options: Options,
    pub(super) verdict: Verdict,
    pub(super) seed: u64,
    pub(super) record: Option<PathBuf>,
    pub(super) readers: Vec<Box<dyn Reader + Send>>,
}

/// Validates the arguments. Nothing after this reads them again.
pub(super) fn plan(args: &Conformance) -> Result<Planned, Failure> {
    let spec = Arc::new(Spec::builtin(args.spec));
    let profile = match &args.profile {
        Some(path) => spec.profile().with_file(path)?,
        None => spec.profile().clone(),
    };
    let shape = match &args.reply_shape {
        Some(path) => ReplyShape::load(path)?,
        None => ReplyShape::from_profile(&profile),
    };
    let seed = args.seed.unwrap_or_else(|| u64::from(rand::rng().random::<u32>()));
    let Ground { credentials, files, target, behind, circumstances } = ground(args, &spec, &profile)?;
    let cases = edge_cases(&spec, &shape, args, seed);
    let plan = Plan::new(cases, &selection(args)?, circumstances)?;
    check_hold(args, &plan)?;
    let options = Options {
        jobs: if args.hold.is_some() { 1 } else { usize::from(args.jobs) },
        case_timeout: args.case_timeout,
        repeat: usize::from(args.repeat),
        shuffle: args.shuffle.then_some(seed),
        hold: args.hold.clone(),
        pins: args.pin.as_deref().map(Pins::load).transpose()?.unwrap_or_default(),
        latency: true,
    };
    let verdict = Verdict {
        strict: args.strict,
        baseline: args.baseline.as_deref().map(Baseline::load).transpose()?,
        interrupted: None,
    };
    if let Some(path) = &args.record {
        Pins::check_writable(path)?;
    }
    let readers = readers(args, &spec)?;
    let redactor = Arc::new(Redactor::new(&credentials));
    let spare = if matches!(target, Target::Embedded(_)) { 4 } else { 2 };
    let props = Props { spec, profile, shape, credentials, files, target, behind, redactor, spare };
    Ok(Planned { plan, props, options, verdict, seed, record: args.record.clone(), readers })
}

/// Every case there is for an edge, as these arguments make them.
pub(super) fn edge_cases(spec: &Spec, shape: &ReplyShape, args: &Conformance, seed: u64) -> Vec<Case> {
    cases::edge(Catalog::new(spec, shape, args.waits).fuzz(args.fuzz, seed))
}

struct Ground {
    credentials: Arc<Credentials>,
    files: CredentialFiles,
    target: Target,
    behind: Behind,
    circumstances: Circumstances,
}

fn ground(args: &Conformance, spec: &Arc<Spec>, profile: &Profile) -> Result<Ground, Failure> {
    let url = edge_url(args)?;
    let settings =
        args.settings.as_deref().map(|dir| SettingsFolder::load(dir, SystemTime::now())).transpose()?;
    if url.is_none() && (args.settings.is_some() || args.no_service) {
        let option = if args.no_service { "--no-service" } else { "--settings" };
        return Err(Failure::plain(
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
        Failure::plain(
            format!("write credentials to a temporary folder: {why}"),
            "check TMPDIR and the space left there",
        )
    })?;
    let behind = match (&url, &connection) {
        (None, _) => Behind::Each,
        (Some(_), Some(connection)) => {
            let listen = match args.service_listen {
                Some(address) => address,
                None => listen_address(&connection.service_url)?,
            };
            let settings: EdgeSettings =
                files.settings(&credentials, &connection.service_url, &connection.allowed_origin);
            Behind::Listening(listen, settings)
        }
        (Some(_), None) => Behind::Nothing(args.origin.clone(), args.no_service),
    };
    let target = target(args, url, &credentials, &files, spec, profile)?;
    let circumstances = circumstances(args, &target, &behind);
    Ok(Ground { credentials: Arc::new(credentials), files, target, behind, circumstances })
}

fn edge_url(args: &Conformance) -> Result<Option<EdgeUrl>, Failure> {
    let given = match args.target.as_deref() {
        None | Some("edge") => args.url.as_deref(),
        Some(other @ ("service" | "keys" | "collector")) => {
            return Err(Failure::plain(
                format!("prove `{other}`: this version of edgeproof proves edges only"),
                "leave it out, or write `edge`",
            ));
        }
        Some(_) if args.url.is_some() || args.launch.is_some() => {
            return Err(Failure::plain(
                "use two targets at once",
                "give one of an address, --url and --launch",
            ));
        }
        Some(url) => Some(url),
    };
    if args.url.is_some() && args.launch.is_some() {
        return Err(Failure::plain("use two targets at once", "give one of an address, --url and --launch"));
    }
    Ok(given.map(EdgeUrl::from_str).transpose()?)
}

fn target(
    args: &Conformance,
    url: Option<EdgeUrl>,
    credentials: &Credentials,
    files: &CredentialFiles,
    spec: &Arc<Spec>,
    profile: &Profile,
) -> Result<Target, Failure> {
    if let Some(ca) = &args.edge_ca {
        std::fs::File::open(ca).map_err(|why| {
            Failure::plain(
                format!("read the authority {}: {why}", ca.display()),
                "--edge-ca takes a PEM file",
            )
        })?;
    }
    if let Some(url) = url {
        return Ok(Target::Attached(Attached { url, ca: args.edge_ca.clone() }));
    }
    if let Some(command) = &args.launch {
        let scheme = if args.edge_scheme == Scheme::Https { EdgeScheme::Https } else { EdgeScheme::Http };
        let mut launch = Launch::new(CommandLine::parse(command)?);
        launch.port_name = PortName::from_str(&args.port_env)?;
        launch.scheme = scheme;
        launch.ca.clone_from(&args.edge_ca);
        launch.ready_timeout = args.ready_timeout;
        return Ok(Target::Launched(launch));
    }
    let embedded = Embedded::new(Arc::clone(spec), profile.clone());
    Ok(Target::Embedded(Box::new(match args.edge_scheme {
        Scheme::Http => embedded,
        Scheme::Https => embedded.https(credentials, files),
    })))
}

fn circumstances(args: &Conformance, target: &Target, behind: &Behind) -> Circumstances {
    let attached = match target {
        Target::Attached(attached) => Some(attached.url.as_url()),
        _ => None,
    };
    let here = attached.is_none_or(|url| matches!(url.host_str(), Some("localhost" | "127.0.0.1")));
    Circumstances {
        starts_edges: matches!(behind, Behind::Each),
        service: !matches!(behind, Behind::Nothing(_, true)),
        origin: !matches!(behind, Behind::Nothing(None, true)),
        log: attached.is_none(),
        https: attached.map_or(args.edge_scheme == Scheme::Https, |url| url.scheme() == "https"),
        // Only Linux answers on the whole of 127.0.0.0/8 without being set up for it.
        loopback_clients: here && cfg!(target_os = "linux"),
    }
}

/// Where the mock service listens for an edge that calls it by this address.
fn listen_address(service_url: &str) -> Result<SocketAddr, Failure> {
    let url = url::Url::parse(service_url).ok();
    let place = url.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
    let Some((host, port)) = place else {
        return Err(Failure::plain(
            format!("listen for an edge that calls the service at {service_url:?}"),
            "say where with --service-listen ADDR",
        ));
    };
    let local = matches!(host, "localhost" | "127.0.0.1");
    Ok(SocketAddr::from((if local { [127, 0, 0, 1] } else { [0, 0, 0, 0] }, port)))
}

fn selection(args: &Conformance) -> Result<Selection, Failure> {
    let only = match &args.rerun_failed {
        None => None,
        Some(path) => {
            let report = Report::load(path)
                .map_err(|why| Failure::of(&why, "--rerun-failed takes a JSON report of an earlier run"))?;
            let again = |outcome: Outcome| matches!(outcome, Outcome::Fail | Outcome::NotRun);
            let ids: Vec<_> =
                report.cases.into_iter().filter(|case| again(case.outcome)).map(|case| case.id).collect();
            if ids.is_empty() {
                return Err(Failure::plain(
                    format!("run again what failed in {}: nothing did", path.display()),
                    "leave out --rerun-failed to run everything",
                ));
            }
            Some(ids)
        }
    };
    Ok(Selection { filter: args.filter.clone(), exclude: args.exclude.clone(), only })
}

fn check_hold(args: &Conformance, plan: &Plan) -> Result<(), Failure> {
    let Some(id) = &args.hold else { return Ok(()) };
    if plan.cases.iter().any(|(case, why)| case.id == *id && why.is_none()) {
        return Ok(());
    }
    Err(Failure::plain(
        format!("stop before {id:?}: no case with this id is played"),
        "`--list` shows the ids; globs are not taken here",
    ))
}

fn readers(args: &Conformance, spec: &Spec) -> Result<Vec<Box<dyn Reader + Send>>, Failure> {
    let mut wanted = Vec::new();
    for given in &args.report {
        let advice = format!("write it as FORMAT=PATH, with one of the formats {}", Format::names());
        let Some((format, path)) = given.split_once('=').filter(|(_, path)| !path.is_empty()) else {
            return Err(Failure::plain(format!("write the report {given:?}"), advice));
        };
        let format = Format::from_str(format).map_err(|why| Failure::of(&why, &advice))?;
        wanted.push((format, PathBuf::from(path)));
    }
    let mut paths = HashSet::new();
    if let Some((_, path)) = wanted.iter().find(|(_, path)| !paths.insert(path.clone())) {
        return Err(Failure::plain(
            format!("write two reports to {}", path.display()),
            "give each report a path of its own",
        ));
    }
    if args.github
        && let Some(summary) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty())
    {
        wanted.push((Format::Markdown, summary.into()));
    }
    let mut readers = Vec::new();
    for (format, path) in wanted {
        let reader = reports::open_titled(format, &path, titles(spec));
        readers.push(
            reader.map_err(|why| {
                Failure::of(&why, "name a file in a folder that exists and can be written to")
            })?,
        );
    }
    Ok(readers)
}

/// Names of the sections of the interface.
pub(super) fn titles(spec: &Spec) -> reports::Titles {
    let sections = spec.rows().iter().map(|row| row.section.as_str());
    sections
        .filter_map(|section| Some((section.to_owned(), spec.section_title(section)?.to_owned())))
        .collect()
}
