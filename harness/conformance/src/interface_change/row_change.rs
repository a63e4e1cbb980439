use std::collections::BTreeMap;

use edgeproof_fixtures::spec::{Endpoint, Fact, Row, Spec, Stimulus, Table};
use serde::Serialize;
use serde_json::Value;

use crate::cases::methods;

/// A row that two versions do not have alike.
#[derive(Debug, Clone, PartialEq)]
pub struct RowChange {
    /// The row in the old version. None: it is added.
    pub old: Option<Row>,
    /// The row in the new version. None: it is removed.
    pub new: Option<Row>,
}

/// A field of a row with both values, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// Name of the field, such as `status`.
    pub field: String,
    /// Its old value. Null: none.
    pub old: Value,
    /// Its new value. Null: none.
    pub new: Value,
}

impl RowChange {
    /// All changes from one version to another: those of the new version's rows in its order, then the removed rows. A removed
    /// and an added row of one table with the same code or stimulus are one change.
    pub fn all(old: &Spec, new: &Spec) -> Vec<Self> {
        let mut removed: Vec<&Row> = old.rows().iter().filter(|row| new.row(&row.id).is_none()).collect();
        let renamed = renamed(&mut removed, old, new);
        let mut changes = Vec::new();
        for row in new.rows() {
            let before = old.row(&row.id).or_else(|| renamed.get(row.id.as_str()).copied());
            if before != Some(row) {
                changes.push(Self { old: before.cloned(), new: Some(row.clone()) });
            }
        }
        changes.extend(removed.into_iter().map(|row| Self { old: Some(row.clone()), new: None }));
        changes
    }

    /// Id of the row: the new one, or the old one of a removed row.
    pub fn id(&self) -> &str {
        self.row().map_or("", |row| &row.id)
    }

    /// Table of the row.
    pub fn table(&self) -> Table {
        self.row().map_or(Table::Statements, |row| row.table)
    }

    /// The row, in the new version if it is there.
    pub fn row(&self) -> Option<&Row> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// One word for what happened.
    pub fn kind(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "added",
            (_, None) => "removed",
            (Some(_), Some(_)) => "changed",
        }
    }

    /// The party that the row names.
    pub(super) fn party(&self) -> Option<&str> {
        match &self.row()?.fact {
            Fact::Endpoint { party, .. } | Fact::Setting { party, .. } => Some(party),
            _ => None,
        }
    }

    /// Whether the row gained a situation of an edge or of a verdict, or lost one to another row. The cases of a situation
    /// keep to the row that they name.
    pub(super) fn is_moved(&self, new: &Spec) -> bool {
        let (Some(before), Some(after)) = (&self.old, &self.new) else { return false };
        let moves = |stimulus: &Stimulus| {
            let is_gained = !before.stimuli.contains(stimulus);
            let is_lost = !after.stimuli.contains(stimulus);
            *stimulus != Stimulus::Scripted
                && (is_gained || is_lost && new.by_stimulus(after.table, *stimulus).is_some())
        };
        matches!(after.table, Table::Edge | Table::Verdict)
            && before.stimuli.iter().chain(&after.stimuli).any(moves)
    }

    /// The fields that differ.
    pub fn fields(&self) -> Vec<FieldChange> {
        let (Some(old), Some(new)) = (&self.old, &self.new) else { return Vec::new() };
        let (old, new) = (fields(old), fields(new));
        let mut names: Vec<&String> = old.iter().map(|(name, _)| name).collect();
        names.extend(
            new.iter().map(|(name, _)| name).filter(|name| !old.iter().any(|(other, _)| other == *name)),
        );
        let value = |all: &[(String, Value)], name: &str| {
            all.iter().find(|(other, _)| other == name).map_or(Value::Null, |(_, value)| value.clone())
        };
        let changes = names.into_iter().map(|name| {
            let (old, new) = (value(&old, name), value(&new, name));
            FieldChange { field: name.clone(), old, new }
        });
        changes.filter(|change| change.old != change.new).collect()
    }

    /// Why no run can play the change. None: runs can.
    pub(super) fn not_played(&self) -> Option<&'static str> {
        match (self.old.as_ref().map(|row| &row.fact), self.new.as_ref().map(|row| &row.fact)) {
            (Some(Fact::Setting { name: old, .. }), Some(Fact::Setting { name: new, .. })) if old != new => {
                Some("built-in parts get their settings and options without these names")
            }
            (Some(Fact::Setting { party, .. }), None) if party == "edge" => {
                Some("runs give edges the setting all the same")
            }
            (Some(Fact::Endpoint { methods: old, .. }), Some(Fact::Endpoint { methods: new, .. }))
                if old != new =>
            {
                methods_not_played(self.id(), old, new)
            }
            _ => None,
        }
    }

    /// Whether its cases follow the change: no case follows other words for one fact, or a limit in words.
    pub(super) fn is_followed(&self) -> bool {
        let [old, new] = [&self.old, &self.new].map(|row| row.as_ref().map(|row| &row.fact));
        old != new && !matches!(new.or(old), Some(Fact::Limit { value: None, .. }))
    }

    /// The way back: from the new version to the old one.
    pub(super) fn reversed(&self) -> Self {
        Self { old: self.new.clone(), new: self.old.clone() }
    }

    /// The new version's fact alone in the old version.
    pub fn alone(&self, old: &Spec, new: &Spec) -> Spec {
        old.with_row(self.old.as_ref().map(|row| row.id.as_str()), self.new.as_ref(), new)
    }
}

/// Why no run plays other methods of an endpoint. None: each one is sent by a case.
fn methods_not_played(row: &str, old: &[String], new: &[String]) -> Option<&'static str> {
    let endpoint = Endpoint::of_row(row)?;
    let mut others = old.iter().filter(|method| !new.contains(method));
    let mut added = new.iter().filter(|method| !old.contains(method));
    let is_played = |method: &String| methods::plays_listed(endpoint, method);
    (!others.all(is_played) || !added.all(is_played)).then_some("no case sends the other method")
}

/// The removed rows that have another id in the new version, by this id. They leave `removed`. Rows that have more in common
/// find each other first, so that two rows with one code do not change places.
fn renamed<'a>(removed: &mut Vec<&'a Row>, old: &Spec, new: &'a Spec) -> BTreeMap<&'a str, &'a Row> {
    let mut renamed = BTreeMap::new();
    for is_same in [Row::states_the_same_as, has_same_answer, is_same_fact] {
        for row in new.rows().iter().filter(|row| old.row(&row.id).is_none()) {
            if renamed.contains_key(row.id.as_str()) {
                continue;
            }
            let found = removed.iter().position(|gone| gone.table == row.table && is_same(gone, row));
            if let Some(index) = found {
                renamed.insert(row.id.as_str(), removed.remove(index));
            }
        }
    }
    renamed
}

fn has_same_answer(old: &Row, new: &Row) -> bool {
    old.code().is_some() && (old.status(), old.code()) == (new.status(), new.code())
}

/// Whether two rows with different ids state one thing: the same code, or a stimulus of their own.
fn is_same_fact(old: &Row, new: &Row) -> bool {
    let has_code = old.code().is_some() && old.code() == new.code();
    has_code || !old.own_stimuli().is_disjoint(&new.own_stimuli())
}

/// The row as names and values; the members of its fact stand beside the others.
fn fields(row: &Row) -> Vec<(String, Value)> {
    let Ok(Value::Object(members)) = serde_json::to_value(row) else { return Vec::new() };
    let mut fields = Vec::new();
    for (name, value) in members {
        match value {
            Value::Object(fact) if name == "fact" => {
                let inner = fact.into_iter().filter_map(|(_, value)| match value {
                    Value::Object(inner) => Some(inner),
                    _ => None,
                });
                fields.extend(inner.flatten());
            }
            value => fields.push((name, value)),
        }
    }
    fields
}
