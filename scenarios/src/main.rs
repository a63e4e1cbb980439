//! The program `edgeproof-load`.

use std::process::ExitCode;

fn main() -> ExitCode {
    edgeproof_load::cli::main()
}
