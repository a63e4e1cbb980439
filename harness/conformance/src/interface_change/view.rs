use edgeproof_fixtures::spec::PartName;
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
            owners: PartName::ALL
                .iter()
                .map(|part| self.of_part(*part))
                .chain(DutyOwner::VARIANTS.iter().map(|owner| self.of_owner(*owner)))
                .filter(|owner| !owner.items.is_empty())
                .fold(Vec::new(), merged),
            touched: self.touched_texts(),
            not_run: self.not_run_texts.iter().chain(&self.target_failure).cloned().collect(),
            notes: self.accepted.iter().map(accepted).collect(),
        }
    }

    /// What the owner of a part has to do, and what an old counterpart notices.
    fn of_part(&self, part: PartName) -> OwnerItems {
        let all =
            self.changes.iter().flat_map(|change| change.parts.iter().map(move |class| (change, class)));
        let of_part: Vec<(&RowComparison, &PartClass)> =
            all.filter(|(_, class)| class.part == part).collect();
        let mut items = Vec::new();
        for (change, class) in of_part.iter().filter(|(_, class)| class.class == Class::Breaking) {
            let Some(failed) = class.failed.first() else { continue };
            items.push(format!("{}: {}", change.row, change.condition));
            // What helps a part that is wrong helps none that was right before.
            items.push(format!("expected {}, the old part: {}", failed.expected, failed.actual));
        }
        for (change, class) in of_part.iter().filter(|(_, class)| !class.noticed.is_empty()) {
            let cases: Vec<&str> =
                class.noticed.iter().map(|failed| failed.case.as_str()).take(FAILED).collect();
            items.push(format!(
                "{}: cases of the old version fail at the new part ({})",
                change.row,
                cases.join(", ")
            ));
        }
        OwnerItems { heading: format!("what the owner of {} does", part.described()), items }
    }

    fn of_owner(&self, owner: DutyOwner) -> OwnerItems {
        let duties =
            self.changes.iter().flat_map(|change| change.duties.iter().map(move |duty| (change, duty)));
        let items = duties
            .filter(|(_, duty)| duty.owner == owner)
            .map(|(change, duty)| format!("{}: {}", change.row, duty.text))
            .collect();
        OwnerItems { heading: format!("what the owner of {owner} does"), items }
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
        let answers = self.changes.iter().filter(|change| change.old_wire != change.new_wire).count();
        let all = counted(self.changes.len(), "changed row");
        let sections = self.sections.iter().map(changed);
        texts.extend(
            sections.map(|change| format!("section {}: {} → {}", change.name, change.old, change.new)),
        );
        texts.extend(
            self.touched.no_snapshot.iter().map(|why| format!("files of a snapshot: none, because {why}")),
        );
        texts.push(format!("rows with another fact: {answers} of {all}"));
        texts
    }
}

/// Adds the items of an owner to those under the same heading.
fn merged(mut all: Vec<OwnerItems>, owner: OwnerItems) -> Vec<OwnerItems> {
    match all.iter_mut().find(|other| other.heading == owner.heading) {
        Some(other) => other.items.extend(owner.items),
        None => all.push(owner),
    }
    all
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
