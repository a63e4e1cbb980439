//! Mock service and reference edge: each one pure decision with thin I/O around it.

mod connection;
pub mod edge;
mod listener;
mod script;
mod tap;
mod tls;

pub use connection::{Peer, TlsFacts};
pub use listener::{Front, Limits, Server};
pub use script::{Action, Facade, Match, Reply, Script, When};
pub use tap::Tap;
pub use tls::{ClientAuth, server_config};
