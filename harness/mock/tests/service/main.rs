//! The mock service, as a client of its own sees it: over real sockets, with TLS and certificates.
#![expect(clippy::unwrap_used, reason = "what a helper of a test cannot have fails the test")]

mod actions;
mod foreign;
mod keys;
mod lifetime;
mod modes;
mod recording;
mod replays;
mod rows;
mod scripts;
mod server;
mod support;
mod verdict_rows;
mod verdicts;
mod waits;
mod wire;
