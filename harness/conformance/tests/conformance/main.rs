//! Whole runs of the program, with conforming and misbehaving edges.
#![expect(clippy::unwrap_used, reason = "the lints do not recognise test helpers")]

mod attached;
#[path = "../cli/broken_edge.rs"]
mod broken_edge;
mod events;
mod hostile;
mod reference;
mod secrets;
mod support;
