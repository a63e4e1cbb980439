use askama::Template;
use serde::Serialize;
use strum::IntoStaticStr;

use crate::model::ReportedSpec;
use crate::text::page::rendered;
use crate::text::units::counted;

/// Two versions of an interface compared, as every form shows them.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "spec_diff.html")]
pub struct SpecDiff {
    /// The old version.
    pub old: ReportedSpec,
    /// The new version.
    pub new: ReportedSpec,
    /// The changed rows.
    pub changes: Vec<ChangedRow>,
    /// Open points with another value.
    pub points: Vec<ChangedValue>,
    /// What each owner does.
    pub owners: Vec<OwnerItems>,
    /// What else the change touches.
    pub touched: Vec<String>,
    /// Cases that could not run at the target, with the reason; or why it could not be tried at all.
    pub not_run: Vec<String>,
    /// Accepted changes, and stale lines of the file that accepts them.
    pub notes: Vec<String>,
}

/// A changed row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedRow {
    /// Id of the row.
    pub id: String,
    /// `added`, `changed` or `removed`.
    pub kind: &'static str,
    /// Id in the old version, if it is another one.
    pub was: Option<String>,
    /// When the row applies.
    pub condition: String,
    /// What the row means for each part.
    pub parts: Vec<ChangedPart>,
    /// On which side the target is, if there is one.
    pub target: Option<&'static str>,
    /// The fields that differ.
    pub fields: Vec<ChangedValue>,
    /// The answer on the wire; empty if both versions have the same.
    pub wire: Vec<WireLine>,
    /// Mutants that break the row, if a matrix was given.
    pub mutants: Vec<String>,
}

/// What a changed row means for one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPart {
    /// Name of the part.
    pub part: &'static str,
    /// The class.
    pub class: Class,
    /// What the class rests on, such as `1 case passed`.
    pub because: String,
}

/// What a changed row means for a part that was right before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, Serialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Class {
    /// Cases of the new version cover the row, and the old part fails none of them at level `must`.
    Compatible,
    /// No case of the new version touches the row at this part.
    Untested,
    /// The old part fails a `must` of the new version.
    Breaking,
}

/// A value in both versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedValue {
    /// Field or open point.
    pub name: String,
    /// The old value.
    pub old: String,
    /// The new value.
    pub new: String,
}

/// A line of an answer on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireLine {
    /// In the old version.
    Old(String),
    /// In the new version.
    New(String),
}

/// What an owner does, under its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerItems {
    /// `what the owner of an edge does`.
    pub heading: String,
    /// What to do, for each changed row.
    pub items: Vec<String>,
}

impl Class {
    /// Name in every form.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl SpecDiff {
    /// Both versions: `current 0123 → next 4567`.
    pub fn title(&self) -> String {
        format!("{} → {}", self.old, self.new)
    }

    /// Whether the versions state the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.points.is_empty() && self.old.digest == self.new.digest
    }

    /// One page without network or script.
    pub fn to_html(&self) -> String {
        rendered(self)
    }

    /// `3 changed rows`, or what else differs.
    fn count(&self) -> String {
        match (self.is_empty(), self.changes.len()) {
            (true, _) => "no difference".to_owned(),
            (false, count) => counted(count, "changed row"),
        }
    }

    /// The number of rows whose heaviest class this is, for each class that occurs.
    fn classes(&self) -> Vec<(Class, usize)> {
        let classes = [Class::Breaking, Class::Untested, Class::Compatible];
        let of = |class| self.changes.iter().filter(|change| change.class() == Some(class)).count();
        classes.map(|class| (class, of(class))).into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

impl ChangedRow {
    /// The heaviest class. None: nothing was played.
    fn class(&self) -> Option<Class> {
        self.parts.iter().map(|part| part.class).max()
    }

    fn class_name(&self) -> &'static str {
        self.class().map_or("", Class::name)
    }
}
