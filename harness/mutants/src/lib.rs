//! Deviant edges, services and key sets: the real ones with one deviation switched on. They prove that every case can
//! fail, and for the reason of its own row.

mod all;
mod at_row;
mod behaviour;
mod derive;
mod deviation;
mod injection;
mod judged;
mod kind;
mod matrix;
mod program;
mod pure;
mod quirks;
mod serving;
mod sockets;
mod trace;

pub use all::Deviations;
pub use behaviour::Behaviour;
pub use derive::{AtRow, Derived, derive};
pub use deviation::{Deviation, How};
pub use kind::Kind;
pub use matrix::{CANARIES, MatrixOptions, matrix};
pub use program::main;
pub use pure::{PurePlay, PureWorld};
pub use serving::{AtServiceRow, Fault, ServiceBehaviour, derive_serving};
pub use sockets::{Ran, Side, World, WorldError};
