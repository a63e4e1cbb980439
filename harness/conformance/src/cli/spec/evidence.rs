use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{Row, Spec, Version};
use edgeproof_reports::interface::{CoveredReport, EvidenceCounts, RowState};
use edgeproof_reports::{Outcome, Report, ReportedSpec};

use crate::cli::part_names::PartNames;

/// What runs have shown about the rows: the cases of their reports, by row.
pub(super) struct Evidence {
    reports: Vec<CoveredReport>,
    by_row: BTreeMap<String, Vec<PlayedCase>>,
}

/// A case of a report.
#[derive(Clone)]
struct PlayedCase {
    id: String,
    outcome: Outcome,
    because: String,
    varied: u64,
    /// Position of its report.
    report: usize,
}

/// The state of a row, and why: the failed cases, or what kept cases from running. Empty for a proven row.
pub(super) struct RowResult {
    pub(super) state: RowState,
    pub(super) why: Vec<String>,
}

impl Evidence {
    /// Reads JSON reports about this interface. `of_releases`: also those of another edgeproof, with other tables of the same
    /// built-in version.
    pub(super) fn read(paths: &[PathBuf], spec: &Spec, of_releases: bool) -> Result<Self, Failure> {
        let part_names = PartNames::of(spec);
        let own = ReportedSpec { version: spec.version().to_owned(), digest: spec.digest().to_owned() };
        let mut by_row: BTreeMap<String, Vec<PlayedCase>> = BTreeMap::new();
        let mut read: Vec<(&PathBuf, Report)> = Vec::new();
        for path in paths {
            let advice = "give a JSON report that `--report json=PATH` wrote";
            let report = Report::load(path).map_err(|why| Failure::of(&why, advice))?;
            if let Some((first, _)) = read.iter().find(|(_, known)| *known == report) {
                let copy = if *first == path { "" } else { ": another path has the same run" };
                let what = format!("cannot add the report {} twice{copy}", path.display());
                return Err(Failure::usage(what, "give each report once"));
            }
            let is_of_release = || of_releases && is_built_in(spec) && report.spec.is_comparable(&own);
            if report.spec.digest != spec.digest() && !is_of_release() {
                return Err(Failure::usage(
                    format!(
                        "cannot add the report {}: it is about the interface {}, not {} {}",
                        path.display(),
                        report.spec,
                        spec.version(),
                        spec.digest()
                    ),
                    "name the interface of the report with --spec, or run again with this one",
                ));
            }
            read.push((path, report));
        }
        for (number, (_, report)) in read.iter().enumerate() {
            for case in &report.cases {
                let played = PlayedCase {
                    id: case.id.clone(),
                    outcome: case.outcome,
                    because: case.because.clone(),
                    varied: case.varied,
                    report: number,
                };
                for row in &case.rows {
                    by_row.entry(row.clone()).or_default().push(played.clone());
                }
            }
        }
        let reports = read.iter().map(|(_, report)| CoveredReport {
            part: part_names.of_report(report),
            target: report.target.to_string(),
            started: report.started.clone(),
            tool: report.tool.version.clone(),
            summary: report.summary.line(),
            other_tables: (report.spec.digest != own.digest).then(|| report.spec.short_digest().to_owned()),
        });
        Ok(Self { reports: reports.collect(), by_row })
    }

    /// The reports.
    pub(super) fn reports(&self) -> &[CoveredReport] {
        &self.reports
    }

    /// The cases of rows that ran, and their varied exchanges. A case of several rows counts once; mutants are not counted.
    pub(super) fn counts(&self, rows: &[&Row]) -> EvidenceCounts {
        let ran = rows.iter().flat_map(|row| self.cases(row)).filter(|case| case.ran());
        let plays: BTreeMap<(&str, usize), u64> =
            ran.map(|case| ((case.id.as_str(), case.report), case.varied)).collect();
        let ids: BTreeSet<&str> = plays.keys().map(|(id, _)| *id).collect();
        EvidenceCounts { cases: ids.len(), varied: plays.values().sum(), ..EvidenceCounts::default() }
    }

    /// The outcomes of a case among the cases of a row, one for each report that has it.
    pub(super) fn outcomes<'a>(&'a self, row: &Row, case: &'a str) -> impl Iterator<Item = Outcome> + 'a {
        self.cases(row).iter().filter(move |seen| seen.id == case).map(|seen| seen.outcome)
    }

    /// What the reports show about a row.
    pub(super) fn result(&self, row: &Row) -> RowResult {
        let cases = self.cases(row);
        let having = |outcomes: &[Outcome]| -> Vec<&PlayedCase> {
            cases.iter().filter(|case| outcomes.contains(&case.outcome)).collect()
        };
        let named = |cases: Vec<&PlayedCase>| -> Vec<String> {
            distinct(cases.iter().map(|case| format!("{}: {}", case.id, case.because)))
        };
        let failed = having(&[Outcome::Fail, Outcome::Known]);
        if !failed.is_empty() {
            return RowResult { state: RowState::Failed, why: named(failed) };
        }
        let warned = having(&[Outcome::Warn]);
        if !warned.is_empty() {
            return RowResult { state: RowState::Warned, why: named(warned) };
        }
        for (outcome, state) in [(Outcome::Pass, RowState::Proven), (Outcome::Observed, RowState::Observed)] {
            if !having(&[outcome]).is_empty() {
                return RowResult { state, why: Vec::new() };
            }
        }
        if let Some(why) = &row.excluded {
            return RowResult { state: RowState::Excluded, why: vec![why.clone()] };
        }
        let mut why =
            distinct(cases.iter().map(|case| format!("{}: {}", case.outcome.label(), case.because)));
        if why.is_empty() {
            why.push("no report has a case of this row".to_owned());
        }
        RowResult { state: RowState::Untested, why }
    }

    fn cases(&self, row: &Row) -> &[PlayedCase] {
        self.by_row.get(&row.id).map_or(&[], Vec::as_slice)
    }
}

impl PlayedCase {
    fn ran(&self) -> bool {
        !matches!(self.outcome, Outcome::NotRun | Outcome::NotApplicable)
    }
}

/// Whether the tables are those of this edgeproof. Edited tables may have the name of a built-in version.
fn is_built_in(spec: &Spec) -> bool {
    let mut versions = Version::ALL.iter().filter(|version| version.name() == spec.version());
    versions.any(|version| Spec::builtin(*version).digest() == spec.digest())
}

/// The texts without repetitions.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for text in texts {
        if !known.contains(&text) {
            known.push(text);
        }
    }
    known
}
