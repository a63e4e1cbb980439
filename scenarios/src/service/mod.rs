//! What stands behind the edge and answers for verdicts while they are loaded: the mock service, set up to count, and to be
//! slow, failing or gone on purpose. And a server that stalls by the clock, for the generator's proof of itself.

mod injected_faults;
mod load_mock;
mod stalling_server;

pub use injected_faults::{Downtime, InjectedFaults};
pub use load_mock::{CollectionMode, LoadMock, LoadMockOptions};
pub use stalling_server::{StallPattern, StallingServer};
