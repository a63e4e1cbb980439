//! What users do: relay collections, poll for verdicts, or the whole journey of a session.

mod any_scenario;
mod collections;
mod edge_relay;
mod journey;
mod references;
mod requests;
mod sealed_collections;
mod verdict_polling;

pub use any_scenario::AnyScenario;
pub use collections::{Collection, CollectionSource, OpaqueCollections};
pub use edge_relay::EdgeRelay;
pub use journey::Journey;
pub use references::{ParseReferencesError, Reference, References, RegisterSession, SessionState};
pub use requests::{BadToken, CollectionRequests, VerdictRequests};
pub use sealed_collections::{SealedCollections, SealingCost};
pub use verdict_polling::{PollOptions, VerdictPolling};

/// One of so many, by the number of an operation. A share takes every n-th number; without mixing, those would share a few of
/// the choices.
fn mixed(number: u64, choices: usize) -> usize {
    ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % choices.max(1) as u64) as usize
}
