//! A target that limits the rate of requests ends the run early, with one finding and one cause.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use edgeproof::cases::{self, Catalog};
use edgeproof::run::{
    ConformanceRun, EdgePool, EdgePoolOptions, Selection, ServiceLocation, ServiceRunner,
    ServiceRunnerOptions,
};
use edgeproof_edge::{EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest};
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::{
    ReplyShape, ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceOptions, ServiceRequest,
};
use edgeproof_reports::{Outcome, Report};
use edgeproof_targets::{Embedded, FaultInjection, Target};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use rstest::rstest;

use super::support::ids;
use crate::variants::RunCredentials;

#[rstest]
#[case::all(429, |_| true, true)]
#[case::all_unavailable(503, |_| true, true)]
#[case::most(429, |post| post % 10 != 0, true)]
#[case::few(429, |post| post % 40 == 0, false)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limit_ends_the_run(#[case] status: u16, #[case] refuses: fn(usize) -> bool, #[case] ends: bool) {
    let report = run(Limit { status: StatusCode::from_u16(status).unwrap(), refuses }).await;
    assert_eq!(report.exit_code, 1);
    let finding = report.findings.iter().any(|finding| finding.contains("raise the limit"));
    assert_eq!(finding, ends, "{:?}", report.findings);
    let causes: Vec<_> = report.causes.iter().map(|cause| cause.id.as_str()).collect();
    assert_eq!(causes.first() == Some(&"rate-limited"), ends, "{causes:?}");
    let [failed, not_run] = [Outcome::Fail, Outcome::NotRun].map(|outcome| ids(&report, &[outcome]).len());
    assert_eq!(not_run > 50 && failed < 120, ends, "{failed} failed, {not_run} not run");
}

/// The interface does not show whether a service limits the rate: such a run proves nothing.
#[rstest]
#[case::with_a_time(Some("60"), 3)]
#[case::without_a_time(None, 1)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_with_a_limit_proves_nothing(
    #[case] retry_after: Option<&'static str>,
    #[case] exit_code: u8,
) {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let RunCredentials { credentials, files } = RunCredentials::new();
    let cases = cases::service(Catalog::new(&spec, &ReplyShape::from_profile(spec.profile()), false));
    let options = ServiceRunnerOptions {
        mock_spec: None,
        profile: spec.profile().clone(),
        spec,
        inputs: ServiceRunnerOptions::mock_inputs(&credentials),
        waits: false,
        redactor: Arc::new(Redactor::new(&credentials)),
        location: ServiceLocation::Mock(credentials, files),
    };
    let limit = ServiceLimit { retry_after, requests: Arc::default() };
    let runner = ServiceRunner::new(options).with_faults(Arc::new(limit));
    let run = ConformanceRun::new(cases, &Selection::default(), runner).unwrap();
    let report = run.execute().await.unwrap();
    assert_eq!(report.exit_code, exit_code, "{:?}", report.findings);
    let finding = report.findings.iter().any(|finding| finding.contains("raise the limit"));
    assert_eq!(finding, retry_after.is_some(), "{:?}", report.findings);
}

/// Refuses requests after the first hundred.
#[derive(Debug, Clone)]
struct ServiceLimit {
    retry_after: Option<&'static str>,
    requests: Arc<AtomicUsize>,
}

impl FaultInjection for ServiceLimit {
    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::new(self.clone());
    }
}

impl ServiceFaultHooks for ServiceLimit {
    fn conclude(&self, _: &ServiceRequest<'_>, mut right: ServiceDecision) -> ServiceAction {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        if request >= 100 {
            right.status = 429;
            right.headers = self
                .retry_after
                .map(|time| (RETRY_AFTER, HeaderValue::from_static(time)))
                .into_iter()
                .collect();
            right.body = Bytes::from_static(b"slow down");
        }
        ServiceAction::At(Duration::ZERO, right)
    }
}

async fn run(limit: Limit) -> Report {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let RunCredentials { credentials, files } = RunCredentials::new();
    let cases = cases::edge(Catalog::new(&spec, &ReplyShape::from_profile(spec.profile()), false));
    let embedded = Embedded::new(Arc::clone(&spec), spec.profile().clone()).with_faults(Arc::new(limit));
    let edges = EdgePoolOptions::new(spec, Target::Embedded(Box::new(embedded)), credentials, files);
    let run = ConformanceRun::new(cases, &Selection::default(), EdgePool::new(edges)).unwrap();
    run.execute().await.unwrap()
}

/// Refuses POSTs after the first hundred.
#[derive(Debug, Clone, Copy)]
struct Limit {
    status: StatusCode,
    /// Whether it refuses the POST with this number.
    refuses: fn(usize) -> bool,
}

#[derive(Debug)]
struct Hooks {
    limit: Limit,
    posts: AtomicUsize,
}

impl FaultInjection for Limit {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::new(Hooks { limit: *self, posts: AtomicUsize::new(0) });
    }
}

impl EdgeFaultHooks for Hooks {
    fn decide(&self, request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        let is_post = request.facts.method == Method::POST;
        let post = self.posts.fetch_add(usize::from(is_post), Ordering::Relaxed);
        if !is_post || post < 100 || !(self.limit.refuses)(post) {
            return right;
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        headers.insert(RETRY_AFTER, HeaderValue::from_static("60"));
        let body = Bytes::from_static(b"slow down");
        EdgeDecision::Answer(EdgeAnswer { status: self.limit.status, headers, body, log: None })
    }
}
