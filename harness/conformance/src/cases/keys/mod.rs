//! Cases of the key set (4, 5, 8; RFC 7517): anyone who verifies a verdict can fetch it, cache it and trust it.

mod caching;
mod shape;
mod signature;
mod vary;

use super::Catalog;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut Catalog<'_>) {
    shape::add(cases);
    caching::add(cases);
    signature::add(cases);
    vary::add(cases);
}
