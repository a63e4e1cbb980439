//! JSON, for programs: `edgeproof.report/1`.

use std::path::Path;

use crate::document::{self, ReadError};
use crate::model::{Report, SCHEMA, Summary};

impl Report {
    /// Reads a report that `--report json=PATH` wrote.
    pub fn load(path: &Path) -> Result<Self, ReadError> {
        document::read(path, SCHEMA, |report: &Self| {
            let counted = Summary::of(report.cases.iter().map(|case| case.outcome));
            if report.summary == counted { Ok(()) } else { Err("`summary` does not match `cases`") }
        })
    }

    /// Indented JSON with a final line feed.
    pub fn to_json(&self) -> String {
        document::to_json(self)
    }
}
