//! Cases against mutants: without sockets where the answer is the same, over sockets everywhere else.

mod pure;
mod scripted_service;
mod sockets;
mod test_bed;
mod trace;

pub use pure::PureResult;
pub use sockets::SocketResult;
pub use test_bed::{TestBed, TestBedError};
pub(crate) use trace::{Traces, trace};
