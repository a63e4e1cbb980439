use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, SystemTime};

use edgeproof_cli::{Failure, error_text};
use edgeproof_fixtures::credentials::{SettingsError, SettingsFolder};
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::{Draft, NoAnswer, ServerAddress, send};
use edgeproof_launch::LaunchError;
use edgeproof_mock::ReplyShape;
use edgeproof_targets::{Attached, StartError, Target};
use miette::Diagnostic;

use super::finding::Finding;
use super::settings;
use super::{DoctorArgs, Printer};
use crate::cases::{self, Catalog};
use crate::cli::edges::{EdgeSelection, edge_options};
use crate::run::{
    ConformanceRun, EdgePool, EdgePoolOptions, EdgeUpstream, LeaseError, RunOptions, Selection,
};

/// Difference of two clocks that no check of a token notices.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);
/// Timeout of the request for the clock of a running edge.
const CLOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The edge to check.
pub(super) enum Edges {
    /// None was named.
    None,
    /// The settings of a running edge are not usable.
    Unusable(SettingsError),
    /// An edge.
    Named(Box<EdgePoolOptions>),
}

impl Edges {
    /// Validates the arguments. Settings that have expired or are damaged are a finding.
    pub(super) fn of(args: &DoctorArgs) -> Result<Self, Failure> {
        // Wrong input, whatever is tested.
        let loaded = args.interface.load()?;
        if args.edge.launch.is_none() && args.edge.url.is_none() && args.edge.settings.is_none() {
            return Ok(Self::None);
        }
        if let Some(Err(why @ (SettingsError::Expired { .. } | SettingsError::Damaged { .. }))) =
            args.edge.settings.as_deref().map(|dir| SettingsFolder::load(dir, SystemTime::now()))
        {
            return Ok(Self::Unusable(why));
        }
        let (spec, profile, shape) = loaded;
        let edges = edge_options(&args.edge, EdgeSelection::default(), &spec, profile, shape)?;
        Ok(Self::Named(Box::new(edges)))
    }

    /// Checks the edge, and prints what is found.
    pub(super) async fn examine(self, args: &DoctorArgs, printer: &mut Printer) -> Result<(), Failure> {
        let edges = match self {
            Self::None => {
                let advice = "name one with --launch CMD, or run `edgeproof init`";
                return printer.print(&Finding::note("edge", "none was named", advice));
            }
            Self::Unusable(why) => return printer.print(&problem("certificates", &why)),
            Self::Named(edges) => *edges,
        };
        if let EdgeUpstream::MockAt { listen, .. } = edges.upstream {
            let until = humantime::format_rfc3339_seconds(edges.credentials.expires());
            printer.print(&Finding::ok(
                "certificates",
                format!("they and the license are valid until {until}"),
            ))?;
            if let Err(why) = TcpListener::bind(listen) {
                return printer.print(&port_problem(listen, &why));
            }
            printer.print(&Finding::ok("port", format!("{listen} is free for the mock service")))?;
        }
        if let Target::Attached(attached) = &edges.target
            && let Some(finding) = clock_of(attached).await
        {
            printer.print(&finding)?;
        }
        let is_foreign = matches!(edges.upstream, EdgeUpstream::Foreign { .. });
        let (name, is_https) = (edges.target.name().to_owned(), edges.target.is_https());
        let is_attached = matches!(edges.target, Target::Attached(_));
        if let Err(why) = EdgePool::try_start(edges).await {
            for finding in start_problem(&name, &why) {
                printer.print(&finding)?;
            }
            let advice = "correct its start first, then run this command again";
            return printer.print(&Finding::note(
                "settings",
                "not checked: the edge does not answer",
                advice,
            ));
        }
        for finding in started(&name, is_attached, is_https) {
            printer.print(&finding)?;
        }
        if is_foreign {
            let what = "not checked: the service behind the edge is not the mock service";
            let advice = "start the edge with settings from `edgeproof mint edge-settings --out DIR`, and add --settings DIR";
            return printer.print(&Finding::note("settings", what, advice));
        }
        for finding in use_of_settings(args).await? {
            printer.print(&finding)?;
        }
        Ok(())
    }
}

/// Plays the cases about the settings.
async fn use_of_settings(args: &DoctorArgs) -> Result<Vec<Finding>, Failure> {
    let (spec, profile, shape) = args.interface.load()?;
    let cases = edge_cases(&spec, &shape);
    let only = settings::cases().filter(|id| cases.iter().any(|case| case.id == *id)).map(str::to_owned);
    let selection = Selection { only: Some(only.collect()), ..Selection::default() };
    let edges = edge_options(&args.edge, EdgeSelection::default(), &spec, profile, shape)?;
    let run = ConformanceRun::new(cases, &selection, EdgePool::new(edges))?;
    let run = ConformanceRun { options: RunOptions::default(), ..run };
    match run.execute().await {
        Ok(report) => Ok(settings::findings(&spec, &report)),
        Err(why) => Ok(vec![problem("service", &why)]),
    }
}

fn edge_cases(spec: &Spec, shape: &ReplyShape) -> Vec<cases::Case<cases::Edge>> {
    cases::edge(Catalog::new(spec, shape, false))
}

/// An edge that answers.
fn started(name: &str, is_attached: bool, is_https: bool) -> Vec<Finding> {
    let mut findings = if is_attached {
        vec![Finding::ok("answer", format!("the edge at {name} answers"))]
    } else {
        vec![
            Finding::ok("start", format!("`{name}` starts")),
            Finding::ok("listen", "it listens on the port that it was given"),
            Finding::ok("answer", "it answers HTTP"),
        ]
    };
    if is_https {
        findings.push(Finding::ok("certificate", "that of the edge is trusted"));
    }
    findings
}

/// An edge that does not answer. Checks before the problem are done.
fn start_problem(name: &str, why: &LeaseError) -> Vec<Finding> {
    let LeaseError::Start(start) = why else { return vec![problem("service", why)] };
    let StartError::Launch(launch) = &**start else {
        let about = if is_tls(start) { "certificate" } else { "answer" };
        return vec![problem(about, why)];
    };
    let found =
        |about, what: String| Finding::problem(about, what, launch.advice()).with(launch.last_output());
    let starts = Finding::ok("start", format!("`{name}` starts"));
    let listens = Finding::ok("listen", "it listens on the port that it was given");
    match launch {
        LaunchError::NoPort(_) => vec![found("ports", error_text(launch))],
        LaunchError::NotStarted { .. } | LaunchError::ExitedEarly { .. } => {
            vec![found("start", error_text(launch))]
        }
        LaunchError::NotReady { url, observed: observed @ NoAnswer::NoTls(_), .. } => {
            vec![starts, listens, found("certificate", format!("no TLS with {url}: {observed}"))]
        }
        LaunchError::NotReady { url, after, observed, listens_on, .. } => {
            let (port, after) = (url.port_or_known_default(), humantime::format_duration(*after));
            if listens_on.iter().any(|at| Some(at.port()) == port) {
                vec![
                    starts,
                    listens,
                    found("answer", format!("no answer at {url} within {after}: {observed}")),
                ]
            } else {
                vec![starts, found("listen", format!("it does not listen at {url} within {after}"))]
            }
        }
        LaunchError::Address(why) => vec![problem("certificate", why)],
    }
}

fn is_tls(why: &StartError) -> bool {
    matches!(why, StartError::Unreachable { observed: NoAnswer::NoTls(_), .. })
}

fn problem(about: &'static str, why: &impl Diagnostic) -> Finding {
    Finding::problem(about, error_text(&why), why.help().map(|help| help.to_string()).unwrap_or_default())
}

fn port_problem(listen: SocketAddr, why: &std::io::Error) -> Finding {
    Finding::problem(
        "port",
        format!("the mock service cannot listen on {listen} ({why})"),
        "stop the program that uses it, perhaps another run, or choose another address with --service-listen",
    )
}

/// Compares the clock of a running edge with that of this machine. None: the edge does not tell it.
async fn clock_of(attached: &Attached) -> Option<Finding> {
    let address = ServerAddress::resolve(attached.url.as_url(), attached.ca.as_deref()).await.ok()?;
    let answer = send(&address, &Draft::new("GET", &attached.ready_path), CLOCK_TIMEOUT).await.reply.ok()?;
    if answer.headers.contains_key("age") {
        // The answer of a cache.
        return None;
    }
    let date = httpdate::parse_http_date(answer.headers.get("date")?.to_str().ok()?).ok()?;
    let now = SystemTime::now();
    let (apart, direction) = match now.duration_since(date) {
        Ok(behind) => (behind, "behind"),
        Err(ahead) => (ahead.duration(), "ahead of"),
    };
    Some(if apart <= CLOCK_TOLERANCE {
        Finding::ok("clock of edge", "like that of this machine")
    } else {
        let apart = humantime::format_duration(Duration::from_secs(apart.as_secs()));
        let what = format!("it is {apart} {direction} that of this machine");
        Finding::problem("clock of edge", what, "set both clocks: licenses and certificates depend on them")
    })
}
