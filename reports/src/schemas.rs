//! The published JSON Schemas, draft 2020-12. A test generates them from the types.

/// Schema of the report of a conformance run.
pub const REPORT: &str = include_str!("../schema/report-1.json");
/// Schema of the comparison of two conformance runs.
pub const REPORT_DIFF: &str = include_str!("../schema/report-diff-1.json");
/// Schema of conformance runs side by side.
pub const REPORT_MATRIX: &str = include_str!("../schema/report-matrix-1.json");
/// Schema of the report of a load run.
pub const LOAD: &str = include_str!("../schema/load-1.json");
/// Schema of the report of a mutation run.
pub const MATRIX: &str = include_str!("../schema/matrix-1.json");

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde_json::{Map, Value};

    use super::{LOAD, MATRIX, REPORT, REPORT_DIFF, REPORT_MATRIX};
    use crate::Report;
    use crate::comparison::RunComparison;
    use crate::load::LoadReport;
    use crate::matrix::Matrix;
    use crate::run_matrix::RunMatrix;

    fn schema_of<T: JsonSchema>() -> Value {
        let generated = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
        let mut schema = Map::new();
        // Title and description go first, for readers.
        for name in ["$schema", "title", "description"] {
            schema.extend(generated.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        for (name, value) in generated.as_object().into_iter().flatten() {
            schema.entry(name).or_insert_with(|| value.clone());
        }
        Value::Object(schema)
    }

    #[rstest]
    #[case::report("report-1.json", REPORT, &schema_of::<Report>())]
    #[case::report_diff("report-diff-1.json", REPORT_DIFF, &schema_of::<RunComparison>())]
    #[case::report_matrix("report-matrix-1.json", REPORT_MATRIX, &schema_of::<RunMatrix>())]
    #[case::load("load-1.json", LOAD, &schema_of::<LoadReport>())]
    #[case::matrix("matrix-1.json", MATRIX, &schema_of::<Matrix>())]
    fn published_schema_is_up_to_date(
        #[case] file: &str,
        #[case] published: &str,
        #[case] generated: &Value,
    ) {
        let generated = format!("{generated:#}\n");
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(file);
            std::fs::write(path, &generated).unwrap();
        } else {
            assert!(
                published == generated,
                "schema/{file} is out of date: run this test with UPDATE_SCHEMA=1"
            );
        }
    }
}
