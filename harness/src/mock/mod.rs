//! Mock service and reference edge: each one pure decision with thin I/O around it.

mod script;

pub use script::{Action, Facade, Match, Reply, Script, When};
