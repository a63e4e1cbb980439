//! Ids of rows and causes in the place of a case.

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::Spec;

use super::explain::all_cases;

/// Shown cases of a row.
const SHOWN: usize = 3;

/// The failure of a command that takes cases and got the id of a row or a cause. None: it is neither, or a case has it as well. `part`: name of the part
/// whose cases it takes; `what`: what the command cannot do.
pub(super) fn other_id(spec: &Spec, id: &str, part: &str, what: &str) -> Option<Failure> {
    if spec.cause(id).is_some() {
        let advice = format!("`edgeproof explain {id}` names the cases that show it");
        return Some(Failure::usage(format!("{what}: it is a cause, not a case"), advice));
    }
    spec.row(id)?;
    let cases = all_cases(spec);
    if cases.iter().any(|case| case.facts().id == id) {
        return None;
    }
    let of_row: Vec<&str> = cases
        .iter()
        .map(|case| (case.part(), case.facts()))
        .filter(|(own, case)| *own == part && case.rows.iter().any(|row| row == id))
        .map(|(_, case)| case.id.as_str())
        .collect();
    let explain = format!("`edgeproof explain {id}`");
    let advice = match of_row.len() {
        0 => format!("no case of this part proves it: {explain} says which do"),
        1..=SHOWN => format!("its cases: {}", of_row.join(", ")),
        more => format!("it has {more} cases, such as {}: {explain} lists them", of_row[..SHOWN].join(", ")),
    };
    Some(Failure::usage(format!("{what}: it is a row, not a case"), advice))
}
