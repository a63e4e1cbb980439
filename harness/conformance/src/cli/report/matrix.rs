use std::path::Path;

use clap::{Args, ValueEnum};
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_reports::Report;
use edgeproof_reports::run_matrix::{NamedRun, RunMatrix};

use super::column::{ColumnFile, names};
use super::stored::{built_in, load};
use crate::cli::run_text::titles;

/// Exit codes, shown in the help.
const EXIT_CODES: &str = "\
Exit codes:
  0  the matrix is printed, whatever the results of its runs
  2  a report is invalid, or about another interface or part than the first";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct MatrixArgs {
    /// JSON reports of runs, one for each column; NAME names its column (default: the name of the file)
    #[arg(required = true, value_name = "[NAME=]FILE")]
    reports: Vec<String>,
    /// Form of the output
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Text)]
    format: Form,
}

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal.
    Text,
    /// For a document.
    Markdown,
    /// One page.
    Html,
    /// For scripts.
    Json,
}

/// `edgeproof report matrix`.
pub(super) fn main(args: &MatrixArgs) -> Result<u8, Failure> {
    let columns = args.reports.iter().map(|argument| ColumnFile::parse(argument, Path::is_file));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    check_distinct(&columns)?;
    let names = names(&columns)?;
    let reports = columns.iter().map(|column| load(&column.path)).collect::<Result<Vec<Report>, _>>()?;
    let files: Vec<String> = columns.iter().map(|column| column.path.display().to_string()).collect();
    let runs: Vec<NamedRun<'_>> = names
        .iter()
        .zip(&files)
        .zip(&reports)
        .map(|((name, file), report)| NamedRun { name, file, report })
        .collect();
    let spec = reports.first().and_then(|report| built_in(&report.spec));
    let titles = spec.as_ref().map(titles).unwrap_or_default();
    let matrix = RunMatrix::new(&runs, &titles).map_err(|why| Failure::of(&why, why.advice()))?;
    let text = match args.format {
        Form::Text => matrix.to_text(),
        Form::Markdown => matrix.to_markdown(),
        Form::Html => matrix.to_html(),
        Form::Json => matrix.to_json(),
    };
    write_stdout(text.as_bytes()).map(|()| 0)
}

/// Refuses a file that is given twice.
fn check_distinct(columns: &[ColumnFile]) -> Result<(), Failure> {
    let paths: Vec<_> =
        columns.iter().map(|column| column.path.canonicalize().unwrap_or(column.path.clone())).collect();
    match paths.iter().enumerate().find(|(at, path)| paths[..*at].contains(path)) {
        None => Ok(()),
        Some((at, _)) => Err(Failure::usage(
            format!("cannot add the report {} twice", columns[at].path.display()),
            "give each report once",
        )),
    }
}
