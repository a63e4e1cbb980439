use edgeproof_fixtures::spec::{Fact, Row, Spec, Table};
use serde_json::json;

use super::of;
use super::script::{Script, ScriptKind};
use crate::mutant::Mutant;

/// Mutants derived from the errors of the collector table, and from the modes.
pub(super) fn mutants(spec: &Spec, scripts: &[Script]) -> Vec<Mutant> {
    let errors = spec.table(Table::Collector).flat_map(|row| of_error(row, scripts));
    errors.chain(spec.table(Table::Settings).flat_map(|row| of_modes(row, scripts))).collect()
}

fn of_error(row: &Row, scripts: &[Script]) -> Vec<Mutant> {
    let Fact::Thrown { text } = &row.fact else { return Vec::new() };
    let applies = |script: &&Script| matches!(script.kind, ScriptKind::Error(scope) if scope.contains(text));
    let parts: Vec<&str> = text.split(['<', '>']).step_by(2).collect();
    let slug = row.id.strip_prefix("collector.").unwrap_or(&row.id);
    let of_change = |script: &Script| {
        let (name, title) = (format!("{slug}/{}", script.name), format!("{}: {}", row.id, script.title));
        of(&name, &title, &row.id, script.cause, row.level, script.module(&[json!(parts)]))
    };
    scripts.iter().filter(applies).map(of_change).collect()
}

/// For each mode, a mutant that refuses it.
fn of_modes(row: &Row, scripts: &[Script]) -> Vec<Mutant> {
    let Fact::Setting { values, .. } = &row.fact else { return Vec::new() };
    let scripts = scripts.iter().filter(|script| script.kind == ScriptKind::Mode && script.row == row.id);
    let of_script = |script: &Script| {
        let of_mode = |mode: &String| {
            let (name, title) = (format!("{}-{mode}", script.name), format!("{} {mode}", script.title));
            of(&name, &title, &row.id, script.cause, row.level, script.module(&[json!(mode)]))
        };
        values.iter().map(of_mode).collect::<Vec<_>>()
    };
    scripts.flat_map(of_script).collect()
}
