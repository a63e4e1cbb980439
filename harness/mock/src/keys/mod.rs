//! The keys of the mock service, and the answer to requests for its key set.

mod key_set;
mod key_store;

pub(crate) use key_set::decide_key_set;
pub(crate) use key_store::{KeyStore, PublishedKeySet};
