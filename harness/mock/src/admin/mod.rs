//! The admin port of a mock service: everything that its typed API does, for tests in other languages. JSON in and out,
//! over HTTP without TLS. `README.md` beside this file has a `curl` line for each endpoint.
//!
//! It obeys whoever can reach it, and is therefore for this machine unless told otherwise. A page in a browser of this
//! machine can reach it as well: requests with an `Origin` or a `Host` of somebody else are refused.

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
