use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgeproof_reports::{CaseReport, Outcome};
use globset::GlobMatcher;
use miette::{NamedSource, SourceSpan};

use super::baseline_lines::UNFINISHED;
use super::selection::GLOB_ADVICE;
use crate::case_glob::case_glob;
use crate::nearest::{nearest, similar_text};

/// Advice on a line without a reason.
const REASON_ADVICE: &str = "write a reason after the pattern; # begins a comment";

/// Known failures: a glob of case ids and a reason on each line.
#[derive(Debug, Default)]
pub struct Baseline {
    path: PathBuf,
    lines: Vec<BaselineLine>,
}

#[derive(Debug)]
struct BaselineLine {
    number: usize,
    text: String,
    matcher: GlobMatcher,
    reason: String,
}

/// A baseline that is unreadable or invalid.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("cannot read baseline {}: {why}", path.display())]
    #[diagnostic(help("--baseline takes a text file with a glob of case ids and a reason on each line"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        why: std::io::Error,
    },
    /// A line is invalid.
    #[error("cannot read baseline {problem}")]
    #[diagnostic(help("{advice}"))]
    Line {
        /// File, number of the line, and what is wrong with it.
        problem: String,
        /// What to do.
        advice: &'static str,
        /// Text of the file.
        #[source_code]
        source_code: Arc<NamedSource<String>>,
        /// Position of the line.
        #[label("this line")]
        at: SourceSpan,
    },
}

impl Baseline {
    /// Reads a baseline file.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| BaselineError::Unreadable { path: path.into(), why })?;
        Self::parse(path, &text)
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, BaselineError> {
        let mut lines = Vec::new();
        let mut offset = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let at = offset + line.len() - line.trim_start().len();
            offset += line.len();
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let number = index + 1;
            let invalid = |why: String, advice| BaselineError::Line {
                problem: format!("{} line {number}: {why}", path.display()),
                advice,
                source_code: Arc::new(NamedSource::new(path.display().to_string(), text.to_owned())),
                at: (at, line.len()).into(),
            };
            let (glob, reason) = line
                .split_once(char::is_whitespace)
                .ok_or_else(|| invalid(format!("{line:?} has no reason"), REASON_ADVICE))?;
            let matcher = case_glob(glob)
                .map_err(|why| invalid(format!("{glob:?} is not a glob: {}", why.kind()), GLOB_ADVICE))?;
            lines.push(BaselineLine { number, text: line.into(), matcher, reason: reason.trim().into() });
        }
        Ok(Self { path: path.into(), lines })
    }

    /// How many reasons nobody completed since `--write-baseline`. They are accepted, so that a first baseline makes a run
    /// pass; the run says so as long as there is one.
    pub(in crate::run) fn unfinished(&self) -> Option<String> {
        let unfinished = self.lines.iter().filter(|line| line.reason.starts_with(UNFINISHED));
        let (first, count) = (unfinished.clone().next()?, unfinished.count());
        let lines = edgeproof_reports::counted(count, "line");
        let begins = if count == 1 { "begins" } else { "begin" };
        let place = format!("{}:{}", self.path.display(), first.number);
        Some(format!(
            "the reasons of {lines} in the baseline still {begins} with {UNFINISHED}; complete them, from {place}"
        ))
    }

    /// Whether a line names this case.
    pub(in crate::run) fn names(&self, id: &str) -> bool {
        self.lines.iter().any(|line| line.matcher.is_match(id))
    }

    /// Marks listed failures as known. Returns a message for each stale line: one that matches no case id of the plan,
    /// or cases that all pass.
    ///
    /// `ids`: all ids of the plan before filters. Cases that were filtered out or did not run make no line stale.
    pub(in crate::run) fn apply(
        &self,
        ids: &[String],
        strict: bool,
        reports: &mut [CaseReport],
    ) -> Vec<String> {
        let covered = |outcome: Outcome| outcome == Outcome::Fail || (strict && outcome == Outcome::Warn);
        let mut stale = Vec::new();
        for line in &self.lines {
            let place = format!("{}:{}: `{}`", self.path.display(), line.number, line.text);
            if !ids.iter().any(|id| line.matcher.is_match(id)) {
                let glob = line.text.split_whitespace().next().unwrap_or_default();
                let similar = similar_text(&nearest(glob, ids.iter().map(String::as_str)));
                stale.push(format!("stale baseline line, no case id matches{similar}; remove it: {place}"));
                continue;
            }
            let matched: Vec<_> =
                reports.iter_mut().filter(|report| line.matcher.is_match(&report.id)).collect();
            // A case that warns fails with --strict.
            let passed =
                |report: &&mut CaseReport| matches!(report.outcome, Outcome::Pass | Outcome::Observed);
            if !matched.is_empty() && matched.iter().all(passed) {
                stale.push(format!("stale baseline line, its cases do not fail; remove it: {place}"));
            }
            for report in matched {
                if covered(report.outcome) {
                    report.because = format!("known: {} ({})", line.reason, report.because);
                    report.outcome = Outcome::Known;
                }
            }
        }
        stale
    }
}
