//! The program `edgeproof`: proves that the parts of a browser verification service keep their interface.

use std::process::ExitCode;

fn main() -> ExitCode {
    edgeproof::cli::main()
}
