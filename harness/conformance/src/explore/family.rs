use edgeproof_mock::{Action, Script};
use edgeproof_reports::CaseLevel;
use strum::{Display, IntoStaticStr, VariantArray};

use crate::cases::{Catalog, Conversation};

/// Rows with the same kind of outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Family {
    /// The service accepts.
    Accepted,
    /// The service refuses with a plain reason.
    Refusals,
    /// The service refuses without a plain reason.
    Unknown,
    /// The service breaks the connection after the request.
    Unreachable,
}

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

impl Family {
    /// Its name in case ids.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Text for titles, to follow "with".
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Accepted => "an acceptance",
            Self::Refusals => "refusals for a reason",
            Self::Unknown => "refusals without a plain reason",
            Self::Unreachable => "a service that breaks the connection",
        }
    }

    /// Its exchanges break connections of the edge to the service, so they run one after the other on an exclusive edge.
    pub(super) fn breaks_connections(self) -> bool {
        self == Self::Unreachable
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
        let conversation = Conversation::post(Script::one(action), unreachable.clone());
        add(Family::Unreachable, &format!("edge.502.service-unreachable.{id}"), conversation);
    }
    rows
}
