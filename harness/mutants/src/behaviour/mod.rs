//! The form of mutants that are written by hand: what each breaks, when it behaves wrongly, and how. Nothing here does I/O.
//!
//! [`crate::edge`] and [`crate::service`] have the mutants.

mod answer;
mod bytes;
mod change;
mod condition;
mod engine;
mod history;
mod mutant;
mod page;
mod seen;

pub(crate) use answer::{Answer, chunked, edit_object, gzipped, remove_cors, repeat_length};
pub(crate) use bytes::{ByteClass, Place};
pub(crate) use change::Change;
pub(crate) use condition::Condition;
pub(crate) use engine::{Effect, Engine};
pub(crate) use history::{History, Memory, Reading, Same, Which};
pub use mutant::BehaviourFacts;
pub(crate) use mutant::{Behaviour, Draft};
pub(crate) use page::{Page, express, html, phrase, spring, text};
pub(crate) use seen::{Seen, Setup};
