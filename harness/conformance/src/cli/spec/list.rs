use std::fmt::Write as _;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::Spec;

use super::row_cases::RowCases;

/// The rows as JSON, with stimuli and cases.
pub(super) fn json(spec: &Spec) -> Result<String, Failure> {
    let cases = RowCases::of(spec);
    let rows: Vec<_> = spec.rows().iter().map(|row| row.view(cases.get(&row.id))).collect();
    let json = serde_json::to_string_pretty(&rows);
    json.map(|json| json + "\n").map_err(|why| Failure::of(&why, "this is a bug in edgeproof: report it"))
}

/// One row a line.
pub(super) fn text(spec: &Spec) -> String {
    let cases = RowCases::of(spec);
    let width = spec.rows().iter().map(|row| row.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in spec.rows() {
        let proven = match (cases.get(&row.id).len(), &row.excluded) {
            (0, Some(why)) => format!("excluded: {why}"),
            (1, _) => "1 case".into(),
            (count, _) => format!("{count} cases"),
        };
        let section = format!("§{}", row.section);
        _ = writeln!(
            text,
            "{:width$}  {section:5}  {:6}  {:9}  {proven}",
            row.id,
            row.level.name(),
            row.basis.name()
        );
    }
    text
}
