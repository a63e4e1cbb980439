//! What goes over connections: messages as they were seen, and the client that sends them.
//!
//! The client writes HTTP/1.1 itself, since a conformance case must be able to send what no library would;
//! HTTP/2 goes through hyper.

mod answer_reader;
mod client;
mod curl;
mod draft;
mod endpoint;
mod message;

pub use client::{send, send_http2, send_in_turn};
pub use curl::curl;
pub use draft::{Body, Draft};
pub use endpoint::{Connection, Endpoint, EndpointError};
pub use message::{Answer, NoAnswer, Request, Sent};
