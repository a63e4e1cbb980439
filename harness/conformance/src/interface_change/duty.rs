use edgeproof_fixtures::spec::{Endpoint, Fact, PartName, Row, Stimulus, Table};
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

/// Who follows a row, or reads what another one does by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(Display, VariantArray)]
pub enum DutyOwner {
    /// Owner of an edge.
    #[strum(serialize = "an edge")]
    Edge,
    /// Owner of the service.
    #[strum(serialize = "the service")]
    Service,
    /// Owner of the key set.
    #[strum(serialize = "the key set")]
    Keys,
    /// Owner of the collector.
    #[strum(serialize = "the collector")]
    Collector,
    /// Owner of a backend.
    #[strum(serialize = "a backend")]
    Backend,
    /// Owner of the page.
    #[strum(serialize = "the page")]
    Page,
}

impl DutyOwner {
    /// The part that it owns. None: no run plays it.
    pub fn part(self) -> Option<PartName> {
        match self {
            Self::Edge => Some(PartName::Edge),
            Self::Service => Some(PartName::Service),
            Self::Keys => Some(PartName::Keys),
            Self::Collector => Some(PartName::Collector),
            Self::Backend | Self::Page => None,
        }
    }
}

impl Duty {
    /// The duties of those who follow a row and of those who read what comes of it. `parts`: those that the row concerns.
    pub(super) fn of(change: &RowChange, parts: &[PartName]) -> Vec<Self> {
        let readers: &[DutyOwner] = match (change.table(), change.party()) {
            (Table::Collector, _) | (Table::Settings, Some("collector")) => &[DutyOwner::Page],
            (Table::Endpoints, _) if change.id() == Endpoint::Signals.row() => &[DutyOwner::Collector],
            (Table::Verdict | Table::Keys, _) | (Table::Endpoints, Some("service" | "keys")) => {
                &[DutyOwner::Backend]
            }
            // The collector's error holds the status of an edge's answer.
            (Table::Edge | Table::Relay, _) if changes_error_status(change) => &[DutyOwner::Page],
            (Table::Limits, _) if READ_BY_BACKENDS.iter().any(|part| parts.contains(part)) => {
                &[DutyOwner::Backend]
            }
            _ if rule_is_for_backends(change) => &[DutyOwner::Backend],
            _ => &[],
        };
        let follows = |owner: &DutyOwner| match change.table() {
            // An edge passes a reason on as it comes.
            Table::Relay | Table::Verdict => *owner == DutyOwner::Service,
            _ => owner.part().is_some_and(|part| parts.contains(&part)),
        };
        let text = |owner: &DutyOwner| {
            if readers.contains(owner) {
                return Verbs::READER.text(change);
            }
            Verbs::MAKER.text(change).or_else(|| reread(change))
        };
        let concerned = DutyOwner::VARIANTS.iter().filter(|owner| readers.contains(owner) || follows(owner));
        concerned.filter_map(|owner| Some(Self { owner: *owner, text: text(owner)? })).collect()
    }
}

/// The parts whose answers a backend reads.
const READ_BY_BACKENDS: [PartName; 2] = [PartName::Service, PartName::Keys];

/// Whether the row is a rule about what a backend reads: verdicts, read tokens and keys.
fn rule_is_for_backends(change: &RowChange) -> bool {
    const GROUPS: [&str; 3] = ["verdict.", "read-token.", "keys."];
    change.row().is_some_and(|row| match &row.fact {
        Fact::Rule { point, .. } => GROUPS.iter().any(|group| point.starts_with(group)),
        _ => false,
    })
}

/// How a duty is said to those who follow a row, and to those who read what comes of it.
struct Verbs {
    answer: &'static str,
    throw: &'static str,
    serve: &'static str,
    set: &'static str,
    keep: &'static str,
    /// Ends the text about something that is gone.
    gone: &'static str,
}

impl Verbs {
    const MAKER: Self = Self {
        answer: "answer",
        throw: "throw the error",
        serve: "serve",
        set: "read",
        keep: "keep to",
        gone: "is no longer required",
    };
    const READER: Self = Self {
        answer: "handle",
        throw: "handle the error",
        serve: "send",
        set: "pass",
        keep: "expect",
        gone: "is gone: remove what uses it",
    };

    /// What to do about a change. None: nothing, because what this owner sees stays.
    fn text(&self, change: &RowChange) -> Option<String> {
        let what = |row: &Option<Row>| row.as_ref().map(|row| self.thing(row));
        match (what(&change.old), what(&change.new)) {
            (Some((_, Some(old))), None) => Some(format!("{old} {}", self.gone)),
            (None, Some((verb, Some(new)))) => Some(format!("{verb} {new}: {}", change.row()?.condition)),
            (Some((_, old)), Some((verb, new))) if old != new => {
                let before = old.map(|old| format!(" in place of {old}")).unwrap_or_default();
                Some(format!("{verb} {}{before}", new?))
            }
            (None, Some(_)) => Some(change.row()?.condition.clone()),
            (Some(_), None) => Some(format!("no longer required: {}", change.row()?.condition)),
            _ => None,
        }
    }

    /// A verb, and what the row names for it. A statement names nothing.
    fn thing(&self, row: &Row) -> (&'static str, Option<String>) {
        match &row.fact {
            Fact::Verdict { suffixed: true, .. } => {
                (self.answer, row.answer().map(|answer| format!("{answer}, then a colon and more")))
            }
            Fact::Answer { .. } | Fact::Reason { .. } | Fact::Verdict { .. } => (self.answer, row.answer()),
            Fact::Thrown { text } => (self.throw, Some(format!("{text:?}"))),
            Fact::Endpoint { methods, path, .. } => {
                // A client keeps to the first method: preflights are the browser's, and no other one is needed.
                let own = if self.serve == Self::READER.serve { 1 } else { methods.len() };
                let methods: Vec<&str> = methods.iter().take(own).map(String::as_str).collect();
                (self.serve, Some(format!("{} {path}", methods.join(", "))))
            }
            Fact::Setting { name, values, .. } if values.is_empty() => (self.set, Some(name.clone())),
            Fact::Setting { name, values, party } => {
                // The default of a collector's setting is the first value.
                let by_default = if party == "collector" { " by default" } else { "" };
                let values = values.join(", ").replacen(',', &format!("{by_default},"), 1);
                (self.set, Some(format!("{name} ({values})")))
            }
            Fact::Limit { value, unit } => {
                let value = value.map(|value| format!("{value} ")).unwrap_or_default();
                (self.keep, Some(format!("{value}{unit}")))
            }
            Fact::Rule { value, .. } => (self.keep, Some(value.to_string())),
            Fact::Statement => ("", None),
        }
    }
}

/// A row that names the same, in other words, with another level, or for another situation.
fn reread(change: &RowChange) -> Option<String> {
    let (old, new) = (change.old.as_ref()?, change.new.as_ref()?);
    if old.level != new.level {
        return Some(format!("its level is {}, and was {}: {}", new.level, old.level, new.condition));
    }
    if old.condition != new.condition {
        return Some(format!("it now says: {}", new.condition));
    }
    let situations = |row: &Row, other: &Row| {
        let is_own =
            |stimulus: &&Stimulus| !other.stimuli.contains(stimulus) && **stimulus != Stimulus::Scripted;
        let own = row.stimuli.iter().filter(is_own);
        own.map(|stimulus| stimulus.meaning().trim_end_matches('.')).collect::<Vec<_>>().join("; ")
    };
    let (gained, lost) = (situations(new, old), situations(old, new));
    let parts = [("it now also applies to", gained), ("it no longer applies to", lost)];
    let said = parts.into_iter().filter(|(_, which)| !which.is_empty());
    let said: Vec<String> = said.map(|(verb, which)| format!("{verb}: {which}")).collect();
    (!said.is_empty()).then(|| said.join(", and "))
}

/// Whether the row gives an answer an error status that it did not have, or takes its status away.
fn changes_error_status(change: &RowChange) -> bool {
    let status = |row: &Option<Row>| row.as_ref().and_then(Row::status).filter(|status| *status >= 400);
    status(&change.new) != status(&change.old)
}
