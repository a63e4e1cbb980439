use edgeproof_fixtures::spec::{Endpoint, Fact, Row, Table};
use serde::Serialize;
use strum::{Display, VariantArray};

use super::row_change::RowChange;

/// What an owner has to do about a changed row, whatever a run of reference parts shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Duty {
    /// Whose duty it is.
    pub owner: DutyOwner,
    /// What to do.
    pub text: String,
}

/// Who answers by a row, or reads its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(Display, VariantArray)]
pub enum DutyOwner {
    /// Owner of the service.
    #[strum(serialize = "the service")]
    Service,
    /// Owner of a backend.
    #[strum(serialize = "a backend")]
    Backend,
    /// Owner of the page.
    #[strum(serialize = "the page")]
    Page,
}

impl Duty {
    /// The duties of those who answer by a row and of those who read its answer.
    pub(super) fn of(change: &RowChange) -> Vec<Self> {
        let answers = match change.table() {
            Table::Relay | Table::Verdict => service(change),
            _ => None,
        };
        let reads = match change.table() {
            Table::Verdict => backend(change),
            Table::Endpoints if change.id() == Endpoint::Verdict.row() => path(change),
            _ => None,
        };
        let page = match change.table() {
            Table::Collector => page(change),
            Table::Endpoints if change.id() == Endpoint::Signals.row() => path(change),
            _ => None,
        };
        let duties = [(DutyOwner::Service, answers), (DutyOwner::Backend, reads), (DutyOwner::Page, page)];
        duties.into_iter().filter_map(|(owner, text)| Some(Self { owner, text: text? })).collect()
    }
}

fn service(change: &RowChange) -> Option<String> {
    Some(match (&change.old, &change.new) {
        (Some(old), None) => format!("no longer answer {}", answer(old)),
        (None, Some(new)) => format!("answer {}: {}", answer(new), new.condition),
        (Some(old), Some(new)) if answer(old) != answer(new) => {
            format!("answer {} in place of {}", answer(new), answer(old))
        }
        _ => return None,
    })
}

fn backend(change: &RowChange) -> Option<String> {
    Some(match (&change.old, &change.new) {
        (Some(old), None) => format!("{} no longer comes: remove what handles it", answer(old)),
        (None, Some(new)) => format!("handle {}: {}", answer(new), new.condition),
        (Some(old), Some(new)) if answer(old) != answer(new) => {
            format!("expect {} where {} came before", answer(new), answer(old))
        }
        _ => return None,
    })
}

fn path(change: &RowChange) -> Option<String> {
    let path = |row: &Option<Row>| match &row.as_ref()?.fact {
        Fact::Endpoint { path, .. } => Some(path.clone()),
        _ => None,
    };
    let (old, new) = (path(&change.old)?, path(&change.new)?);
    (old != new).then(|| format!("send requests to {new} in place of {old}"))
}

fn page(change: &RowChange) -> Option<String> {
    let text = |row: &Option<Row>| row.as_ref().and_then(|row| row.code().map(str::to_owned));
    Some(match (text(&change.old), text(&change.new)) {
        (Some(old), None) => format!("the error {old:?} no longer comes"),
        (None, Some(new)) => format!("handle the error {new:?}"),
        (Some(old), Some(new)) if old != new => format!("expect the error {new:?} in place of {old:?}"),
        _ => return None,
    })
}

fn answer(row: &Row) -> String {
    row.answer().unwrap_or_default()
}
