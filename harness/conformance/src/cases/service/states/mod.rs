//! What only states show: verdicts of chosen references, verdicts that come and go, other customers, revoked tokens.

mod customers;
mod lifecycle;
mod named;
mod polls;
mod references;
mod revocation;

use super::Service;
use crate::cases::{CaseList, ServiceNeed};
use crate::states::StateNeed;

/// What a verdict for a reference of ours requires.
pub(super) const CHOSEN: [ServiceNeed; 3] =
    [ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::ChosenReference)];

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    references::add(cases);
    polls::add(cases);
    lifecycle::add(cases);
    customers::add(cases);
    revocation::add(cases);
}
