use std::path::PathBuf;

use clap::{Args, ValueEnum};
use edgeproof_cli::args::ColorChoice;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::{PartName, Spec, SpecChoice};
use edgeproof_reports::{Format, Report, Terminal, TerminalOptions, Titles, render};

use super::stored::{built_in, load};
use crate::cli::part_names::PartNames;
use crate::cli::run_text::{titles, width};
use crate::cli::spec_option::spec_option;

/// Exit codes, shown in the help.
const EXIT_CODES: &str = "\
Exit codes:
  0  the report is printed, whatever the result of its run
  2  the report is invalid";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct ShowArgs {
    /// JSON report of a run
    #[arg(value_name = "FILE")]
    report: PathBuf,
    /// Format: text, html, markdown, junit or json
    #[arg(long = "as", value_name = "FORMAT", value_enum, hide_possible_values = true, default_value_t = ShownAs::Text)]
    format: ShownAs,
    /// Show all failures and warnings in full, with --as text
    #[arg(long)]
    details: bool,
}

/// Value of `--as`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShownAs {
    /// As a run prints it.
    Text,
    /// One page.
    Html,
    /// For a pull request.
    Markdown,
    /// For build servers.
    Junit,
    /// For programs.
    Json,
}

impl ShownAs {
    /// The format of a report file. None: text for a terminal.
    fn file(self) -> Option<Format> {
        match self {
            Self::Text => None,
            Self::Html => Some(Format::Html),
            Self::Markdown => Some(Format::Markdown),
            Self::Junit => Some(Format::Junit),
            Self::Json => Some(Format::Json),
        }
    }
}

/// `edgeproof report show`.
pub(super) fn main(args: &ShowArgs) -> Result<u8, Failure> {
    let file = args.format.file();
    if let Some(format) = file.filter(|_| args.details) {
        return Err(Failure::usage(
            format!("cannot use --details with --as {}", format.name()),
            "only text leaves details out: omit --details",
        ));
    }
    let report = load(&args.report)?;
    let spec = built_in(&report.spec);
    let titles = spec.as_ref().map(titles).unwrap_or_default();
    let text = match file {
        Some(format) => render(format, &report, &titles),
        None => text(&report, spec.as_ref(), titles, args.details)?,
    };
    write_stdout(text.as_bytes()).map(|()| 0)
}

/// The report as its run printed it.
fn text(report: &Report, spec: Option<&Spec>, titles: Titles, details: bool) -> Result<String, Failure> {
    let part = spec.and_then(|spec| PartNames::of(spec).of_report(report).parse().ok());
    let version = report.spec.version.parse().map(SpecChoice::Builtin);
    let options = TerminalOptions {
        color: ColorChoice::Auto.is_enabled(),
        details,
        width: width(&std::io::stdout()),
        titles,
        embedded: part.map_or("reference part", PartName::embedded),
        interface_options: version.map_or(String::new(), |version| spec_option(&version)),
        in_full: "--details, or --as html",
        ..TerminalOptions::default()
    };
    let mut text = Vec::new();
    report
        .replay(&mut Terminal::new(&mut text, options))
        .map_err(|why| Failure::of(&why, "report this as an error of edgeproof"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
