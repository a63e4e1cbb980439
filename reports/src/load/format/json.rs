use std::path::Path;

use crate::document::{self, ReadError};
use crate::load::model::{LOAD_SCHEMA, LoadReport};

impl LoadReport {
    /// Reads a report that `--report json=PATH` of a load run wrote.
    pub fn load(path: &Path) -> Result<Self, ReadError> {
        document::read(path, LOAD_SCHEMA, |report: &Self| {
            let balanced = report.ledger.balances() && report.warm_up.balances();
            if balanced { Ok(()) } else { Err("its `ledger` does not balance") }
        })
    }

    /// Indented JSON with a final line feed.
    pub fn to_json(&self) -> String {
        document::to_json(self)
    }
}
