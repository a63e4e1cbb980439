//! Mutants of services and key sets that are written by hand. A file for each topic; a mutant is one item of a list.

mod effect;
mod hooks;
mod prelude;

mod access;
mod keys;
mod malformed;
mod read_token;
mod reference;
mod sessions;
mod states;
mod waiting;

use crate::behaviour::Behaviour;
pub(crate) use effect::ServiceEffect;
pub(crate) use hooks::{LATE, inject};

/// All mutants, in the order of the kill matrix.
pub(crate) const MUTANTS: [&[Behaviour<ServiceEffect>]; 8] = [
    read_token::MUTANTS,
    access::MUTANTS,
    reference::MUTANTS,
    sessions::MUTANTS,
    waiting::MUTANTS,
    states::MUTANTS,
    keys::MUTANTS,
    malformed::MUTANTS,
];
