//! The cases: what is proven of an edge, derived from the tables. A module for each topic of the interface.

mod accept;
mod case;
mod catalog;
mod conversation;
mod cors;
mod credentials;
mod fuzz;
mod isolation;
mod log;
mod methods;
mod read_failures;
mod refusals;
mod relay;
mod sanity;
mod stage;
mod surroundings;
mod unreachable;
mod words;

pub use case::{Case, Need, Phase, Play, Steps};
pub use catalog::Catalog;
pub use conversation::{Conversation, HEALTH, MARKER, ORIGIN, Relayed, SIGNALS, collection};
pub(crate) use conversation::{fill, judge};
pub use stage::{Found, Later, LogJudge, Scene, Stage};

/// All cases for an edge.
pub fn edge(mut catalog: Catalog<'_>) -> Vec<Case> {
    let cases = &mut catalog;
    sanity::add(cases);
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
    surroundings::add(cases);
    catalog.into_cases()
}
