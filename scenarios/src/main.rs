//! The program `edgeproof-load`.

use std::process::ExitCode;

fn main() -> ExitCode {
    scenarios::cli::main()
}
