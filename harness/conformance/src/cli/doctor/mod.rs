//! `edgeproof doctor`: checks of this machine, of the start of the edge, and of its use of each setting.

mod edge;
mod finding;
mod machine;
mod settings;

use clap::{Args, Command};
use edgeproof_cli::exit_code::BROKEN;
use edgeproof_cli::{Failure, runtime, signals, write_stdout};
use edgeproof_reports::counted;

use super::config::{ConfigArgs, Given, InForce, Positional, in_force};
use super::edges::{EdgeTargetArgs, InterfaceArgs};
use finding::{Finding, State};

/// Exit codes, shown in the help.
const EXIT_CODES: &str = "\
Exit codes:
  0         no problem was found; notes do not count
  1         a problem was found
  2         the command or a file that it names is invalid
  130, 143  stopped by SIGINT, SIGTERM";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    edge: EdgeTargetArgs,
    #[command(flatten)]
    interface: InterfaceArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// `edgeproof doctor`. `options`: the command whose options `edgeproof.toml` sets.
pub(super) fn main(given: &Given<DoctorArgs>, options: &Command) -> Result<u8, Failure> {
    let mut in_force = in_force("doctor", options, given, &given.args.config, Positional::Edge)?;
    in_force.args.edge.launch_folder = in_force.folder("launch");
    let runtime = runtime()?;
    // Before credentials are written to files: a killed process would leave them behind.
    let interrupted = {
        let _context = runtime.enter();
        signals::catch()?
    };
    // Wrong input exits 2 before anything runs.
    let edges = edge::Edges::of(&in_force.args).inspect_err(|_| in_force.note())?;
    runtime.block_on(async {
        tokio::select! {
            // Dropping the checks ends their edges.
            code = examine(&in_force, edges) => code,
            signal = interrupted => Ok(signal.exit_code()),
        }
    })
}

/// Prints each finding as soon as it is known, and a last line.
async fn examine(in_force: &InForce<DoctorArgs>, edges: edge::Edges) -> Result<u8, Failure> {
    let mut printer = Printer { problems: 0 };
    if let Some(line) = &in_force.line {
        write_stdout(format!("{line}\n").as_bytes())?;
    }
    for finding in machine::findings().await {
        printer.print(&finding)?;
    }
    edges.examine(&in_force.args, &mut printer).await?;
    let (text, code) = match printer.problems {
        0 => ("no problem was found".to_owned(), 0),
        problems => (format!("{} found", counted(problems, "problem")), BROKEN),
    };
    write_stdout(format!("{text} (exit {code})\n").as_bytes())?;
    Ok(code)
}

/// Prints findings, and counts the problems.
struct Printer {
    problems: usize,
}

impl Printer {
    fn print(&mut self, finding: &Finding) -> Result<(), Failure> {
        self.problems += usize::from(finding.state == State::Problem);
        write_stdout(format!("{finding}\n").as_bytes())
    }
}
