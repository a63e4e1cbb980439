//! Variations of a request for a verdict: other values of the same kind. Each case sends several named requests for one
//! dimension; a finding names the value.

mod connections;
mod outcomes;
mod probe;
mod references;
mod requests;
mod token_damage;
mod tokens;
mod transport;
mod waits;

use crate::cases::{CaseList, Service};

pub(in crate::cases) use probe::Probe;
pub(in crate::cases) use requests::{ACCEPTS, CONDITIONS, HEADERS, METHODS, WEAK_CONDITIONS, without_token};
pub(in crate::cases) use token_damage::with_bit;
pub(in crate::cases) use transport::{HttpForm, forms};
pub(in crate::cases) use waits::{INVALID as INVALID_WAITS, SHORT as SHORT_WAITS};

/// Adds the variations, one case for each dimension and row.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    references::add(cases);
    tokens::add(cases);
    waits::add(cases);
    requests::add(cases);
    connections::add(cases);
    outcomes::add(cases);
    transport::add(cases);
}
