//! Mutants of the collector: ES modules that wrap the reference collector and break one thing. They run in Chromium, so
//! they have a kill matrix of their own.

mod behaviours;
mod matrix;
mod rows;
mod wrapper;

pub use matrix::{CollectorMatrixOptions, collector_matrix};

use edgeproof::causes::Fingerprints;
use edgeproof_fixtures::spec::{Level, Spec};

use crate::causes::{Share, left_out};
use crate::mutant::Mutant;
use crate::mutation::{CollectorMutation, Mutation};

/// How often the fingerprints of collectors name the right cause first, each mutant without its own one.
pub fn left_out_of_collectors() -> Share {
    left_out(Fingerprints::of_collectors()).left_out
}

/// All mutants of the collector: derived from rows, then with behaviours.
pub fn collector_mutants(spec: &Spec) -> Vec<Mutant> {
    let mut mutants = rows::mutants(spec);
    // An older interface lacks some rows.
    mutants.extend(behaviours::mutants().filter(|mutant| spec.row(mutant.row).is_some()).map(|mutant| {
        let level = mutant.level.or_else(|| spec.row(mutant.row).map(|row| row.level));
        let level = level.unwrap_or(Level::Must);
        of(mutant.name, mutant.title, mutant.row, mutant.cause, level, mutant.script)
    }));
    mutants
}

/// A mutant with this script, which fills in the object `mutant` of the wrapper.
fn of(name: &str, title: &str, row: &str, cause: &str, level: Level, script: &str) -> Mutant {
    Mutant {
        id: format!("collector/{name}"),
        title: title.to_owned(),
        row: row.to_owned(),
        cause: cause.to_owned(),
        level,
        mutation: Mutation::Collector(CollectorMutation { module: wrapper::module(script).into() }),
    }
}
