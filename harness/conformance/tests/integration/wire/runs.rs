use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{self, Case, Catalog, Edge};
use edgeproof::run::{RunOptions, run_embedded};
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::CaseReport;

/// All edge cases of the tables.
pub(crate) fn catalog(spec: &Spec) -> Vec<Case<Edge>> {
    cases::edge(Catalog::new(spec, &ReplyShape::from_profile(spec.profile()), false))
}

/// Reports of these cases on the reference edge, in the same order.
pub(crate) async fn play(spec: &Arc<Spec>, cases: Vec<Case<Edge>>) -> Vec<CaseReport> {
    let options = RunOptions { case_timeout: Duration::from_secs(30), ..RunOptions::default() };
    let result = run_embedded(spec, cases, options).await.unwrap();
    assert_eq!(result.exit_code, 0);
    result.cases
}
