//! The program `edgeproof-mutants`.

use std::process::ExitCode;

fn main() -> ExitCode {
    edgeproof_mutants::main()
}
