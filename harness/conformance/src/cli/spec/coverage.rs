use std::path::PathBuf;

use clap::{Args, ValueEnum};
use edgeproof_cli::exit_code::BROKEN;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::{Row, Spec};
use edgeproof_reports::ReportedSpec;
use edgeproof_reports::interface::{Coverage, CoveredRow, CoveredSection, EvidenceCounts, RowState};

use super::authority::authority;
use super::evidence::Evidence;
use super::interface_args::InterfaceArgs;
use super::matrices::{Matrices, MatrixArgs};
use super::sections::sections;

#[derive(Debug, Args)]
pub(super) struct CoverageArgs {
    /// JSON reports of runs: edge, service, key set, collector
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Exit 1 if a row has this state (repeatable)
    #[arg(long, value_name = "STATE")]
    fail_on: Vec<FailOn>,
    /// Form of the output
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Text)]
    format: Form,
    #[command(flatten)]
    matrix: MatrixArgs,
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

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal.
    Text,
    /// One page of evidence, for a reviewer.
    Html,
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
    let matrices = args.matrix.read(&[&spec])?;
    let evidence = Evidence::read(&args.reports, &spec, true)?;
    let coverage = coverage(&spec, &evidence, &matrices);
    let text = match args.format {
        Form::Text => coverage.to_text(),
        Form::Html => coverage.to_html(),
    };
    write_stdout(text.as_bytes())?;
    let is_broken = args.fail_on.iter().any(|fail| coverage.rows_in(fail.state()) > 0);
    Ok(if is_broken { BROKEN } else { 0 })
}

fn coverage(spec: &Spec, evidence: &Evidence, matrices: &Matrices) -> Coverage {
    let covered = |row: &Row| {
        let result = evidence.result(row);
        CoveredRow {
            id: row.id.clone(),
            section: row.section.clone(),
            level: row.level.name(),
            authority: authority(row),
            condition: row.condition.clone(),
            state: result.state,
            why: result.why,
            counts: counts(&[row], evidence, matrices),
            survived: matrices.survivors(&row.id),
        }
    };
    let sections = sections(spec).into_iter().map(|section| CoveredSection {
        heading: section.heading(),
        counts: counts(&section.rows, evidence, matrices),
        rows: section.rows.into_iter().map(covered).collect(),
    });
    Coverage {
        name: spec.name().to_owned(),
        spec: ReportedSpec { version: spec.version().to_owned(), digest: spec.digest().to_owned() },
        reports: evidence.reports().to_vec(),
        matrices: matrices.lines(),
        sections: sections.collect(),
        total: counts(&spec.rows().iter().collect::<Vec<_>>(), evidence, matrices),
    }
}

/// Cases and exchanges of rows, each once, and their mutants.
fn counts(rows: &[&Row], evidence: &Evidence, matrices: &Matrices) -> EvidenceCounts {
    let mut counts = evidence.counts(rows);
    for row in rows {
        counts.mutants += matrices.counts(&row.id);
    }
    counts
}
