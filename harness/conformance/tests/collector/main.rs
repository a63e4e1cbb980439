//! `edgeproof conformance collector` in Chromium: the program, modules of others, hostile modules, and what is left after
//! a run.
#![expect(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod hostile;
mod modules;
mod program;
mod signals;
#[path = "../cli/support.rs"]
mod support;
mod wrapped;
