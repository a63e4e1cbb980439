#![doc = include_str!("../README.md")]

mod decision;
mod error;
mod fault_hooks;
mod handler;
mod program;
mod relay;
mod server;
mod websocket;

pub use decision::{EdgeAnswer, EdgeDecision, EdgeRules, RelayResult, RequestFacts, conclude, decide};
pub use error::EdgeError;
pub use fault_hooks::{EdgeAction, EdgeFaultHooks, EdgeRequest, NoEdgeFaults, WebSocketAction};
pub use handler::{EdgeIo, RequestBody, handle_request};
pub use program::{ProgramOptions, run_program};
pub use relay::{CertificateCheck, PageFields, RawHead, UpstreamOptions};
pub use server::{Edge, EdgeOptions, EdgeTls, LogSink};
