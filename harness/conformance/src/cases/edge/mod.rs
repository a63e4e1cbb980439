//! Cases of an edge, one file for each topic of the interface.

mod accept;
mod cors;
mod credentials;
mod fuzz;
mod health;
mod isolation;
mod log;
mod methods;
mod monitors;
mod other_paths;
mod read_failures;
mod refusals;
mod relay;
mod settings;
mod unreachable;

use super::Catalog;

/// Adds the cases in the order of the report.
pub(super) fn add(cases: &mut Catalog<'_>) {
    accept::add(cases);
    relay::add(cases);
    fuzz::add(cases);
    credentials::add(cases);
    refusals::add(cases);
    methods::add(cases);
    cors::add(cases);
    read_failures::add(cases);
    unreachable::add(cases);
    isolation::add(cases);
    log::add(cases);
    other_paths::add(cases);
    if cases.explores {
        settings::add(cases);
        health::add(cases);
    }
    monitors::add(cases);
}
