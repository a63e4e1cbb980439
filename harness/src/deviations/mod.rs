//! Deviant edges: the real edge with one deviation switched on. They prove that every case can fail, and for the reason
//! of its own row.

mod at_row;
mod behaviour;
mod derive;
mod deviation;
mod kind;
mod pure;
mod quirks;

pub use behaviour::Behaviour;
pub use derive::{AtRow, Derived, derive};
pub use deviation::{Deviation, How};
pub use kind::Kind;
pub use pure::{PurePlay, PureWorld};
