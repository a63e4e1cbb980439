use std::error::Error;
use std::sync::Arc;

use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions};
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::Report;
use edgeproof_targets::{Embedded, Target};

use super::conformance_run::ConformanceRun;
use super::edge::{EdgePool, EdgePoolOptions};
use super::options::RunOptions;
use super::plan::Selection;
use crate::cases::{Case, Edge};

/// Runs edge cases on the embedded reference edge, over HTTP, with fresh credentials and a mock service for each edge.
///
/// ```
/// use std::sync::Arc;
///
/// use edgeproof::cases::{self, Catalog};
/// use edgeproof::run::{RunOptions, run_embedded};
/// use edgeproof_fixtures::spec::{Spec, Version};
/// use edgeproof_mock::ReplyShape;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let spec = Arc::new(Spec::builtin(Version::Current));
/// let shape = ReplyShape::from_profile(spec.profile());
/// let mut cases = cases::edge(Catalog::new(&spec, &shape, false));
/// cases.retain(|case| case.id.starts_with("accept."));
///
/// let result = run_embedded(&spec, cases, RunOptions::default()).await?;
///
/// assert_eq!((result.exit_code, result.summary.fail), (0, 0));
/// assert!(result.cases.iter().any(|case| case.id == "accept.exact-body"));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// # }).unwrap();
/// ```
pub async fn run_embedded(
    spec: &Arc<Spec>,
    cases: Vec<Case<Edge>>,
    options: RunOptions,
) -> Result<Report, Box<dyn Error + Send + Sync>> {
    let credentials = Arc::new(Credentials::mint(&MintOptions::default())?);
    let files = CredentialFiles::write(&credentials)
        .map_err(|why| format!("cannot write the credentials to a temporary folder: {why}"))?;
    let embedded = Embedded::new(Arc::clone(spec), spec.profile().clone());
    let target = Target::Embedded(Box::new(embedded));
    let edges = EdgePoolOptions::new(Arc::clone(spec), target, credentials, files);
    let run = ConformanceRun::new(cases, &Selection::default(), EdgePool::new(edges))?;
    Ok(ConformanceRun { options, ..run }.execute().await?)
}
