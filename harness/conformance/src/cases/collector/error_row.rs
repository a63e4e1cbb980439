use edgeproof_fixtures::spec::Fact;

use crate::cases::{Catalog, CollectorCaseContext};
use crate::judge::ExpectedError;

/// The error of a row of the collector table.
#[derive(Debug, Clone)]
pub(super) struct ErrorRow {
    text: String,
}

impl ErrorRow {
    /// The error of this row.
    pub(super) fn of(cases: &Catalog<'_>, row: &str) -> Self {
        let text = match &cases.row(row).fact {
            Fact::Thrown { text } => text.clone(),
            // The version lacks the row, and so its cases.
            _ => String::new(),
        };
        Self { text }
    }

    /// The error that a page of this run gets.
    pub(super) fn expected(&self, context: &CollectorCaseContext) -> ExpectedError {
        self.filled(context, "", "")
    }

    /// The same, with a value for a placeholder of the text.
    pub(super) fn filled(
        &self,
        context: &CollectorCaseContext,
        placeholder: &str,
        value: &str,
    ) -> ExpectedError {
        // A row has the whole text, or the name of an error whose text the browser chooses.
        if !self.text.contains(' ') {
            return ExpectedError::Name(self.text.clone());
        }
        let text = context.error_text(&self.text);
        ExpectedError::Text(if placeholder.is_empty() { text } else { text.replace(placeholder, value) })
    }
}
