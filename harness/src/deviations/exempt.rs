use reports::Level;

use crate::cases::Case;

/// Cases that no deviation of a row of theirs can make fail here, each with the reason. Exact: a case that is listed
/// and kills something is as wrong as one that does not and is not listed.
const EXEMPT: [(&str, &str); 0] = [];

/// Why a case can kill nothing, if it cannot.
pub(super) fn exempt(case: &Case) -> Option<String> {
    if case.level == Level::Open {
        return Some("it observes an open point and judges nothing".into());
    }
    EXEMPT.iter().find(|(id, _)| *id == case.id).map(|(_, why)| (*why).to_owned())
}

/// Entries that are for no case.
pub(super) fn stale(cases: &[Case]) -> Vec<&'static str> {
    EXEMPT.iter().map(|(id, _)| *id).filter(|id| !cases.iter().any(|case| case.id == *id)).collect()
}
