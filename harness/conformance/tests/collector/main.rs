//! `edgeproof conformance collector` in Chromium: the program, modules of others, hostile modules, and what is left after
//! a run. The page of `edgeproof mock --page` as well. A missing Chromium fails these tests.
#![expect(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod demo_page;
mod diff;
mod hostile;
#[expect(dead_code, reason = "the target `integration` uses the rest")]
#[path = "../integration/limited.rs"]
mod limited;
mod modules;
mod own_format;
mod program;
#[cfg(target_os = "linux")] // it reads /proc
mod signals;
#[path = "../integration/cli/support.rs"]
mod support;
#[path = "../integration/tested_program.rs"]
mod tested_program;
mod wrapped;
