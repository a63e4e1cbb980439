use edgeproof_fixtures::spec::{Level, Spec};
use serde_json::{Value, json};

/// A header of answers, which a row states.
pub(super) struct StatedHeader<'a> {
    /// Id of the row.
    pub(super) row: &'a str,
    pub(super) name: &'a str,
    /// Whether no other header serves as well.
    pub(super) needed: bool,
    pub(super) example: &'a str,
}

impl StatedHeader<'_> {
    /// Adds the header to the answers with these statuses. It is required if it is needed, and its row a `must`. Nothing if
    /// this version lacks the row.
    pub(super) fn add(&self, spec: &Spec, responses: &mut Value, has: impl Fn(&str) -> bool) {
        let Some(row) = spec.row(self.row) else { return };
        let answers = responses.as_object_mut().into_iter().flatten();
        for (_, answer) in answers.filter(|(status, _)| has(status)) {
            answer["headers"][self.name] = json!({
                "description": row.condition,
                "required": self.needed && row.level == Level::Must,
                "schema": { "type": "string" },
                "example": self.example,
            });
        }
    }
}
