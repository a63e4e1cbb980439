//! The program on the command line: output, files and exit codes.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which the lints do not know as such")]

mod asking;
mod broken;
mod ends;
mod golden;
mod mistakes;
mod program;
mod runs;
