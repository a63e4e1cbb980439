//! Cases of the key set (4, 5, 8; RFC 7517): a client that verifies verdicts can fetch, cache and trust it.

mod caching;
mod shape;
mod signature;

use super::Catalog;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut Catalog<'_>) {
    shape::add(cases);
    caching::add(cases);
    signature::add(cases);
}
