//! Whole runs of the program, with conforming and misbehaving edges.

mod attached;
mod events;
mod hostile;
mod rate_limit;
mod reference;
mod secrets;
mod support;

pub(crate) use reference::is_of_profile;
