use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::sealed_collections::SealedCollections;

/// Generates unique collections, each with its session reference in plain text for the scripted mock.
#[derive(Debug, Clone)]
pub struct OpaqueCollections {
    run: String,
    padding: Bytes,
}

/// A collection to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingCollection {
    /// The session's reference.
    pub reference: String,
    /// The body.
    pub body: Bytes,
}

/// The source of collections.
#[derive(Debug, Clone)]
pub enum CollectionSource {
    /// Generated when they are sent.
    Opaque(OpaqueCollections),
    /// Sealed in advance.
    Sealed(Arc<SealedCollections>),
}

/// Size of a typical collection (bytes).
const SIZE: usize = 1024;
/// Text before the reference.
const HEAD: &str = "{\"sessionRef\":\"";
/// Text after the reference.
const MIDDLE: &str = "\",\"sealed\":\"";

impl OpaqueCollections {
    /// The generator of a run. References of two seeds never collide.
    pub fn new(seed: u64) -> Self {
        let run = format!("{seed:016x}");
        let fixed = HEAD.len() + run.len() + 1 + 12 + MIDDLE.len() + 2;
        // Incompressible padding, the same in every collection: only the reference makes it unique.
        let mut state = seed | 1;
        let padding: Vec<u8> = (0..SIZE - fixed)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[(state >> 58) as usize]
            })
            .collect();
        Self { run, padding: padding.into() }
    }

    /// The reference of an operation.
    pub fn reference(&self, number: u64) -> String {
        format!("{}-{number:012}", self.run)
    }

    /// The collection of an operation.
    pub fn make(&self, number: u64) -> OutgoingCollection {
        let reference = self.reference(number);
        let mut body = BytesMut::with_capacity(SIZE);
        for part in [HEAD.as_bytes(), reference.as_bytes(), MIDDLE.as_bytes(), &self.padding, b"\"}"] {
            body.extend_from_slice(part);
        }
        OutgoingCollection { reference, body: body.freeze() }
    }

    /// The reference in a generated collection; `None` for any other body.
    pub fn read(body: &[u8]) -> Option<&str> {
        let rest = body.strip_prefix(HEAD.as_bytes())?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(&rest[..end]).ok()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_collection_is_unique_json_of_1_kb() {
        let collections = OpaqueCollections::new(7);
        let (one, two) = (collections.make(0), collections.make(999_999_999_999));
        assert_eq!((one.body.len(), two.body.len()), (SIZE, SIZE));
        let json: serde_json::Value = serde_json::from_slice(&one.body).unwrap();
        assert_eq!(json["sessionRef"], one.reference);
        assert_ne!(one.body, two.body);
        assert_eq!(OpaqueCollections::read(&two.body), Some(two.reference.as_str()));
        assert_ne!(OpaqueCollections::new(8).make(0).body, one.body);
        assert_eq!(OpaqueCollections::read(b"{}"), None);
    }
}
