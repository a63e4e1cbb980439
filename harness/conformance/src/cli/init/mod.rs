//! `edgeproof init`: project → launch command → `edgeproof.toml` and a workflow → first run.

mod files;
mod questions;
mod stack;
mod workflow;

use std::env;
use std::io::{IsTerminal as _, stderr, stdin};
use std::path::Path;

use clap::Args;
use edgeproof_cli::exit_code::{BROKEN, INCOMPLETE};
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_launch::CommandLine;

use super::conformance::{baseline_of_last_run, check_file, run_file};
use files::{NewFiles, WORKFLOW, config_text};
use questions::Questions;
use stack::{Proposal, Stack};

/// The folder of the project.
const HERE: &str = ".";
/// Name of the configuration file.
const CONFIG: &str = "edgeproof.toml";
/// Name of the baseline that is offered.
const BASELINE: &str = "known.txt";

/// Exit codes, shown in the help.
const EXIT_CODES: &str = "\
Exit codes: those of the run, as of `edgeproof conformance`
  0         the edge conforms
  1         a must is violated
  2         the command or a file is invalid, or nobody can be asked and --yes is missing
  3         incomplete: the edge does not start or cannot be judged, so nothing is proven
  130, 143  stopped by SIGINT, SIGTERM";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct InitArgs {
    /// Command that starts the edge (default: found in package.json, pyproject.toml, go.mod or Cargo.toml)
    #[arg(long, value_name = "CMD ARG…")]
    launch: Option<String>,
    /// Ask nothing: use the command that is found, and keep files that exist
    #[arg(long, short)]
    yes: bool,
}

/// `edgeproof init`.
pub(super) fn main(args: &InitArgs) -> Result<u8, Failure> {
    let mut questions = match (args.yes, stdin().is_terminal() && stderr().is_terminal()) {
        (true, _) => Questions::none(),
        (false, true) => Questions::on_the_terminal(),
        (false, false) => {
            return Err(Failure::usage(
                "cannot ask before it writes: there is no terminal. Nothing was written",
                format!("add --yes: it writes {CONFIG} and {WORKFLOW}, and keeps those that exist"),
            ));
        }
    };
    let stacks = Stack::all_of(Path::new(HERE));
    let config = config(args, &stacks, &mut questions)?;
    if config.is_none() {
        check_file()?;
    }
    let steps = config.as_ref().and_then(|proposal| proposal.steps.clone());
    let first = || stacks.first().map(|stack| stack.steps(Path::new(HERE)));
    let workflow = workflow(&steps.or_else(first).unwrap_or_default(), &mut questions)?;
    let mut said = NewFiles::check(config.as_ref(), workflow.text.as_deref())?.write()?;
    said.extend(workflow.note);
    write_stdout(format!("{}\n\n", said.join("\n")).as_bytes())?;
    let code = run_file()?;
    match code {
        BROKEN => offer_baseline(config.as_ref(), &mut questions)?,
        INCOMPLETE => {
            write_stdout(b"\nnext: `edgeproof doctor` says what is missing, and what to do\n")?;
        }
        _ => {}
    }
    Ok(code)
}

/// What `edgeproof.toml` says. None: the file exists and stays.
fn config(args: &InitArgs, stacks: &[Stack], questions: &mut Questions) -> Result<Option<Proposal>, Failure> {
    let exists = Path::new(CONFIG).symlink_metadata().is_ok();
    if exists && !questions.agree(&format!("{CONFIG} exists. Replace it?"), false)? {
        if args.launch.is_some() {
            return Err(Failure::usage(
                format!("cannot use --launch: {CONFIG} exists and stays. Nothing was written"),
                format!("change `launch` in {CONFIG}, or remove the file"),
            ));
        }
        return Ok(None);
    }
    let proposal = if let Some(launch) = &args.launch {
        Proposal::given(launch)
    } else {
        let mut found = stacks.iter().map(|stack| stack.proposal(Path::new(HERE)));
        let found = found.find_map(Result::transpose).transpose()?;
        questions.launch(found)?.ok_or_else(|| no_command(stacks))?
    };
    CommandLine::parse(&proposal.launch)?;
    Ok(Some(proposal))
}

/// No launch command was found.
fn no_command(stacks: &[Stack]) -> Failure {
    let what = match stacks {
        [] => format!("there is no {}", Stack::manifests()),
        found => {
            let looked: Vec<_> = found.iter().map(|stack| stack.looked_for()).collect();
            format!("there is {}", looked.join(", and "))
        }
    };
    Failure::usage(
        format!("cannot find the command that starts the edge: {what}. Nothing was written"),
        "name it with --launch, such as --launch 'node edge.mjs', or run the command in the folder of the edge",
    )
}

/// The workflow to write, and what to say about it.
struct Workflow {
    text: Option<String>,
    note: Option<String>,
}

fn workflow(steps: &str, questions: &mut Questions) -> Result<Workflow, Failure> {
    let folder = env::current_dir().unwrap_or_default();
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    if let Some(root) = root.filter(|root| *root != folder) {
        let note = format!(
            "no {WORKFLOW}: GitHub reads workflows in the root of the repository only, {}; docs/ci.md has the lines",
            root.display()
        );
        return Ok(Workflow { text: None, note: Some(note) });
    }
    let exists = Path::new(WORKFLOW).symlink_metadata().is_ok();
    if exists && !questions.agree(&format!("{WORKFLOW} exists. Replace it?"), false)? {
        return Ok(Workflow { text: None, note: None });
    }
    let text = workflow::text(steps);
    Ok(Workflow { text: Some(text), note: workflow::note() })
}

/// After a failed run: offers to accept its failures for now. `config`: the file, if this command wrote it.
fn offer_baseline(config: Option<&Proposal>, questions: &mut Questions) -> Result<(), Failure> {
    // The user's own file says what is accepted.
    let Some(config) = config else { return Ok(()) };
    let path = Path::new(BASELINE);
    let can_write = questions.can_ask() && path.symlink_metadata().is_err();
    if can_write
        && questions.agree(&format!("\nAccept these failures for now, in {BASELINE}?"), false)?
        && let Some(written) = baseline_of_last_run(path)?
    {
        files::replace(Path::new(CONFIG), &config_text(config, Some(BASELINE)))?;
        let text = format!("{written}\nwrote `baseline = \"{BASELINE}\"` to {CONFIG}\n");
        return write_stdout(text.as_bytes());
    }
    let text = format!(
        "\nnext: correct the failures, or accept them for now:\n  edgeproof conformance --write-baseline {BASELINE}\n\
         and add the line `baseline = \"{BASELINE}\"` to {CONFIG}\n"
    );
    write_stdout(text.as_bytes())
}
