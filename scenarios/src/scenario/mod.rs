//! What users do: relay collections, poll for verdicts, or the whole journey of a session.

mod collections;
mod edge_relay;
mod journey;
mod polling;
mod references;
mod requests;

pub use collections::{Collection, Collections};
pub use edge_relay::EdgeRelay;
pub use journey::Journey;
pub use polling::{PollOptions, Polling};
pub use references::{ParseReferencesError, Reference, References};
pub use requests::{BadToken, Posting, Questions};

/// Takes samples of the service's own part of a request: yields what the service took for a collection, by its number.
pub type ServiceTime = std::sync::Arc<dyn Fn(u64) -> Option<std::time::Duration> + Send + Sync>;

/// One of so many requests is looked at, where the service's own part is known.
pub const SAMPLED: u64 = 16;
