//! What the tests share: the machine, limits of waits, cases that are played together, and the program.

mod cases;
mod limit;
mod machine;
mod program_call;
mod program_output;

pub(crate) use cases::{Cases, block_on};
pub(crate) use limit::{LIMIT, until};
pub(crate) use machine::{GOOSE, MACHINE};
pub(crate) use program_call::{ProgramCall, ProgramRun, RunningProgram};
