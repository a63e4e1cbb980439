use std::collections::BTreeSet;
use std::sync::Arc;

use edgeproof_fixtures::spec::{Fact, OpenPoint, PartName, Spec};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::interface::Class;
use edgeproof_reports::matrix::MatrixMutant;
use edgeproof_targets::{FaultInjection, Target};
use serde::Serialize;

use super::accepted_change::AcceptedChange;
use super::class::PartClass;
use super::duty::Duty;
use super::part_play::{PartPlay, PlayError, proves};
use super::row_change::{FieldChange, RowChange};
use super::target_side::{TargetSide, TargetSides};
use super::touched::Touched;
use super::wire::wire;
use crate::cases::{self, AnyCase, Catalog};

/// How two versions are compared.
#[derive(Default)]
pub struct ComparisonOptions {
    /// Compare the rows only, and play nothing.
    pub only_rows: bool,
    /// Faults of the played reference parts.
    pub faults: Option<Arc<dyn FaultInjection>>,
    /// An edge, of which each changed row says on which side it is.
    pub target: Option<Target>,
}

/// Two versions of the interface, row by row.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Format of this document.
    pub schema: &'static str,
    /// The old version.
    pub old: VersionName,
    /// The new version.
    pub new: VersionName,
    /// The changed rows.
    pub changes: Vec<RowComparison>,
    /// Open points with another value: name, old and new value.
    pub points: Vec<FieldChange>,
    /// Sections with another title: number, old and new title.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<FieldChange>,
    /// Cases at the target that could not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    /// Why each of them could not run, after its id. A case plays in both versions.
    #[serde(skip)]
    pub not_run_texts: BTreeSet<String>,
    /// Why the target could not be tried at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_failure: Option<String>,
    /// Accepted changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedChange>,
    /// Cases that only the new version has.
    pub added_cases: Vec<String>,
    /// Cases that only the old version has.
    pub removed_cases: Vec<String>,
    /// Cases and snapshots that the change touches.
    pub touched: Touched,
}

/// Name and digest of a version.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionName {
    /// Its name.
    pub version: String,
    /// Its digest.
    pub digest: String,
}

/// A changed row and what it means for each part.
#[derive(Debug, Serialize)]
pub struct RowComparison {
    /// Id of the row.
    pub row: String,
    /// `added`, `changed` or `removed`.
    pub kind: &'static str,
    /// Id in the old version, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_row: Option<String>,
    /// When the row applies.
    pub condition: String,
    /// The fields that differ.
    pub fields: Vec<FieldChange>,
    /// The answer on the wire in the old version, in lines.
    pub old_wire: Vec<String>,
    /// The answer on the wire in the new version, in lines.
    pub new_wire: Vec<String>,
    /// What the row means for each part. Empty: nothing was played.
    pub parts: Vec<PartClass>,
    /// On which side the target is, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetSide>,
    /// What the owners have to do, whatever the played parts show. A compatible part has nothing to do.
    pub duties: Vec<Duty>,
    /// Ids of the mutants that break the row, if a kill matrix was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<String>,
}

impl Comparison {
    /// Compares two versions. Each changed row is played alone, so that no other change hides behind it.
    pub async fn of(
        old: &Arc<Spec>,
        new: &Arc<Spec>,
        options: &ComparisonOptions,
    ) -> Result<Self, PlayError> {
        let (old_cases, new_cases) = (all_cases(old), all_cases(new));
        let play = PartPlay::new(options.faults.clone())?;
        let row_changes = RowChange::all(old, new);
        let mut changes = Vec::new();
        for change in &row_changes {
            let alone = Arc::new(change.alone(old, new));
            let asking = Arc::new(alone.with_counterparts_of(new));
            let concerned = parts_of(change, &old_cases, &new_cases, new);
            let mut parts = Vec::new();
            for part in concerned.iter().copied() {
                if options.only_rows {
                    break;
                }
                if let Some(why) = change.not_played() {
                    parts.push(PartClass::not_played(part, why));
                    continue;
                }
                if let Some(why) = play.unplayable(part).await {
                    parts.push(PartClass::not_played(part, &why));
                    continue;
                }
                let mut forward = match &change.new {
                    Some(row) => play.play(part, &asking, old, &row.id).await?,
                    None => Vec::new(),
                };
                let mut is_together = false;
                // A case may need rows that only the whole new version has.
                if let Some(row) = change.new.as_ref().filter(|_| forward.is_empty()) {
                    forward = play.play(part, new, old, &row.id).await?;
                    is_together = !forward.is_empty();
                }
                let back = match &change.old {
                    Some(row) => play.play(part, old, &alone, &row.id).await?,
                    None => Vec::new(),
                };
                let class = PartClass::of(part, change, &forward, &back, new);
                parts.push(class.noted(change, &forward, is_together, new));
            }
            changes.push(RowComparison::new(change, &concerned, parts, old, new));
        }
        let mut target_failure = None;
        let not_run = match &options.target {
            Some(target) => match TargetSides::of(&play, old, new, target, &row_changes).await {
                // The classes do not depend on the target.
                Err(PlayError::Target(why)) => {
                    target_failure = Some(why);
                    Vec::new()
                }
                tried => {
                    let tried = tried?;
                    for (change, side) in changes.iter_mut().zip(tried.sides) {
                        change.target = Some(side);
                    }
                    tried.not_run
                }
            },
            None => Vec::new(),
        };
        play.end().await;
        let mut touched = Touched::of(&changes, &old_cases, &new_cases);
        let points = points(old, new);
        // Our mocks follow an open point as well as a row.
        let is_equal = changes.is_empty() && points.is_empty();
        if !options.only_rows && !is_equal {
            touched.play_snapshots(old, new).await;
        }
        let (old_ids, new_ids) = (ids(&old_cases), ids(&new_cases));
        Ok(Self {
            not_run: not_run.iter().map(|case| case.id.clone()).collect(),
            not_run_texts: not_run.iter().map(|case| format!("{}: {}", case.id, case.because)).collect(),
            target_failure,
            accepted: Vec::new(),
            schema: "edgeproof.spec-diff/1",
            old: VersionName::of(old),
            new: VersionName::of(new),
            changes,
            points,
            sections: sections(old, new),
            added_cases: new_ids.difference(&old_ids).cloned().collect(),
            removed_cases: old_ids.difference(&new_ids).cloned().collect(),
            touched,
        })
    }

    /// Names the mutants of the changed rows.
    pub fn add_mutants<'m>(&mut self, mutants: impl IntoIterator<Item = &'m MatrixMutant>) {
        for mutant in mutants {
            let breaks = |change: &&mut RowComparison| {
                change.row == mutant.row || change.old_row.as_ref() == Some(&mutant.row)
            };
            let row = self.changes.iter_mut().find(breaks);
            if let Some(row) = row.filter(|row| !row.mutants.contains(&mutant.id)) {
                row.mutants.push(mutant.id.clone());
            }
        }
    }

    /// Whether the versions state the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.points.is_empty() && self.old.digest == self.new.digest
    }

    /// Whether a changed row has this class at a part.
    pub fn has(&self, class: Class) -> bool {
        self.changes.iter().flat_map(|change| &change.parts).any(|part| part.class == class)
    }
}

impl RowComparison {
    fn new(
        change: &RowChange,
        concerned: &[PartName],
        parts: Vec<PartClass>,
        old: &Spec,
        new: &Spec,
    ) -> Self {
        // A part that passes the new cases as it is has nothing to do, if they follow the change.
        let is_done = |duty: &Duty| {
            let mut own = parts.iter().filter(|class| Some(class.part) == duty.owner.part());
            change.is_followed() && own.any(|class| class.class == Class::Compatible && class.warned == 0)
        };
        let mut duties = Duty::of(change, concerned);
        duties.retain(|duty| !is_done(duty));
        let wire = |row: &Option<_>, spec: &Spec| row.as_ref().map(|row| wire(row, spec)).unwrap_or_default();
        let old_id = change.old.as_ref().map(|row| row.id.clone());
        Self {
            row: change.id().to_owned(),
            kind: change.kind(),
            old_row: old_id.filter(|id| id != change.id()),
            condition: change.row().map(|row| row.condition.clone()).unwrap_or_default(),
            fields: change.fields(),
            old_wire: wire(&change.old, old),
            new_wire: wire(&change.new, new),
            target: None,
            duties,
            mutants: Vec::new(),
            parts,
        }
    }
}

impl VersionName {
    fn of(spec: &Spec) -> Self {
        Self { version: spec.version().to_owned(), digest: spec.digest().to_owned() }
    }
}

/// The parts that a row concerns: those with a case of it, that of its table, and those of its open point.
fn parts_of(
    change: &RowChange,
    old: &[Box<dyn AnyCase>],
    new: &[Box<dyn AnyCase>],
    spec: &Spec,
) -> Vec<PartName> {
    let touches = |part: PartName| {
        let of = |cases: &[Box<dyn AnyCase>], row: Option<&str>| {
            row.is_some_and(|row| {
                cases.iter().any(|case| case.part() == part.name() && proves(case.facts(), row))
            })
        };
        of(old, change.old.as_ref().map(|row| row.id.as_str()))
            || of(new, change.new.as_ref().map(|row| row.id.as_str()))
    };
    let point = [&change.old, &change.new].into_iter().flatten().find_map(|row| match &row.fact {
        Fact::Rule { point, .. } => spec.profile().point(point),
        _ => None,
    });
    let party = change.party().and_then(|party| party.parse::<PartName>().ok());
    let concerns = |part: &PartName| {
        change.table().parts().contains(part)
            || party == Some(*part)
            || touches(*part)
            || point.is_some_and(|point| point.parts.contains(part))
    };
    let concerned: Vec<_> = PartName::ALL.iter().copied().filter(concerns).collect();
    if !concerned.is_empty() {
        return concerned;
    }
    // Someone reads each row. Without a case, its section tells for whom it is. A section without cases may be for everyone.
    let section = change.row().map(|row| &row.section);
    let of_section = |part: &PartName| {
        new.iter().any(|case| case.part() == part.name() && Some(&case.facts().section) == section)
    };
    let concerned: Vec<_> = PartName::ALL.iter().copied().filter(of_section).collect();
    if concerned.is_empty() { PartName::ALL.to_vec() } else { concerned }
}

/// The open points whose values differ.
fn points(old: &Spec, new: &Spec) -> Vec<FieldChange> {
    let text = |value: Option<&OpenPoint>| {
        value.map_or(serde_json::Value::Null, |point| point.value.to_string().into())
    };
    let changed = new.profile().points().filter(|point| old.profile().point(&point.id) != Some(point));
    let changes = changed.map(|point| FieldChange {
        field: point.id.clone(),
        old: text(old.profile().point(&point.id)),
        new: text(Some(point)),
    });
    changes.filter(|change| change.old != change.new).collect()
}

/// The sections whose titles differ.
fn sections(old: &Spec, new: &Spec) -> Vec<FieldChange> {
    let numbers: BTreeSet<&str> = old.sections().chain(new.sections()).map(|(number, _)| number).collect();
    let title = |spec: &Spec, number| spec.section_title(number).into();
    let changes = numbers.into_iter().map(|number| FieldChange {
        field: number.to_owned(),
        old: title(old, number),
        new: title(new, number),
    });
    changes.filter(|change| change.old != change.new).collect()
}

fn all_cases(spec: &Spec) -> Vec<Box<dyn AnyCase>> {
    let shape = ReplyShape::from_profile(spec.profile());
    cases::all(Catalog::new(spec, &shape, false))
}

fn ids(cases: &[Box<dyn AnyCase>]) -> BTreeSet<String> {
    cases.iter().map(|case| case.facts().id.clone()).collect()
}
