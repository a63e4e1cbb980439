//! A key set (4, 5, 8; RFC 7517): whoever verifies a verdict's signature has to be able to fetch it, keep it, and trust it.

mod caching;
mod shape;
mod signature;

use super::Catalog;

pub(super) fn add(cases: &mut Catalog<'_>) {
    shape::add(cases);
    caching::add(cases);
    signature::add(cases);
}
