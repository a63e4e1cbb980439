//! The program on the command line: output, files and exit codes.
#![expect(clippy::unwrap_used, reason = "the lints do not recognise test helpers")]

mod asking;
mod broken;
mod ends;
mod golden;
mod mistakes;
mod program;
mod runs;
