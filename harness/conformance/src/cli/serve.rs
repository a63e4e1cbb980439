use std::time::Duration;

use clap::{Args, Command};
use edgeproof_cli::{Failure, runtime, signals, write_stdout};
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_mock::ReplyShape;

use super::config::{ConfigArgs, Given, Positional, in_force};
use super::edges::{EdgeSelection, EdgeTargetArgs, InterfaceArgs, edge_options};
use super::other_id::other_id;
use crate::cases::{self, Case, Catalog, Edge};
use crate::nearest::{nearest_ids, similar_text};
use crate::run::ServedCase;

/// Exit codes, shown in the help.
const EXIT_CODES: &str = "\
Exit codes:
  2         the command or a file that it names is invalid
  3         the edge does not start, or it died
  130, 143  ended by Ctrl-C or SIGTERM";

/// Longest wait for background work at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct ServeArgs {
    /// Id of the case, such as relay.body.large-numbers
    #[arg(value_name = "CASE")]
    case: String,
    #[command(flatten)]
    edge: EdgeTargetArgs,
    #[command(flatten)]
    interface: InterfaceArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// `edgeproof serve`. `options`: the command whose options `edgeproof.toml` sets.
pub(super) fn main(given: &Given<ServeArgs>, options: &Command) -> Result<u8, Failure> {
    let ServeArgs { case, config, .. } = &given.args;
    let positional = Positional::Case(case);
    let mut in_force = in_force("serve", options, given, config, positional)?;
    in_force.args.edge.launch_folder = in_force.folder("launch");
    in_force.note();
    let args = &in_force.args;
    let runtime = runtime()?;
    // Before credentials are written to files: a killed process would leave them behind.
    let interrupted = {
        let _context = runtime.enter();
        signals::catch()?
    };
    let served = plan(args)?;
    let mut broken = None;
    let mut print = |text: String| {
        if let Err(why) = write_stdout(format!("{text}\n").as_bytes()) {
            broken = Some(why);
        }
    };
    let ended = runtime.block_on(served.serve(&mut print, async { interrupted.await.exit_code() }));
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    let code = ended.map_err(|why| Failure::within("cannot serve the case", &why).incomplete())?;
    broken.map_or(Ok(code), Err)
}

/// Validates the arguments.
fn plan(args: &ServeArgs) -> Result<ServedCase, Failure> {
    let (spec, profile, shape) = args.interface.load()?;
    let case = find(&spec, &shape, &args.case)?;
    if args.edge.url.is_some() && args.edge.settings.is_none() {
        return Err(Failure::usage(
            "cannot serve a case at this edge: the service behind it is not the mock service",
            "add --settings DIR, with the settings from `edgeproof mint edge-settings` that the edge runs with",
        ));
    }
    let edges = edge_options(&args.edge, EdgeSelection::default(), &spec, profile, shape)?;
    if let Some(need) = edges.unmet(&case).first() {
        return Err(Failure::usage(
            format!("cannot serve {} at this edge: the case {need}", case.id),
            "serve it with --launch CMD, or without a target at the embedded edge",
        ));
    }
    Ok(ServedCase { case, edges })
}

/// The case of an edge with this id.
fn find(spec: &Spec, shape: &ReplyShape, id: &str) -> Result<Case<Edge>, Failure> {
    let catalog = Catalog::new(spec, shape, false).explore(true);
    let edge = cases::edge(catalog);
    if let Some(case) = edge.iter().find(|case| case.id == id) {
        return Ok(case.clone());
    }
    if let Some(other) = cases::all(catalog).iter().find(|case| case.facts().id == id) {
        return Err(Failure::usage(
            format!("cannot serve {id}: the case tests no edge"),
            format!("run it with `edgeproof conformance {} --filter {id}`", other.part()),
        ));
    }
    if let Some(failure) = other_id(spec, id, PartName::Edge.name(), &format!("cannot serve {id:?}")) {
        return Err(failure);
    }
    let similar = nearest_ids(id, edge.iter().map(|case| case.id.as_str()));
    Err(Failure::usage(
        format!("cannot serve {id:?}: no case has this id{}", similar_text(&similar)),
        "`edgeproof conformance --list` lists all ids",
    ))
}
