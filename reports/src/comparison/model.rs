use serde::{Deserialize, Serialize};

use super::case_change::CaseChange;
use crate::document;
use crate::model::{CaseLevel, Outcome, ReleaseVersion, ReportedSpec, ReportedTarget, Tool};

/// Value of the field `schema` in every comparison.
pub(super) const SCHEMA: &str = "edgeproof.report-diff/1";

/// Two runs, case by case. Scripts depend on these fields: add fields, never remove one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunComparison {
    /// Always `edgeproof.report-diff/1`.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Interface of both runs; that of the new one if the tables differ.
    pub spec: ReportedSpec,
    /// Interface of the old run, if its tables differ: another edgeproof has them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old_spec: Option<ReportedSpec>,
    /// The old run.
    pub old: ComparedRun,
    /// The new run.
    pub new: ComparedRun,
    /// Number of cases of each change.
    pub summary: ComparisonSummary,
    /// The changed cases by change, each change in the order of the plan.
    pub cases: Vec<ComparedCase>,
    /// Open points at which the target behaves otherwise.
    pub observations: Vec<ChangedObservation>,
}

/// One of the compared runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Name of its report.
    pub report: String,
    /// Program that made it.
    pub tool: Tool,
    /// Target of the run.
    pub target: ReportedTarget,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// Exit code of the run.
    pub exit_code: u8,
    /// Number of its cases.
    pub planned: usize,
}

/// Number of cases of each change, and of changed observations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "each field is the number of cases of the change of that name")]
pub struct ComparisonSummary {
    pub newly_broken: usize,
    pub newly_warned: usize,
    pub newly_known: usize,
    pub new_check: usize,
    pub first_result: usize,
    pub newly_fixed: usize,
    pub still_broken: usize,
    pub lost_result: usize,
    pub removed_check: usize,
    pub changed_observation: usize,
    /// Of `new_check`, those that fail.
    #[serde(default)]
    pub failing_new_check: usize,
    /// Of `first_result`, those that fail.
    #[serde(default)]
    pub failing_first_result: usize,
}

/// A case whose result differs, or that failed in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedCase {
    /// Id of the case.
    pub id: String,
    /// Tested behaviour in one line.
    pub title: String,
    /// Weight of the case.
    pub level: CaseLevel,
    /// Ids of the rows that the case proves.
    pub rows: Vec<String>,
    /// What happened to it.
    pub change: CaseChange,
    /// Version of edgeproof that added the case.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub since: Option<ReleaseVersion>,
    /// Result in the old run, if the case is in its report.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old: Option<Outcome>,
    /// Result in the new run, if the case is in its report.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub new: Option<Outcome>,
    /// Reason for the new result, or why edgeproof no longer has the case.
    pub because: String,
    /// Id of the cause that explains its failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
}

/// An open point at which the target behaves otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangedObservation {
    /// The open point.
    pub point: String,
    /// What was observed in the old run.
    pub old: Vec<String>,
    /// What was observed in the new run.
    pub new: Vec<String>,
}

impl RunComparison {
    /// Whether a case is newly broken.
    pub fn is_worse(&self) -> bool {
        self.summary.newly_broken > 0
    }

    /// Indented JSON with a final line feed.
    pub fn to_json(&self) -> String {
        document::to_json(self)
    }

    /// That the tables differ, and their digests. None: both runs have the same tables.
    pub(crate) fn other_tables(&self) -> Option<String> {
        let old = self.old_spec.as_ref()?;
        Some(format!(
            "the tables of {} differ: digest {} in the old run, {} in the new one",
            self.spec.version,
            old.short_digest(),
            self.spec.short_digest()
        ))
    }

    /// The changed cases under their headings, which begin as `CaseChange::heading` does. A failing new check has a heading
    /// of its own: the target did not break it.
    pub(super) fn lists(&self, old: &str, version: &str) -> Vec<(String, Vec<&ComparedCase>)> {
        let mut lists = Vec::new();
        for change in CaseChange::ALL {
            let heading = change.heading(old, version);
            let (failing, others): (Vec<_>, Vec<_>) = self
                .of(*change)
                .partition(|case| change.is_new_to_the_reports() && case.new == Some(Outcome::Fail));
            lists.push((format!("failing {heading}"), failing));
            lists.push((heading, others));
        }
        lists.retain(|(_, cases)| !cases.is_empty());
        lists
    }

    /// The cases of a change.
    pub fn of(&self, change: CaseChange) -> impl Iterator<Item = &ComparedCase> {
        self.cases.iter().filter(move |case| case.change == change)
    }

    /// All counts in one line.
    pub(super) fn line(&self) -> String {
        self.counts(CaseChange::ALL)
    }

    /// Counts of these changes in one line, without zeros: `2 newly broken · 1 newly fixed`.
    pub(crate) fn counts(&self, changes: &[CaseChange]) -> String {
        let counts = changes.iter().map(|change| (*change, self.summary.get(*change)));
        let mut parts: Vec<String> = counts
            .filter(|(_, count)| *count > 0)
            .map(|(change, count)| self.counted(change, count))
            .collect();
        match self.summary.changed_observation {
            0 => {}
            1 => parts.push("1 changed observation".to_owned()),
            count => parts.push(format!("{count} changed observations")),
        }
        if parts.is_empty() { "no difference".to_owned() } else { parts.join(" · ") }
    }

    fn counted(&self, change: CaseChange, count: usize) -> String {
        let text = change.counted(count);
        match self.summary.failing(change) {
            0 => text,
            1 => format!("{text} (1 fails)"),
            failing => format!("{text} ({failing} fail)"),
        }
    }
}

impl ComparisonSummary {
    /// Number of cases of a change.
    pub fn get(&self, change: CaseChange) -> usize {
        let mut copy = *self;
        *copy.of_change(change)
    }

    /// Counts a case. `new`: its result in the new run.
    pub(super) fn count(&mut self, change: CaseChange, new: Option<Outcome>) {
        *self.of_change(change) += 1;
        match change {
            CaseChange::NewCheck if new == Some(Outcome::Fail) => self.failing_new_check += 1,
            CaseChange::FirstResult if new == Some(Outcome::Fail) => self.failing_first_result += 1,
            _ => {}
        }
    }

    /// Failing cases among those that the old run says nothing about.
    fn failing(&self, change: CaseChange) -> usize {
        match change {
            CaseChange::NewCheck => self.failing_new_check,
            CaseChange::FirstResult => self.failing_first_result,
            _ => 0,
        }
    }

    fn of_change(&mut self, change: CaseChange) -> &mut usize {
        match change {
            CaseChange::NewlyBroken => &mut self.newly_broken,
            CaseChange::NewlyWarned => &mut self.newly_warned,
            CaseChange::NewlyKnown => &mut self.newly_known,
            CaseChange::NewCheck => &mut self.new_check,
            CaseChange::FirstResult => &mut self.first_result,
            CaseChange::NewlyFixed => &mut self.newly_fixed,
            CaseChange::StillBroken => &mut self.still_broken,
            CaseChange::LostResult => &mut self.lost_result,
            CaseChange::RemovedCheck => &mut self.removed_check,
        }
    }
}
