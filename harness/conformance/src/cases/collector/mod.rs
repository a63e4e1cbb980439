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

use super::CaseList;

pub use part::Collector;

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
