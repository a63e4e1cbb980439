use std::path::{Path, PathBuf};

use edgeproof_reports::{CaseReport, Outcome};
use globset::{GlobBuilder, GlobMatcher};
use miette::{NamedSource, SourceSpan};

/// Known failures: a glob of case ids with a reason, one a line.
#[derive(Debug, Default)]
pub struct Baseline {
    path: PathBuf,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    number: usize,
    text: String,
    matcher: GlobMatcher,
    reason: String,
}

/// A baseline that cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("read the baseline {}: {why}", path.display())]
    #[diagnostic(help("--baseline takes a text file with a glob of case ids and a reason on each line"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// A line of it is wrong.
    #[error("read the baseline: {why}")]
    #[diagnostic(help(
        "write a glob of case ids, a space, and why that is known to fail; comments begin with #"
    ))]
    Line {
        /// What is wrong.
        why: String,
        /// The file.
        #[source_code]
        source_code: NamedSource<String>,
        /// The line.
        #[label("here")]
        at: SourceSpan,
    },
}

impl Baseline {
    /// Reads the file: whole, or not at all.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| BaselineError::Unreadable { path: path.into(), why })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, BaselineError> {
        let mut lines = Vec::new();
        let mut offset = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let at = offset;
            offset += line.len();
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why: String| BaselineError::Line {
                why,
                source_code: NamedSource::new(path.display().to_string(), text.to_owned()),
                at: (at, line.len()).into(),
            };
            let (glob, reason) = line
                .split_once(char::is_whitespace)
                .ok_or_else(|| wrong("a line without a reason".into()))?;
            let matcher = glob_of(glob).map_err(|why| wrong(format!("{glob:?} is not a glob ({why})")))?;
            lines.push(Line { number: index + 1, text: line.into(), matcher, reason: reason.trim().into() });
        }
        Ok(Self { path: path.into(), lines })
    }

    /// Turns what is listed from broken into known, and returns what is stale: lines that match no case of the whole
    /// plan, or none that is broken.
    ///
    /// `ids`: all ids of the plan before filters. Cases that were filtered out, or could not run, make no line stale.
    pub fn apply(&self, ids: &[String], strict: bool, reports: &mut [CaseReport]) -> Vec<String> {
        let covered = |outcome: Outcome| outcome == Outcome::Fail || (strict && outcome == Outcome::Warn);
        let mut stale = Vec::new();
        for line in &self.lines {
            let place = format!("{}:{}: `{}`", self.path.display(), line.number, line.text);
            if !ids.iter().any(|id| line.matcher.is_match(id)) {
                stale.push(format!("stale baseline line, no case has such an id; remove it: {place}"));
                continue;
            }
            let matched: Vec<_> =
                reports.iter_mut().filter(|report| line.matcher.is_match(&report.id)).collect();
            let settled =
                |outcome: Outcome| matches!(outcome, Outcome::Pass | Outcome::Observed | Outcome::Warn);
            if !matched.is_empty()
                && matched.iter().all(|report| settled(report.outcome) && !covered(report.outcome))
            {
                stale.push(format!("stale baseline line, what it lists does not fail; remove it: {place}"));
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

/// A glob of case ids, in which `*` goes across dots.
pub(crate) fn glob_of(text: &str) -> Result<GlobMatcher, globset::Error> {
    GlobBuilder::new(text).literal_separator(false).build().map(|glob| glob.compile_matcher())
}
