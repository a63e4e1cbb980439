//! The reference edge: [`decide`] and [`conclude`] are its whole behaviour, everything else is input and output.

mod connect;
mod cors;
mod decide;
mod error;
mod fault_hooks;
mod handler;
mod inbound;
mod outgoing;
mod payload;
mod pool;
mod program;
mod reason;
mod relay;
mod rules;
mod server;
mod service;
mod socket;
pub mod style;
mod trust;
mod websocket;

pub use decide::{EdgeAnswer, EdgeDecision, Relayed, RequestFacts, conclude, decide};
pub use error::EdgeError;
pub use fault_hooks::{EdgeAction, EdgeFaultHooks, EdgeRequest, Habits, NoFaults, Trust};
pub use handler::{EdgeIo, RequestBody, handle_request};
pub use program::{ProgramOptions, run_program};
pub use rules::Rules;
pub use server::{Edge, EdgeOptions, EdgeTls, LogSink};
