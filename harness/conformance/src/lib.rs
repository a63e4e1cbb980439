//! Conformance of the parts of a browser verification service: cases, judging, and the run that ties them.

mod case_glob;
pub mod cases;
pub mod causes;
pub mod cli;
pub mod collector;
mod curl;
pub mod interface_change;
pub mod judge;
pub mod monitor;
mod nearest;
mod request_text;
mod row_facts;
pub mod run;
pub mod snapshot;
pub mod states;
