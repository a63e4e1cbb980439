//! Cases of a collector (1, 2, 5, 7.1), played in pages of a browser.

mod abort;
mod answers;
mod api_url;
mod block;
mod blocked;
mod modes;
mod network;
mod order;
mod page_scripts;
mod page_watch;
mod part;
mod posted;
mod sealed;
mod secure_context;
mod several;
mod unchanged;
mod websocket;
mod wild;

use super::{Case, CaseList, Phase};

pub use part::Collector;

/// Id of a case that opens a page and sends a collection in the default mode.
const SESSION: &str = "post.accepted";

/// Some of `all` cases to run alone. Monitors judge the pages of other cases: if nothing else is to run, a session runs too.
pub fn with_session(mut cases: Vec<Case<Collector>>, all: &[Case<Collector>]) -> Vec<Case<Collector>> {
    if cases.iter().all(|case| case.phase == Phase::Monitors) {
        cases.extend(all.iter().find(|case| case.id == SESSION).cloned());
    }
    cases
}

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    api_url::add(cases);
    modes::add(cases);
    secure_context::add(cases);
    order::add(cases);
    posted::add(cases);
    sealed::add(cases);
    answers::add(cases);
    network::add(cases);
    abort::add(cases);
    websocket::add(cases);
    blocked::add(cases);
    several::add(cases);
    unchanged::add(cases);
    wild::add(cases);
}
