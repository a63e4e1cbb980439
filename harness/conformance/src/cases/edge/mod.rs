//! Cases of an edge, one file for each topic of the interface.

mod accept;
mod cors;
mod credentials;
mod elsewhere;
mod exchange;
mod health;
mod isolation;
mod lasting;
mod log;
mod methods;
mod part;
mod read_failures;
mod refusals;
mod relay;
mod relayed_license;
mod requests;
mod rule;
mod settings;
mod unreachable;

use super::CaseList;

pub use part::{Edge, EdgeLaunch};
pub(crate) use settings::presents_configured;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    accept::add(cases);
    relay::add(cases);
    requests::fields::add(cases);
    requests::fuzz::add(cases);
    credentials::add(cases);
    elsewhere::add(cases);
    refusals::add(cases);
    methods::add(cases);
    cors::add(cases);
    read_failures::add(cases);
    unreachable::add(cases);
    isolation::add(cases);
    lasting::add(cases);
    log::add(cases);
    requests::other_paths::add(cases);
    requests::visitors::add(cases);
    if cases.explores {
        settings::add(cases);
        health::add(cases);
    }
    cases.monitors();
}
