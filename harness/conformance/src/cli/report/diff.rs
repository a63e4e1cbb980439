use std::path::{Path, PathBuf};

use clap::Args;
use edgeproof_cli::exit_code::BROKEN;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_reports::comparison::RunComparison;

use super::super::output_form::OutputForm;
use super::stored::load;
use crate::cases::Releases;

/// Exit codes, shown in the help.
const EXIT_CODES: &str = "\
Exit codes:
  0  no case is newly broken
  1  a case that passed or warned in OLD fails in NEW; a check that OLD did not have does not count
  2  a report is invalid, or the two cannot be compared";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct DiffArgs {
    /// JSON report of the old run
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// JSON report of the new run
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Form of the output
    #[arg(long, value_name = "FORM", value_enum, default_value_t = OutputForm::Text)]
    format: OutputForm,
}

/// `edgeproof report diff`.
pub(super) fn main(args: &DiffArgs) -> Result<u8, Failure> {
    let DiffArgs { old, new, format } = args;
    let is_same = |path: &Path| new.canonicalize().is_ok_and(|new| new == path);
    if old.canonicalize().is_ok_and(|old| is_same(&old)) {
        let what = format!("cannot compare the report {} with itself", old.display());
        return Err(Failure::usage(what, "give the reports of two runs, the older one first"));
    }
    let [old_name, new_name] = [old, new].map(|path| path.display().to_string());
    let (old, new) = (load(old)?, load(new)?);
    let removed = |id: &str| Releases::builtin().removal(id);
    let compared = RunComparison::new((&old_name, &old), (&new_name, &new), &removed)
        .map_err(|why| Failure::of(&why, why.advice()))?;
    let text = match format {
        OutputForm::Text => compared.to_text(),
        OutputForm::Markdown => compared.to_markdown(),
        OutputForm::Json => compared.to_json(),
    };
    write_stdout(text.as_bytes())?;
    Ok(if compared.is_worse() { BROKEN } else { 0 })
}
