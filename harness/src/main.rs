//! The program `edgeproof`.

fn main() {}
