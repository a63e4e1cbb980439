//! States that a test asks a service for, as JSON. Our mock and services of other people speak the same format: see
//! `docs/services.md`.

mod provider;
mod request;

pub use provider::{StateError, StateProvider};
pub use request::{CollectionState, License, StateReply, StateRequest};
