//! Mutants of the collector: ES modules that wrap the reference collector and break one thing. They run in Chromium, so
//! they have a kill matrix of their own.

mod matrix;
mod rows;
mod script;

pub use matrix::{CollectorMatrixOptions, collector_matrix};

use edgeproof::causes::Fingerprints;
use edgeproof_fixtures::spec::{Level, Spec};

use self::script::ScriptKind;
use crate::causes::{Share, left_out};
use crate::mutant::Mutant;
use crate::mutation::{CollectorMutation, Mutation};

/// How often the fingerprints of collectors name the right cause first, each mutant without its own one.
pub fn left_out_of_collectors() -> Share {
    left_out(Fingerprints::of_collectors()).left_out
}

/// All mutants of the collector: derived from rows, then with behaviours of their own.
///
/// # Panics
///
/// A line of a script file describes no function, or a function has no line. A test reads the files.
pub fn collector_mutants(spec: &Spec) -> Vec<Mutant> {
    let scripts = script::scripts().unwrap_or_else(|why| panic!("{why}"));
    let mut mutants = rows::mutants(spec, &scripts);
    for script in scripts.iter().filter(|script| script.kind == ScriptKind::Mutant) {
        // An older interface lacks some rows.
        let Some(row) = spec.row(script.row) else { continue };
        let level = script.level.unwrap_or(row.level);
        mutants.push(of(script.name, script.title, script.row, script.cause, level, script.module(&[])));
    }
    mutants
}

/// A mutant with this module.
fn of(name: &str, title: &str, row: &str, cause: &str, level: Level, module: String) -> Mutant {
    Mutant {
        id: format!("collector/{name}"),
        title: title.to_owned(),
        row: row.to_owned(),
        cause: cause.to_owned(),
        level,
        mutation: Mutation::Collector(CollectorMutation { module: module.into() }),
    }
}
