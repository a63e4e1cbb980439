use edgeproof_fixtures::spec::Family;
use edgeproof_mock::{Action, Script};
use edgeproof_reports::CaseLevel;

use crate::cases::{Catalog, Conversation};

/// A row that exploration combines with changes.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploredRow {
    /// Id of the row, or of a reply within a row.
    pub id: String,
    /// Kind of outcome.
    pub family: Family,
    /// The plain exchange.
    pub conversation: Conversation,
}

/// What the edge has to do, for titles.
pub(super) fn describe(family: Family, cases: &Catalog<'_>) -> String {
    match family {
        Family::Accepted => "the edge relays a collection and passes on the acceptance".to_owned(),
        Family::Refusals => "the edge passes on a refusal with its reason".to_owned(),
        Family::Unknown => "the edge passes on a refusal without a plain reason".to_owned(),
        Family::Unreachable => {
            format!("the edge answers {} if the service breaks the connection", cases.unreachable_status())
        }
    }
}

/// The rows of all families, the plainest of a family first.
pub(super) fn rows(cases: &Catalog<'_>) -> Vec<ExploredRow> {
    let mut rows = Vec::new();
    let mut add = |family, id: &str, conversation: Conversation| {
        let mut conversation = conversation.readable(CaseLevel::Must);
        conversation.content_type = Some(CaseLevel::Should);
        rows.push(ExploredRow { id: id.to_owned(), family, conversation });
    };
    add(Family::Accepted, "edge.200.accepted", cases.accepted_post());
    for (row, status, code) in cases.relay_rows() {
        add(Family::Refusals, &row.id, cases.refused_post(status, code));
    }
    let unknown = cases.answer("edge.refused.unknown", Some((403, "")));
    for (id, kind, body) in [
        ("not-json", "text/plain", "forbidden"),
        ("empty", "application/json", ""),
        ("html", "text/html", "<html><body><h1>403 Forbidden</h1></body></html>"),
        ("object", "application/json", r#"{"message":"forbidden"}"#),
        ("array", "application/json", r#"["expired"]"#),
        ("number", "application/json", r#"{"error":17,"reason":17}"#),
    ] {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        let script = Script::one(Action::Answer { status: 403, headers, body: body.into() });
        add(
            Family::Unknown,
            &format!("edge.refused.unknown.{id}"),
            Conversation::post(script, unknown.clone()),
        );
    }
    let unreachable = cases.answer("edge.502.service-unreachable", None);
    for (id, action) in [("closed", Action::Close), ("reset", Action::Reset)] {
        let conversation = Conversation::post(Script::one(action), unreachable.clone())
            .after_retry(vec![unreachable.clone()]);
        add(Family::Unreachable, &format!("edge.502.service-unreachable.{id}"), conversation);
    }
    rows
}
