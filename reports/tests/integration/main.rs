//! Documents of every format.

#![expect(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod comparison;
mod documents;
mod hostile_text;
mod interface;
mod load;
mod matrix;
mod report_files;
mod report_json;
mod run_matrix;
mod sample_run;
mod schemas;
mod terminal;
