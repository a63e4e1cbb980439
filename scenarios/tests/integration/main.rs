//! The load generator: its parts in this process, and the program as users call it.
#![expect(clippy::unwrap_used, reason = "test helpers, which clippy does not recognise as tests")]

mod gather_uploads;
mod goose_scenario;
mod limits;
mod outcomes;
mod program;
mod recording_server;
#[expect(dead_code, reason = "the other tests of the documents use the rest")]
#[path = "../../../harness/conformance/tests/integration/documented/shown.rs"]
mod shown;
#[cfg(target_os = "linux")]
mod starved;
mod support;
mod user_connection;
