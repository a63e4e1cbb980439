use crate::case_glob::case_glob;
use crate::cases::CaseFacts;
use crate::nearest::{nearest, similar_text};
use edgeproof_reports::ReleaseVersion;
use globset::GlobMatcher;

/// Advice on an invalid glob.
pub(in crate::run) const GLOB_ADVICE: &str =
    "write a shell glob: * matches any text, ? one character, {a,b} either word";

/// The cases that a user selected.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Globs of case ids to run; empty: all.
    pub filter: Vec<String>,
    /// Globs of case ids to leave out.
    pub exclude: Vec<String>,
    /// Exact ids to run, from an earlier report.
    pub only: Option<Vec<String>>,
    /// Version of edgeproof whose cases to run; none: all.
    pub cases_of: Option<ReleaseVersion>,
}

/// A selection that is invalid or selects nothing.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum SelectionError {
    /// Not a glob.
    #[error("cannot apply {option} {glob:?}: the glob is invalid: {}", why.kind())]
    #[diagnostic(help("{GLOB_ADVICE}"))]
    Glob {
        /// Option that holds the glob.
        option: &'static str,
        /// The glob.
        glob: String,
        /// The parser's error.
        why: globset::Error,
    },
    /// A glob that matches no case.
    #[error("cannot apply {option} {glob:?}: no case id matches{}", similar_text(similar))]
    #[diagnostic(help("`edgeproof conformance {target} --list` lists all ids"))]
    NoMatch {
        /// Option that holds the glob.
        option: &'static str,
        /// The glob.
        glob: String,
        /// Near patterns that match.
        similar: Vec<String>,
        /// Name of the target on the command line.
        target: &'static str,
    },
    /// All options together select no case.
    #[error("cannot plan the run: the filters select no case")]
    #[diagnostic(help("loosen --filter or --exclude"))]
    Nothing,
    /// All options together select no case of the earlier report.
    #[error("cannot plan the run: the options select no case that has to be played again")]
    #[diagnostic(help(
        "the earlier report may be about another part; loosen --filter or --exclude, or omit --failed or --rerun-failed"
    ))]
    NothingAgain,
    /// All options together select no case of an earlier version.
    #[error("cannot plan the run: the filters select no case of edgeproof {0}")]
    #[diagnostic(help("loosen --filter or --exclude, or omit --cases-of"))]
    NothingOf(ReleaseVersion),
}

/// A valid selection, compiled.
pub(in crate::run) struct Selected<'s> {
    filter: Vec<GlobMatcher>,
    exclude: Vec<GlobMatcher>,
    only: Option<&'s [String]>,
    cases_of: Option<ReleaseVersion>,
}

impl Selection {
    /// Compiles the globs. Each has to match one of `ids`. `target`: its name on the command line.
    pub(in crate::run) fn compile(
        &self,
        ids: &[String],
        target: &'static str,
    ) -> Result<Selected<'_>, SelectionError> {
        Ok(Selected {
            filter: matchers("--filter", &self.filter, ids, target)?,
            exclude: matchers("--exclude", &self.exclude, ids, target)?,
            only: self.only.as_deref(),
            cases_of: self.cases_of,
        })
    }
}

impl Selected<'_> {
    /// Whether a case is selected. Every version plays the cases of the user's own.
    pub(in crate::run) fn contains(&self, case: &CaseFacts) -> bool {
        let any = |globs: &[GlobMatcher]| globs.iter().any(|glob| glob.is_match(&case.id));
        let listed = self.only.is_none_or(|only| only.contains(&case.id));
        let is_of_version =
            case.since.is_none_or(|since| self.cases_of.is_none_or(|version| since <= version));
        listed && is_of_version && (self.filter.is_empty() || any(&self.filter)) && !any(&self.exclude)
    }
}

fn matchers(
    option: &'static str,
    globs: &[String],
    ids: &[String],
    target: &'static str,
) -> Result<Vec<GlobMatcher>, SelectionError> {
    let compile = |text: &String| {
        let glob = case_glob(text).map_err(|why| SelectionError::Glob { option, glob: text.clone(), why })?;
        if !ids.iter().any(|id| glob.is_match(id)) {
            let similar = nearest(text, ids.iter().map(String::as_str));
            return Err(SelectionError::NoMatch { option, glob: text.clone(), similar, target });
        }
        Ok(glob)
    };
    globs.iter().map(compile).collect()
}
