//! Services under load: the mock service with injected faults, and a server that stalls by the clock for the
//! self-test.

mod injected_faults;
mod load_mock;
mod stalling_server;

pub use injected_faults::{Downtime, InjectedFaults};
pub use load_mock::{CollectionMode, LoadMock, LoadMockOptions};
pub use stalling_server::{StallPattern, StallingServer};
