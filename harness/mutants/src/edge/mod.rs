//! Mutants of edges that are written by hand. A file for each topic; a mutant is one item of a list.

mod effect;
mod hooks;
mod json;
mod prelude;

mod all_requests;
mod body_parsers;
mod broken_bodies;
mod cors;
mod credentials;
mod log;
mod malformed;
mod methods;
mod read_body;
mod refusals;
mod relayed_body;
mod relays;
mod trust;
mod unreachable;

use crate::behaviour::Behaviour;
pub(crate) use effect::EdgeEffect;
pub(crate) use hooks::{LATE, inject};

/// All mutants, in the order of the kill matrix.
pub(crate) const MUTANTS: [&[Behaviour<EdgeEffect>]; 14] = [
    relayed_body::MUTANTS,
    body_parsers::MUTANTS,
    read_body::MUTANTS,
    relays::MUTANTS,
    credentials::MUTANTS,
    trust::MUTANTS,
    refusals::MUTANTS,
    unreachable::MUTANTS,
    cors::MUTANTS,
    methods::MUTANTS,
    broken_bodies::MUTANTS,
    log::MUTANTS,
    malformed::MUTANTS,
    all_requests::MUTANTS,
];
