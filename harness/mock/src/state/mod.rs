//! The state that all requests of a mock service share.

mod new_session;
mod replays;
mod service_faults;
mod service_state;
mod sessions;

pub use new_session::{NewSession, Ready};
pub(crate) use replays::{Admission, EdgeId, ReplayStore};
pub(crate) use service_faults::ServiceFaults;
pub(crate) use service_state::ServiceState;
pub(crate) use sessions::{IssuedVerdict, SessionLookup, SessionStore};
