//! Mock service over real sockets, with TLS and certificates, against independent clients.
#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod actions;
mod collector_modes;
mod foreign;
mod kept_tokens;
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
