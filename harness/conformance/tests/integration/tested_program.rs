//! The one place where tests start the program.

use std::process::Command;

/// The program, in a folder without `edgeproof.toml`. A test with files chooses a folder of its own.
pub(crate) fn edgeproof() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof"));
    command.current_dir("/");
    command
}
