//! The program `edgeproof-load`.

fn main() {}
