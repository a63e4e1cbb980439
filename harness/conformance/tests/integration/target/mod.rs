//! Targets with real programs: start, end and cleanup.

mod attach;
mod embedded;
mod end;
mod launch;
mod program;
