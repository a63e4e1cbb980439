//! What only states show: verdicts of chosen references, verdicts that come and go, other customers, revoked tokens;
//! and requests in which all of it varies together.

mod chosen;
mod crossed;
mod customers;
mod events;
mod license_claim;
mod lifecycle;
mod lifetime;
mod named;
mod odd_references;
mod poll_ends;
mod polls;
mod references;
mod refused_again;
mod revocation;
mod ways_around;
mod woken;

use super::Service;
use crate::cases::CaseList;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    references::add(cases);
    odd_references::add(cases);
    polls::add(cases);
    poll_ends::add(cases);
    lifecycle::add(cases);
    events::add(cases);
    customers::add(cases);
    ways_around::add(cases);
    revocation::add(cases);
    lifetime::add(cases);
    refused_again::add(cases);
    crossed::add(cases);
}
