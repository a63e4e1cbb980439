//! What takes time, comes often, or follows an outage.

mod late_replies;
mod recovery;
mod series;
mod wear;

use crate::cases::{CaseList, Edge};

pub(super) use series::slowest;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    // First: an edge that does not recover fails a series as well.
    recovery::add(cases);
    series::add(cases);
    late_replies::add(cases);
    wear::add(cases);
}
