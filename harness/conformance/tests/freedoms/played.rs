//! A whole run on one edge.

use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{self, Catalog};
use edgeproof::run::{ConformanceRun, EdgePoolOptions, RunOptions, RunPolicy, Selection};
use edgeproof::target::{Setup, Target};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions};
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::Outcome;

/// What all runs share.
pub(crate) struct Ground {
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) files: CredentialFiles,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
        let files = CredentialFiles::write(&credentials).unwrap();
        Self { credentials, files }
    }
}

/// Which cases are played.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cases {
    /// All.
    All,
    /// Those for the edge with the usual settings that take no time: most of them, at a third of the cost.
    OneEdge,
}

/// What a conforming edge was blamed for: a line for each case that is not as it should be, and each finding.
pub(crate) async fn blamed(
    spec: &Arc<Spec>,
    ground: &Ground,
    target: Target,
    cases: Cases,
    name: &str,
) -> Vec<String> {
    let shape = ReplyShape::from_profile(spec.profile());
    let mut all = cases::edge(Catalog::new(spec, &shape, false));
    if cases == Cases::OneEdge {
        all.retain(|case| case.setup == Setup::Standard && case.takes.is_zero());
    }
    let files = CredentialFiles::write(&ground.credentials).unwrap();
    let edges = EdgePoolOptions {
        max_exclusive: 2,
        ..EdgePoolOptions::new(Arc::clone(spec), target, Arc::clone(&ground.credentials), files)
    };
    let run = ConformanceRun::of_edges(all, &Selection::default(), edges).unwrap();
    let options = RunOptions { case_timeout: Duration::from_secs(60), ..RunOptions::default() };
    let policy = RunPolicy { strict: true, ..RunPolicy::default() };
    let result = ConformanceRun { options, policy, ..run }.execute().await.unwrap();
    let failed = result
        .cases
        .iter()
        .filter(|case| matches!(case.outcome, Outcome::Fail | Outcome::Warn | Outcome::NotRun));
    let mut blamed: Vec<String> =
        failed.map(|case| format!("{name} {:?} {}: {}", case.outcome, case.id, case.because)).collect();
    blamed.extend(result.findings.iter().map(|text| format!("{name} {text}")));
    if result.exit_code != 0 && blamed.is_empty() {
        blamed.push(format!("{name} exit code {}", result.exit_code));
    }
    blamed
}
