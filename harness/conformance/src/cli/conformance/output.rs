use std::io::{ErrorKind, IsTerminal, Write};

use edgeproof_cli::args::{ReportArgument, is_dumb_terminal};
use edgeproof_cli::exit_code::USAGE;
use edgeproof_cli::{Failure, error_text};
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::{Event, FileReport, Format, Github, Reader, Terminal, TerminalOptions, Titles};

use super::args::ConformanceArgs;

/// Readers that write report files. Opened before the run, so that an invalid path ends the command at once.
pub(super) fn file_readers(
    args: &ConformanceArgs,
    spec: &Spec,
) -> Result<Vec<Box<dyn Reader + Send>>, Failure> {
    ReportArgument::check_distinct(&args.report)?;
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

/// The terminal, then `files`, then annotations for GitHub.
pub(super) fn stdout_readers(
    args: &ConformanceArgs,
    spec: &Spec,
    files: Vec<Box<dyn Reader + Send>>,
) -> Vec<Box<dyn Reader + Send>> {
    let terminal = Terminal::new(std::io::stdout(), terminal_options(args, spec));
    let mut readers: Vec<Box<dyn Reader + Send>> = vec![Box::new(terminal)];
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
                let _ = writeln!(std::io::stderr().lock(), "cannot write a report: {}", error_text(&why));
                exit_code = if exit_code == 0 { USAGE } else { exit_code };
            }
            Ok(()) => {}
        }
    }
    exit_code
}

fn terminal_options(args: &ConformanceArgs, spec: &Spec) -> TerminalOptions {
    let is_terminal = std::io::stdout().is_terminal();
    TerminalOptions {
        color: args.color.is_enabled(),
        live: is_terminal && !is_dumb_terminal() && args.hold.is_none() && !args.quiet,
        quiet: args.quiet,
        verbose: args.verbose,
        width: if is_terminal { terminal_width() } else { TerminalOptions::default().width },
        titles: titles(spec),
    }
}

fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(100, |size| usize::from(size.ws_col).clamp(60, 160))
}

/// Titles of the interface's sections.
fn titles(spec: &Spec) -> Titles {
    let sections = spec.rows().iter().map(|row| row.section.as_str());
    sections
        .filter_map(|section| Some((section.to_owned(), spec.section_title(section)?.to_owned())))
        .collect()
}
