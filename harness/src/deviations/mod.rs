//! Deviant edges: the real edge with one deviation switched on. They prove that every case can fail, and for the reason
//! of its own row.

mod all;
mod at_row;
mod behaviour;
mod derive;
mod deviation;
mod exempt;
mod kind;
mod matrix;
mod pure;
mod quirks;
mod sockets;
mod trace;

pub use all::Deviations;
pub use behaviour::Behaviour;
pub use derive::{AtRow, Derived, derive};
pub use deviation::{Deviation, How};
pub use kind::Kind;
pub use matrix::{CANARIES, MatrixOptions, matrix};
pub use pure::{PurePlay, PureWorld};
pub use sockets::{Ran, World, WorldError};
