use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use edgeproof_cli::exit_code::BROKEN;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::counted;
use edgeproof_reports::escape::one_line;

use super::evidence::{Evidence, RowState};
use super::interface_args::InterfaceArgs;
use super::sections::{Section, sections};

#[derive(Debug, Args)]
pub(super) struct CoverageArgs {
    /// JSON reports of runs: edge, service, key set, collector
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Exit 1 if a row has this state (repeatable)
    #[arg(long, value_name = "STATE")]
    fail_on: Vec<FailOn>,
    #[command(flatten)]
    interface: InterfaceArgs,
}

/// Value of `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A case of the row failed
    Failed,
    /// No case of the row ran
    Untested,
}

impl FailOn {
    fn state(self) -> RowState {
        match self {
            Self::Failed => RowState::Failed,
            Self::Untested => RowState::Untested,
        }
    }
}

/// `edgeproof spec coverage`.
pub(super) fn run(args: &CoverageArgs) -> Result<u8, Failure> {
    let spec = args.interface.spec.load()?;
    let evidence = Evidence::read(&args.reports, &spec)?;
    write_stdout(text(&spec, &evidence).as_bytes())?;
    let fails = spec.rows().iter().map(|row| evidence.result(row).state);
    let is_broken = fails.into_iter().any(|state| args.fail_on.iter().any(|fail| fail.state() == state));
    Ok(if is_broken { BROKEN } else { 0 })
}

fn text(spec: &Spec, evidence: &Evidence) -> String {
    let sections = sections(spec);
    let counts: Vec<_> = sections.iter().map(|section| counts(section, evidence)).collect();
    let total = std::array::from_fn(|column| counts.iter().map(|counts| counts[column]).sum());
    let mut text = format!(
        "{} of the interface {} in {}\n\n",
        counted(spec.rows().len(), "row"),
        spec.version(),
        counted(evidence.reports(), "report")
    );
    let headings: Vec<_> = sections.iter().map(Section::heading).collect();
    let width = headings.iter().map(|heading| heading.chars().count()).max().unwrap_or(0);
    _ = write!(text, "{:width$}  {:>4}", "section", "rows");
    for state in RowState::ALL {
        _ = write!(text, "  {}", state.name());
    }
    text.push('\n');
    for (heading, counts) in headings.iter().map(String::as_str).zip(&counts).chain([("total", &total)]) {
        _ = write!(text, "{heading:width$}  {:>4}", counts.iter().sum::<usize>());
        for (state, count) in RowState::ALL.iter().zip(counts) {
            let count = if *count == 0 { "-".to_owned() } else { count.to_string() };
            _ = write!(text, "  {count:>width$}", width = state.name().len());
        }
        text.push('\n');
    }
    for state in [RowState::Failed, RowState::Warned, RowState::Excluded, RowState::Untested] {
        list(&mut text, &sections, evidence, state);
    }
    text
}

/// The number of rows of each state.
fn counts(section: &Section<'_>, evidence: &Evidence) -> [usize; RowState::ALL.len()] {
    let states: Vec<_> = section.rows.iter().map(|row| evidence.result(row).state).collect();
    RowState::ALL.map(|state| states.iter().filter(|known| **known == state).count())
}

/// The rows of a state, each with its reasons.
fn list(text: &mut String, sections: &[Section<'_>], evidence: &Evidence, state: RowState) {
    let rows = sections.iter().flat_map(|section| &section.rows);
    let mut found = rows.map(|row| (row, evidence.result(row))).filter(|(_, result)| result.state == state);
    let Some(first) = found.next() else { return };
    _ = write!(text, "\n{}\n", state.name());
    for (row, result) in std::iter::once(first).chain(found) {
        _ = write!(text, "  {} ({}, §{})", row.id, row.level.name(), row.section);
        match result.why.as_slice() {
            [why] => _ = writeln!(text, ": {}", one_line(why)),
            reasons => {
                text.push('\n');
                for why in reasons {
                    _ = writeln!(text, "    {}", one_line(why));
                }
            }
        }
    }
}
