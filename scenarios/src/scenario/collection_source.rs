use std::sync::Arc;

use super::opaque_collections::{OpaqueCollections, OutgoingCollection};
use super::sealed_collections::SealedCollections;

/// The source of collections.
#[derive(Debug, Clone)]
pub enum CollectionSource {
    /// Generated when they are sent.
    Opaque(OpaqueCollections),
    /// Sealed in advance.
    Sealed(Arc<SealedCollections>),
}

impl CollectionSource {
    /// The collection of an operation.
    pub async fn take(&self, number: u64) -> OutgoingCollection {
        match self {
            Self::Opaque(collections) => collections.make(number),
            Self::Sealed(ahead) => ahead.take().await,
        }
    }
}
