//! Cases of the key set (4, 5, 8; RFC 7517): a client that verifies verdicts can fetch, cache and trust it.

mod caching;
mod exchange;
mod part;
mod rotation;
mod shape;
mod signature;
mod tokens;
mod vary;

use super::CaseList;

pub use exchange::{KeySetExchange, KeySetObservation, KeySetRule};
pub use part::Keys;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    shape::add(cases);
    caching::add(cases);
    signature::add(cases);
    tokens::add(cases);
    rotation::add(cases);
    vary::add(cases);
}
