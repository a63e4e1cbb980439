//! A scripted service: what stands behind an edge, and answers for verdicts, while the edge is under load. It looks into
//! nothing, so that it is cheap; it counts, it keeps sessions, and it can be slow, failing or gone on purpose.

mod fault;
mod scripted;
mod sessions;

pub use fault::{Down, Faults, Stalls};
pub use scripted::{Scripted, ScriptedOptions};
