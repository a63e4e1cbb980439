use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{Row, Spec};
use edgeproof_reports::{Outcome, Report};

/// What runs have shown about the rows: the cases of their reports, by row.
pub(super) struct Evidence {
    reports: usize,
    by_row: BTreeMap<String, Vec<PlayedCase>>,
}

/// A case of a report.
#[derive(Clone)]
struct PlayedCase {
    id: String,
    outcome: Outcome,
    because: String,
}

/// What runs have shown about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowState {
    /// A case passed, and none failed or warned.
    Proven,
    /// A case failed, also a known one.
    Failed,
    /// A case warned, and none failed.
    Warned,
    /// An open row, which no run judges.
    Observed,
    /// The row has no case, and says why.
    Excluded,
    /// No case of the row ran.
    Untested,
}

impl RowState {
    /// All states, in the order of their columns.
    pub(super) const ALL: [Self; 6] =
        [Self::Proven, Self::Failed, Self::Warned, Self::Observed, Self::Excluded, Self::Untested];

    /// Its name in text.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Failed => "failed",
            Self::Warned => "warned",
            Self::Observed => "observed",
            Self::Excluded => "excluded",
            Self::Untested => "untested",
        }
    }
}

/// The state of a row, and why: the failed cases, or what kept cases from running. Empty for a proven row.
pub(super) struct RowResult {
    pub(super) state: RowState,
    pub(super) why: Vec<String>,
}

impl Evidence {
    /// Reads JSON reports about this interface.
    pub(super) fn read(paths: &[PathBuf], spec: &Spec) -> Result<Self, Failure> {
        let mut by_row: BTreeMap<String, Vec<PlayedCase>> = BTreeMap::new();
        let mut read = BTreeSet::new();
        for path in paths {
            if path.canonicalize().is_ok_and(|path| !read.insert(path)) {
                let what = format!("cannot add the report {} twice", path.display());
                return Err(Failure::usage(what, "give each report once"));
            }
            let advice = "give a JSON report that `--report json=PATH` wrote";
            let report = Report::load(path).map_err(|why| Failure::of(&why, advice))?;
            if report.spec.digest != spec.digest() {
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
            for case in report.cases {
                let played = PlayedCase { id: case.id, outcome: case.outcome, because: case.because };
                for row in case.rows {
                    by_row.entry(row).or_default().push(played.clone());
                }
            }
        }
        Ok(Self { reports: paths.len(), by_row })
    }

    /// Number of reports.
    pub(super) fn reports(&self) -> usize {
        self.reports
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
