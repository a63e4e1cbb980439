//! The program on the command line: output, files and exit codes.

mod collector;
mod config;
mod doctor;
mod earlier_cases;
mod explaining;
mod failing_edges;
mod frictions;
mod init;
mod invalid_arguments;
mod last_run;
mod listing;
mod new_baseline;
mod report_diff;
mod report_matrix;
mod report_show;
mod rerunning;
mod runs;
mod serving;
mod signals;
mod snapshots_of_rows;
mod spec_coverage;
mod spec_export;
mod spec_reports;
mod support;
mod terminal;
mod verdicts;

pub(crate) use spec_reports::matrix;
pub(crate) use support::VARIES;
