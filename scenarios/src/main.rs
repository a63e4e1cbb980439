//! The program `edgeproof-load`: will load edges and verdict endpoints. This version has no scenario yet, and says so.

use std::io::Write;
use std::process::ExitCode;

/// The command is wrong: what it asks for does not exist.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let text = "failed to run a load scenario: this version of edgeproof has none yet\n";
    // Where nobody reads standard error, the exit code tells.
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::from(EXIT_USAGE)
}
