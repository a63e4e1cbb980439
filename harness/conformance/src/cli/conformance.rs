use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use edgeproof_reports::{Event, Github, Observation, Reader, Terminal, TerminalOptions};

use super::args::{Color, Conformance};
use super::plan::{Planned, Proven, plan, titles};
use crate::run::{EdgePool, Pins, ServiceRunner, Tally, run};
use edgeproof_cli::Failure;
use edgeproof_cli::exit_code::USAGE;
use edgeproof_cli::{error_text, runtime, signals};

/// How long what a dropped run leaves behind may take to end.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

/// `edgeproof conformance`.
pub(super) fn main(args: Conformance) -> Result<u8, Failure> {
    let runtime = runtime()?;
    // Before anything is planned: a plan holds credentials in files, which go with it and not with a killed process.
    let interrupted = {
        let _context = runtime.enter();
        signals::interrupted().map_err(|why| {
            Failure::usage(format!("catch signals: {why}"), "check the limits on open files")
        })?
    };
    let planned = plan(&args)?;
    if args.list {
        return Ok(list(&planned));
    }
    let code = runtime.block_on(conform(args, planned, interrupted));
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    code
}

async fn conform(
    args: Conformance,
    planned: Planned,
    interrupted: impl Future<Output = signals::Interruption>,
) -> Result<u8, Failure> {
    let Planned { plan, spec, proven, redactor, options, mut verdict, seed, record, mut readers } = planned;
    readers.insert(0, Box::new(Terminal::new(std::io::stdout(), terminal_options(&args, &spec))));
    if args.github {
        readers.push(Box::new(Github::new(std::io::stdout())));
    }
    let (kind, target) = match &proven {
        Proven::Edges(options) => (options.target.kind(), options.target.name().to_owned()),
        Proven::Service(options) => (options.kind(), options.name()),
    };
    let planned = Event::Planned {
        cases: plan.cases.len(),
        spec_version: spec.version().to_string(),
        spec_digest: spec.digest().to_owned(),
        kind,
        target: redactor.redact(&target).into_owned(),
        seed,
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
    };
    let options = Arc::new(options);
    let mut observations = Vec::new();
    let mut tell = |event: Event| tell(&mut readers, &mut observations, &event);
    let mut tally = Tally::new(&plan);
    let ended = match proven {
        Proven::Edges(pool) => {
            let edge_pool = EdgePool::new(*pool).await.map_err(|why| {
                Failure::of(&why, "choose another address with --service-listen, or end what listens there")
            })?;
            let edge_pool = Arc::new(edge_pool);
            tell(planned);
            let ended = tokio::select! {
                () = run(&plan, &edge_pool, &options, &verdict, &mut tally, &mut tell) => None,
                signal = interrupted => Some(signal.exit_code()),
            };
            if ended.is_none()
                && let Some(edge_pool) = Arc::into_inner(edge_pool)
            {
                edge_pool.stop().await;
            }
            ended
        }
        Proven::Service(service) => {
            let runner = Arc::new(ServiceRunner::new(*service));
            tell(planned);
            tokio::select! {
                () = run(&plan, &runner, &options, &verdict, &mut tally, &mut tell) => None,
                signal = interrupted => Some(signal.exit_code()),
            }
        }
    };
    verdict.interrupted = ended;
    let code = tally.finish(&verdict, &mut tell);
    if let (Some(path), None) = (record, ended) {
        Pins::record(&path, &observations)?;
    }
    Ok(finish(readers, code))
}

fn tell(readers: &mut [Box<dyn Reader + Send>], observations: &mut Vec<Observation>, event: &Event) {
    if let Event::Finished { observations: all, .. } = event {
        observations.clone_from(all);
    }
    for reader in readers {
        reader.read(event);
    }
}

/// A report that could not be written is said at the end, since the run is done all the same; a run without its report
/// is no success.
fn finish(readers: Vec<Box<dyn Reader + Send>>, code: u8) -> u8 {
    let mut code = code;
    for mut reader in readers {
        if let Err(why) = reader.finish() {
            // Whoever closed standard output has seen enough: that says nothing about the target.
            if why.kind() != std::io::ErrorKind::BrokenPipe {
                let _ = writeln!(std::io::stderr().lock(), "failed to write a report: {}", error_text(&why));
                code = if code == 0 { USAGE } else { code };
            }
        }
    }
    code
}

fn terminal_options(args: &Conformance, spec: &edgeproof_fixtures::spec::Spec) -> TerminalOptions {
    let terminal = std::io::stdout().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = if terminal { terminal_width() } else { TerminalOptions::default().width };
    TerminalOptions {
        color: match args.color {
            Color::Auto => terminal && !no_color && !dumb,
            Color::Always => true,
            Color::Never => false,
        },
        live: terminal && !dumb && args.hold.is_none() && !args.quiet,
        quiet: args.quiet,
        verbose: args.verbose,
        width,
        titles: titles(spec),
    }
}

fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(100, |size| usize::from(size.ws_col).clamp(60, 160))
}

/// The cases, one a line. A closed pipe ends it quietly.
fn list(planned: &Planned) -> u8 {
    let width = planned.plan.cases.iter().map(|(case, _)| case.id.len()).max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    for (case, why) in &planned.plan.cases {
        let note = why.as_ref().map_or(String::new(), |why| format!("  [not applicable: {why}]"));
        if writeln!(out, "{:width$}  {:6}  {}{note}", case.id, case.level.name(), case.title).is_err() {
            break;
        }
    }
    0
}
