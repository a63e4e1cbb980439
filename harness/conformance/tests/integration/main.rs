//! All tests of the library and the program that need no browser, in one binary: one link, and one queue of tests.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "the lints do not recognise test helpers")]

mod broken_edge;
mod cli;
mod conformance;
mod coverage;
mod documented;
mod edge_program;
mod exploration;
mod fifth_part;
mod held_port;
#[cfg(target_os = "linux")]
mod hostile;
mod limited;
mod mint;
mod mock_program;
mod needs;
mod rendered_texts;
mod service_conformance;
mod structure;
mod target;
mod tested_program;
mod together;
mod variants;
mod versions;
mod wire;
