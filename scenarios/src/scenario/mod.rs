//! Goose scenarios: edge relay, verdict polling and the whole journey of a session; and the requests that they
//! send.

mod choice;
mod collection_source;
mod edge_relay;
mod journey;
mod opaque_collections;
mod references;
mod requests;
mod sealed_collections;
mod verdict_polling;

pub use collection_source::CollectionSource;
pub use edge_relay::EdgeRelay;
pub use journey::Journey;
pub use opaque_collections::{OpaqueCollections, OutgoingCollection};
pub use references::{ParseReferencesError, Reference, References, RegisterSession, SessionState};
pub use requests::{BadToken, CollectionRequests, VerdictRequests};
pub use sealed_collections::{SealedCollections, SealingCost};
pub use verdict_polling::{PollOptions, VerdictPolling};
