//! What stands behind the edge and answers for verdicts while they are loaded: the mock service, set up to count, and to be
//! slow, failing or gone on purpose. And a server that stalls by the clock, for the generator's proof of itself.

mod fault;
mod load_mock;
mod stalling;

pub use fault::{Down, Faults};
pub use load_mock::{Judging, LoadMock, LoadMockOptions};
pub use stalling::{Stalling, Stalls};
