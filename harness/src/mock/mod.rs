//! Mock service and reference edge: each one pure decision with thin I/O around it.

mod arrival;
mod connection;
mod decide;
pub mod edge;
mod facts;
mod journal;
mod listener;
mod presented;
mod registry;
mod relay;
mod reply_shape;
mod respond;
mod script;
mod scripting;
mod service;
mod tap;
mod tls;

pub use arrival::{Arrival, Given};
pub use connection::{Peer, TlsFacts};
pub use decide::{Decision, decide};
pub use facts::{Facts, Outage, Seen};
pub use journal::RECORDED;
pub use listener::{Front, Limits, Server};
pub use presented::presented_licenses;
pub use registry::Scripted;
pub use reply_shape::{ReplyShape, ReplyShapeError};
pub use script::{Action, Facade, Match, Reply, Script, When};
pub use service::{Listen, MockService, ServiceOptions};
pub use tap::Tap;
pub use tls::{ClientAuth, server_config};
