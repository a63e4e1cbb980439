//! The program as users call it.

mod exit_codes;
mod outputs;
mod own_limits;
mod partial;
mod self_test;
mod shards;
mod targets;

/// A short run of 40 operations, at a rate that a busy machine can serve.
const SHORT: &str = "--rate 80 --duration 500ms --warm-up 100ms --unchecked";
