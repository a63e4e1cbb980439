//! Admin port of a mock service: its typed API as JSON over HTTP without TLS, for tests in other languages.
//! `README.md` beside this file has a `curl` line for each endpoint.
//!
//! The port has no authentication, so it accepts other machines only on request. A page in a browser on this machine
//! can reach it too: the port refuses requests with a foreign `Origin` or `Host`.

mod chance;
mod clock;
mod command;
mod error;
mod faults;
mod guard;
mod journal;
mod redactor;
mod script;
mod server;
mod session;
mod state;

pub use command::ENDPOINTS;
pub use error::AdminError;
pub use guard::Guard;
pub use journal::line as log_line;
pub use redactor::TokenRedactor;
pub use server::{Admin, AdminOptions};
