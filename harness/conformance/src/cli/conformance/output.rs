use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;

use edgeproof_cli::args::{ReportArgument, is_dumb_terminal};
use edgeproof_cli::exit_code::USAGE;
use edgeproof_cli::{Failure, error_text};
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_reports::{EarlierRun, Event, FileReport, Format, Github, Reader, Terminal, TerminalOptions};

use super::args::ConformanceArgs;
use crate::cli::run_text::{titles, width};
use crate::cli::spec_option::spec_option;

/// Readers that write report files. Opened before the run, so that an invalid path ends the command at once.
pub(super) fn file_readers(
    args: &ConformanceArgs,
    spec: &Spec,
) -> Result<Vec<Box<dyn Reader + Send>>, Failure> {
    ReportArgument::check_distinct(&args.report)?;
    if args.github && ReportArgument::any_to_stdout(&args.report) {
        return Err(Failure::usage(
            "cannot use --github with a report on standard output: annotations go there as well",
            "write the report to a file",
        ));
    }
    let mut reports = args.report.clone();
    if args.github
        && let Some(summary) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty())
    {
        reports.push(ReportArgument { format: Format::Markdown, path: summary.into() });
    }
    let open = |report: ReportArgument| {
        let file = FileReport::new(report.format, &report.path, titles(spec))
            .map_err(|why| Failure::of(&why, "name a file in a writable folder"))?;
        Ok(Box::new(file) as Box<dyn Reader + Send>)
    };
    reports.into_iter().map(open).collect()
}

/// The terminal, then `files`, then annotations for GitHub. The terminal is standard error if a report goes to standard
/// output. `earlier`: a run that the terminal compares with this one.
pub(super) fn all_readers(
    args: &ConformanceArgs,
    part: PartName,
    spec: &Spec,
    files: Vec<Box<dyn Reader + Send>>,
    earlier: Option<EarlierRun>,
) -> Vec<Box<dyn Reader + Send>> {
    let mut readers = if ReportArgument::any_to_stdout(&args.report) {
        vec![terminal(std::io::stderr(), args, part, spec, earlier)]
    } else {
        vec![terminal(std::io::stdout(), args, part, spec, earlier)]
    };
    readers.extend(files);
    if args.github {
        readers.push(Box::new(Github::new(std::io::stdout())));
    }
    readers
}

/// Passes an event to all readers.
pub(super) fn emit(readers: &mut [Box<dyn Reader + Send>], event: &Event) {
    for reader in readers {
        reader.read(event);
    }
}

/// Writes the reports. Yields the exit code: a missing report turns success into an error.
pub(super) fn finish(readers: Vec<Box<dyn Reader + Send>>, exit_code: u8) -> u8 {
    let mut exit_code = exit_code;
    for mut reader in readers {
        match reader.finish() {
            // The reader of standard output has read enough.
            Err(why) if why.kind() == ErrorKind::BrokenPipe => {}
            Err(why) => {
                let text = error_text(&why);
                // A full terminal or pipe gives only the system's error.
                let what = if text.starts_with("cannot ") { "" } else { "cannot write a report: " };
                let _ = writeln!(std::io::stderr().lock(), "{what}{text}");
                exit_code = if exit_code == 0 { USAGE } else { exit_code };
            }
            Ok(()) => {}
        }
    }
    exit_code
}

fn terminal<W: Write + IsTerminal + AsFd + Send + 'static>(
    out: W,
    args: &ConformanceArgs,
    part: PartName,
    spec: &Spec,
    earlier: Option<EarlierRun>,
) -> Box<dyn Reader + Send> {
    let options = TerminalOptions {
        color: args.color.is_enabled_on(&out),
        live: out.is_terminal() && !is_dumb_terminal() && args.hold.is_none() && !args.quiet,
        details: args.details,
        quiet: args.quiet,
        verbose: args.verbose,
        width: width(&out),
        titles: titles(spec),
        embedded: part.embedded(),
        interface_options: spec_option(&args.interface.spec),
        earlier,
        ..TerminalOptions::default()
    };
    Box::new(Terminal::new(out, options))
}
