use edgeproof_reports::interface::{
    ChangedPart, ChangedRow, ChangedValue, Class, OwnerItems, SpecDiff, WireLine,
};
use edgeproof_reports::{ReportedSpec, counted};
use serde_json::Value;
use strum::VariantArray;

use super::accepted_change::AcceptedChange;
use super::class::PartClass;
use super::comparison::{Comparison, RowComparison, VersionName};
use super::duty::DutyOwner;
use super::row_change::FieldChange;

/// Ids of a list that text names.
const LISTED: usize = 5;
/// Failed cases that a class names.
const FAILED: usize = 3;

impl Comparison {
    /// The comparison for people: each changed row with its classes, then what the owner of each part has to do, then what
    /// else is touched.
    pub fn view(&self) -> SpecDiff {
        SpecDiff {
            old: version(&self.old),
            new: version(&self.new),
            changes: self.changes.iter().map(row).collect(),
            points: self.points.iter().map(changed).collect(),
            owners: self.owners(),
            touched: self.touched_texts(),
            not_run: self.not_run_texts.iter().chain(&self.target_failure).cloned().collect(),
            notes: self.accepted.iter().map(accepted).collect(),
        }
    }

    /// What each owner has to do, then what old counterparts notice.
    fn owners(&self) -> Vec<OwnerItems> {
        let owners = DutyOwner::VARIANTS.iter().map(|owner| OwnerItems {
            heading: format!("what the owner of {owner} does"),
            items: self.to_do(*owner),
        });
        let noticed = OwnerItems {
            heading: "what old counterparts notice".to_owned(),
            items: DutyOwner::VARIANTS.iter().flat_map(|owner| self.noticed(*owner)).collect(),
        };
        owners.chain([noticed]).filter(|owner| !owner.items.is_empty()).collect()
    }

    /// What an owner has to do.
    fn to_do(&self, owner: DutyOwner) -> Vec<String> {
        let mut items = Vec::new();
        for change in &self.changes {
            let duty = change.duties.iter().find(|duty| duty.owner == owner);
            let failed = change
                .class_of(owner)
                .filter(|class| class.class == Class::Breaking)
                .and_then(|class| class.failed.first());
            if duty.is_some() || failed.is_some() {
                let text = duty.map_or(&change.condition, |duty| &duty.text);
                items.push(format!("{}: {text}", change.row));
            }
            if let Some(failed) = failed {
                // What helps a part that is wrong helps none that was right before.
                items.push(format!("expected {}, the old part: {}", failed.expected, failed.actual));
            }
        }
        items
    }

    /// The cases of the old version that an owner's new part fails.
    fn noticed(&self, owner: DutyOwner) -> Vec<String> {
        let of_change = |change: &RowComparison| {
            let failed = &change.class_of(owner)?.noticed;
            let cases: Vec<&str> = failed.iter().map(|failed| failed.case.as_str()).take(FAILED).collect();
            let more = if failed.len() > FAILED { ", …" } else { "" };
            let cases = cases.join(", ");
            (!cases.is_empty()).then(|| {
                format!("{}: {owner} of the new version fails {cases}{more} of the old one", change.row)
            })
        };
        self.changes.iter().filter_map(of_change).collect()
    }

    fn touched_texts(&self) -> Vec<String> {
        let mutants: Vec<&String> = self.changes.iter().flat_map(|change| &change.mutants).collect();
        let lists: [(&str, Vec<&String>); 5] = [
            ("added cases", self.added_cases.iter().collect()),
            ("removed cases", self.removed_cases.iter().collect()),
            ("cases of the changed rows", self.touched.cases.iter().collect()),
            ("files of a snapshot", self.touched.snapshots.iter().collect()),
            ("mutants of the changed rows", mutants),
        ];
        let named = lists.iter().filter(|(_, ids)| !ids.is_empty());
        let mut texts: Vec<String> = named.map(|(name, ids)| format!("{name}: {}", listed(ids))).collect();
        let is_words = |change: &&RowComparison| {
            !change.fields.is_empty() && change.fields.iter().all(|field| field.field == "condition")
        };
        let worded = self.changes.iter().filter(is_words).count();
        let all = counted(self.changes.len(), "changed row");
        let sections = self.sections.iter().map(changed);
        texts.extend(
            sections.map(|change| format!("section {}: {} → {}", change.name, change.old, change.new)),
        );
        texts.extend(
            self.touched.no_snapshot.iter().map(|why| format!("files of a snapshot: none, because {why}")),
        );
        texts.push(format!("rows of which only the words changed: {worded} of {all}"));
        texts
    }
}

impl RowComparison {
    /// The class of an owner's part.
    fn class_of(&self, owner: DutyOwner) -> Option<&PartClass> {
        self.parts.iter().find(|class| Some(class.part) == owner.part())
    }
}

fn accepted(change: &AcceptedChange) -> String {
    let AcceptedChange { row, reason, line, stale } = change;
    if *stale {
        return format!("stale: line {line}: {row} is accepted and did not change: remove its line");
    }
    format!("accepted: {row}: {reason}")
}

fn row(change: &RowComparison) -> ChangedRow {
    let old = change.old_wire.iter().cloned().map(WireLine::Old);
    let wire: Vec<WireLine> = old.chain(change.new_wire.iter().cloned().map(WireLine::New)).collect();
    let is_same = change.old_wire == change.new_wire;
    ChangedRow {
        id: change.row.clone(),
        kind: change.kind,
        was: change.old_row.clone(),
        condition: change.condition.clone(),
        parts: change.parts.iter().map(part).collect(),
        target: change.target.map(super::TargetSide::words),
        fields: change.fields.iter().map(changed).collect(),
        wire: if is_same { Vec::new() } else { wire },
        mutants: change.mutants.clone(),
    }
}

fn part(class: &PartClass) -> ChangedPart {
    ChangedPart { part: class.part.name(), class: class.class, because: because(class) }
}

fn because(part: &PartClass) -> String {
    if let Some(why) = &part.not_played {
        return why.clone();
    }
    let note = part.note.as_deref();
    let with_note = |text: String| note.map_or(text.clone(), |note| format!("{text}; {note}"));
    match part.class {
        Class::Breaking => {
            let mut failed: Vec<&str> =
                part.failed.iter().take(FAILED).map(|failed| failed.case.as_str()).collect();
            failed.extend((part.failed.len() > failed.len()).then_some("…"));
            let all = counted(part.failed.len() + part.passed.len(), "case");
            with_note(format!("{} of {all}: {}", part.failed.len(), failed.join(", ")))
        }
        Class::Compatible if part.warned > 0 => {
            with_note(format!("{} passed, {} warned", part.passed.len() - part.warned, part.warned))
        }
        Class::Compatible => with_note(format!("{} passed", counted(part.passed.len(), "case"))),
        Class::Untested if part.removed => "the new version has nothing to play".to_owned(),
        Class::Untested => note.unwrap_or("no case of the new version plays it").to_owned(),
    }
}

fn listed(ids: &[&String]) -> String {
    let shown: Vec<&str> = ids.iter().take(LISTED).map(|id| id.as_str()).collect();
    let more = ids.len() - shown.len();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

fn version(name: &VersionName) -> ReportedSpec {
    ReportedSpec { version: name.version.clone(), digest: name.digest.clone() }
}

fn changed(change: &FieldChange) -> ChangedValue {
    let text = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ChangedValue { name: change.field.clone(), old: text(&change.old), new: text(&change.new) }
}
