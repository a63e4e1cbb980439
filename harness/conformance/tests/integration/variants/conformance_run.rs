//! A conformance run against one edge.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{self, Catalog, Setup};
use edgeproof::run::{ConformanceRun, EdgePool, EdgePoolOptions, RunOptions, RunPolicy, Selection};
use edgeproof_cli::{OPEN_FILES, raise_open_files};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions};
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::Outcome;
use edgeproof_targets::Target;

/// Credentials of all runs.
pub(crate) struct RunCredentials {
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) files: CredentialFiles,
}

/// Cases of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseSelection {
    /// The cases that explore variation, and the monitors of what they send.
    Explored,
    /// All cases of `--quick`.
    All,
    /// Cases with the standard setup that need no real time: most cases, at a third of the cost.
    StandardSetup,
    /// Cases of edges that a program may refuse to start: the service is unreachable, or LICENSE is unset.
    Starts,
}

/// Sorted ids of the mismatches that begin with this text.
pub(crate) fn ids<'m>(mismatches: &'m [String], beginning: &str) -> Vec<&'m str> {
    let lines = mismatches.iter().filter_map(|line| line.strip_prefix(beginning));
    let mut ids: Vec<&str> = lines.filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    ids.sort_unstable();
    ids
}

impl RunCredentials {
    pub(crate) fn new() -> Self {
        let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
        let files = CredentialFiles::write(&credentials).unwrap();
        Self { credentials, files }
    }
}

/// One line for each failed, warned or not-run case, and for each finding of the run.
pub(crate) async fn mismatches(
    spec: &Arc<Spec>,
    credentials: &RunCredentials,
    target: Target,
    cases: CaseSelection,
    name: &str,
) -> Vec<String> {
    raise_open_files(OPEN_FILES);
    let shape = ReplyShape::from_profile(spec.profile());
    let explores = cases == CaseSelection::Explored;
    let quick = cases::edge(Catalog::new(spec, &shape, false));
    let is_quick: HashSet<String> = quick.iter().map(|case| case.id.clone()).collect();
    let mut selected =
        if explores { cases::edge(Catalog::new(spec, &shape, false).explore(true)) } else { quick };
    selected.retain(|case| match cases {
        CaseSelection::Explored => !is_quick.contains(&case.id) || case.id.starts_with("monitor."),
        CaseSelection::All => true,
        CaseSelection::StandardSetup => case.settings.setup == Setup::Standard && case.takes.is_zero(),
        CaseSelection::Starts => {
            matches!(case.settings.setup, Setup::NameUnresolved | Setup::PortClosed | Setup::NoLicense)
        }
    });
    let files = credentials.files.clone();
    let edges = EdgePoolOptions {
        max_exclusive: 2,
        ..EdgePoolOptions::new(Arc::clone(spec), target, Arc::clone(&credentials.credentials), files)
    };
    let run = ConformanceRun::new(selected, &Selection::default(), EdgePool::new(edges)).unwrap();
    let options = RunOptions { case_timeout: Duration::from_secs(60), ..RunOptions::default() };
    let policy = RunPolicy { strict: true, ..RunPolicy::default() };
    let result = ConformanceRun { options, policy, ..run }.execute().await.unwrap();
    let failed = result
        .cases
        .iter()
        .filter(|case| matches!(case.outcome, Outcome::Fail | Outcome::Warn | Outcome::NotRun));
    let mut found: Vec<String> =
        failed.map(|case| format!("{name} {:?} {}: {}", case.outcome, case.id, case.because)).collect();
    found.extend(result.findings.iter().map(|text| format!("{name} {text}")));
    if result.exit_code != 0 && found.is_empty() {
        found.push(format!("{name} exit code {}", result.exit_code));
    }
    found
}
