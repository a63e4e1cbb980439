use edgeproof_fixtures::spec::{Fact, Row, Spec, Table};
use serde_json::json;

use super::of;
use crate::mutant::Mutant;

/// Mutants derived from the errors of the collector table, and from the modes.
pub(super) fn mutants(spec: &Spec) -> Vec<Mutant> {
    let errors = spec.table(Table::Collector).flat_map(of_error);
    errors.chain(spec.table(Table::Settings).flat_map(of_modes)).collect()
}

/// Name, title, and the script's statement for the row's error. The statement throws another error, or returns.
type ErrorChange = (&'static str, &'static str, &'static str);

/// Name of the change that throws nothing.
const SWALLOWED: &str = "swallowed";

/// Changes of any error.
const ANY: [ErrorChange; 3] = [
    (SWALLOWED, "swallows the error", "return;"),
    ("thrown-text", "throws a text instead of an error", "throw error.message;"),
    ("other-error", "throws an error of its own instead", "throw new RangeError('collector failed');"),
];
/// Changes of an error whose text the interface states.
const WITH_TEXT: [ErrorChange; 3] = [
    ("longer-text", "appends a full stop to the text", "throw new Error(error.message + '.');"),
    ("other-case", "writes the text in capitals", "throw new Error(error.message.toUpperCase());"),
    ("in-message", "wraps the text in a sentence", "throw new Error('collector: ' + error.message);"),
];
/// Changes of an error with a value in its text.
const WITH_VALUE: [ErrorChange; 2] = [
    ("without-value", "leaves the value out of the text", "throw new Error(parts.join(''));"),
    ("other-value", "writes another value into the text", "throw new Error(parts.join('0'));"),
];
/// Changes of an error that the interface names.
const WITH_NAME: [ErrorChange; 2] = [
    (
        "other-name",
        "throws an error of another name",
        "throw Object.assign(new Error(error.message), { name: 'NetworkError' });",
    ),
    ("name-as-text", "writes the name into the text", "throw new Error(error.name + ': ' + error.message);"),
];

fn of_error(row: &Row) -> Vec<Mutant> {
    let Fact::Thrown { text } = &row.fact else { return Vec::new() };
    let has_text = text.contains(' ');
    let has_value = text.contains('<');
    let changes: Vec<ErrorChange> = match (has_text, has_value) {
        (false, _) => [&ANY[..], &WITH_NAME].concat(),
        (true, false) => [&ANY[..], &WITH_TEXT].concat(),
        (true, true) => [&ANY[..], &WITH_TEXT, &WITH_VALUE].concat(),
    };
    let parts: Vec<&str> = text.split(['<', '>']).step_by(2).collect();
    let is_it = if has_text {
        "error.message.startsWith(parts[0]) && error.message.endsWith(parts.at(-1))"
    } else {
        "error.name === parts[0]"
    };
    let slug = row.id.strip_prefix("collector.").unwrap_or(&row.id);
    let of_change = |(name, title, statement): ErrorChange| {
        let script = format!(
            "const parts = {};\nmutant.error = (error) => {{\n  if (!({is_it})) throw error;\n  {statement}\n}};",
            json!(parts)
        );
        let cause = if name == SWALLOWED { "failure-swallowed" } else { "page-error-wrong" };
        of(&format!("{slug}/{name}"), &format!("{}: {title}", row.id), &row.id, cause, row.level, &script)
    };
    changes.into_iter().map(of_change).collect()
}

/// For each mode, a mutant that refuses it.
fn of_modes(row: &Row) -> Vec<Mutant> {
    let Fact::Setting { values, .. } = &row.fact else { return Vec::new() };
    let refused = |mode: &String| {
        let script = format!(
            "mutant.create = (options) => {{\n  if (options.mode === {mode}) throw new Error(`service: unknown mode \"${{options.mode}}\"`);\n  \
             return createReference(options);\n}};",
            mode = json!(mode)
        );
        let (name, title) = (format!("refuses-{mode}"), format!("refuses the mode {mode}"));
        of(&name, &title, &row.id, "mode-misread", row.level, &script)
    };
    values.iter().map(refused).collect()
}
