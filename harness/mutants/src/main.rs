//! The program `edgeproof-mutants`: tests edgeproof's own cases.

use std::process::ExitCode;

fn main() -> ExitCode {
    edgeproof_mutants::main()
}
