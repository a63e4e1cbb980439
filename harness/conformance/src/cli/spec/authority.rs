use edgeproof_fixtures::spec::Row;

/// The authority behind a row: its basis, and the standard that it names.
pub(super) fn authority(row: &Row) -> String {
    let standard = row.standard.as_ref().map_or(String::new(), |standard| format!(", {standard}"));
    format!("{}{standard}", row.basis.name())
}
