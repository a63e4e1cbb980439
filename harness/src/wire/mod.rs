//! What goes over connections: messages as they were seen, and the clients that send them.

mod message;

pub use message::{Answer, NoAnswer, Request, Sent};
