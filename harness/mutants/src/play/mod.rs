//! Cases against mutants: without sockets where the answer is the same, over sockets everywhere else.

mod edge;
mod part_cases;
mod pure;
mod pure_result;
mod scripted_service;
mod service;
mod sockets;
mod test_bed;
mod trace;

pub use pure_result::PureResult;
pub use sockets::SocketResult;
pub use test_bed::{TestBed, TestBedError};
pub(crate) use trace::{Traces, trace};
