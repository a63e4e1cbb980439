use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use edgeproof_cli::exit_code::{BROKEN, INCOMPLETE};
use edgeproof_cli::{Failure, write_stdout};

use edgeproof_launch::{CommandLine, Launch};
use edgeproof_reports::interface::TextForm;
use edgeproof_targets::Target;

use super::matrices::MatrixArgs;
use super::play::play;
use super::revision::ComparedSpec;
use crate::interface_change::{AcceptedChange, Class, Comparison, ComparisonOptions};

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The old version: a version, a folder of tables, an overlay file, or REV:FOLDER of a git repository
    #[arg(value_name = "A")]
    old: ComparedSpec,
    /// The new version, likewise
    #[arg(value_name = "B")]
    new: ComparedSpec,
    /// Compare the rows only, and play nothing
    #[arg(long = "static")]
    only_rows: bool,
    /// Exit 1 if a changed row is breaking, untested, or changed at all
    #[arg(long, value_name = "CLASS", value_enum)]
    fail_on: Option<FailOn>,
    /// File of accepted changes: the id of a row and a reason in each line. They do not count for --fail-on
    #[arg(long, value_name = "FILE")]
    accepted: Option<PathBuf>,
    /// Start this edge, and say for each changed row on which side it is
    #[arg(long, value_name = "COMMAND", conflicts_with = "only_rows")]
    launch: Option<String>,
    #[command(flatten)]
    matrix: MatrixArgs,
    /// Form of the output
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Text)]
    format: Form,
}

/// What makes a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A part of the old version fails a `must` of the new one.
    Breaking,
    /// That, or no case plays a changed row.
    Untested,
    /// Any changed row.
    Any,
}

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal.
    Text,
    /// For a pull request.
    Markdown,
    /// For scripts.
    Json,
    /// One page for people, without network or script.
    Html,
}

/// `edgeproof spec diff`.
pub(super) fn main(args: &DiffArgs) -> Result<u8, Failure> {
    if args.old.is_same_path(&args.new) {
        let what = format!("cannot compare {} with itself", args.new);
        return Err(Failure::usage(what, "name two versions, folders, overlays or revisions"));
    }
    let (old, new) = (Arc::new(args.old.load()?), Arc::new(args.new.load()?));
    if args.only_rows && args.fail_on.is_some_and(|fail_on| fail_on != FailOn::Any) {
        let what = "cannot judge classes: --static plays nothing";
        return Err(Failure::usage(what, "omit --static, or use --fail-on any"));
    }
    let matrices = args.matrix.read(&[&old, &new])?;
    let accepted = args.accepted.as_deref().map(read_accepted).transpose()?.unwrap_or_default();
    let target = args.launch.as_deref().map(launched).transpose()?;
    let options = ComparisonOptions { only_rows: args.only_rows, faults: None, target };
    let mut compared = play(async {
        Comparison::of(&old, &new, &options)
            .await
            .map_err(|why| Failure::of(&why, "check TMPDIR and the limit on open files").incomplete())
    })?;
    compared.add_mutants(matrices.mutants());
    compared.accept(accepted);
    let view = compared.view();
    let text = match args.format {
        Form::Text => view.to_text(TextForm::Terminal),
        Form::Markdown => view.to_text(TextForm::Markdown),
        Form::Html => view.to_html(),
        Form::Json => {
            let json = serde_json::to_string_pretty(&compared);
            json.map_err(|why| Failure::of(&why, "this is a bug in edgeproof: report it"))? + "\n"
        }
    };
    write_stdout(text.as_bytes())?;
    let mut code = if compared.not_run.is_empty() { 0 } else { INCOMPLETE };
    if let Some(why) = &compared.target_failure {
        let what = format!("cannot try the target of --launch: {why}");
        let advice = "correct the command; `edgeproof conformance --launch` with it shows its log";
        code = Failure::usage(what, advice).incomplete().print();
    }
    let is_stale = compared.accepted.iter().any(|change| change.stale);
    Ok(if is_stale || fails(args.fail_on, &compared) { BROKEN } else { code })
}

/// The edge that this command starts.
fn launched(command: &str) -> Result<Target, Failure> {
    Ok(Target::Launched(Launch::new(CommandLine::parse(command)?)))
}

fn fails(fail_on: Option<FailOn>, compared: &Comparison) -> bool {
    let Some(fail_on) = fail_on else { return false };
    let mut others = compared.points.iter().chain(&compared.sections);
    if fail_on == FailOn::Any && others.any(|other| !compared.is_accepted(&other.field)) {
        return true;
    }
    let mut open = compared.changes.iter().filter(|change| !compared.is_accepted(&change.row));
    open.any(|change| {
        let has = |class| change.parts.iter().any(|part| part.class == class);
        match fail_on {
            FailOn::Breaking => has(Class::Breaking),
            FailOn::Untested => has(Class::Breaking) || has(Class::Untested) || change.parts.is_empty(),
            FailOn::Any => true,
        }
    })
}

/// The accepted changes by row or open point.
fn read_accepted(path: &Path) -> Result<Vec<AcceptedChange>, Failure> {
    let what = || format!("cannot read the accepted changes {}", path.display());
    let text = fs::read_to_string(path)
        .map_err(|why| Failure::usage(format!("{}: {why}", what()), "check the path"))?;
    let mut accepted: Vec<AcceptedChange> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((id, reason)) = line.split_once(char::is_whitespace) else {
            let what = format!("{}: line {number} has no reason: {line}", what());
            return Err(Failure::usage(
                what,
                "write the id of the row, a space, and why the change is accepted",
            ));
        };
        if let Some(first) = accepted.iter().find(|change| change.row == id) {
            let what = format!("{}: line {number} has {id}, and line {} as well", what(), first.line);
            return Err(Failure::usage(what, "keep one line for each row"));
        }
        let (row, reason) = (id.to_owned(), reason.trim().to_owned());
        accepted.push(AcceptedChange { row, reason, line: number, stale: false });
    }
    Ok(accepted)
}
