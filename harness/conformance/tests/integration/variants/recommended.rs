//! An edge or a service that answers as the table of advice recommends passes all cases.

use std::sync::Arc;

use bytes::Bytes;
use edgeproof::cases::{self, Case, Catalog};
use edgeproof::run::{
    ConformanceRun, RunPolicy, Selection, ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerOptions,
};
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeOptions, EdgeRequest, EdgeRules, RelayResult,
};
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{AdviceAnswer, AnswerPlace, Spec, Version, fill_values};
use edgeproof_mock::{
    ReplyShape, ServiceAction, ServiceDecision, ServiceEndpoint, ServiceFaultHooks, ServiceOptions,
    ServiceRequest,
};
use edgeproof_reports::Outcome;
use edgeproof_targets::{Embedded, FaultInjection, Target};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::conformance_run::{CaseSelection, RunCredentials, mismatches};

/// The different answers of the table, each with the advice that recommends it.
fn recommended(spec: &Spec, of_edge: bool) -> Vec<(String, AdviceAnswer)> {
    let mut all: Vec<(String, AdviceAnswer)> = Vec::new();
    for advice in spec.advice() {
        let Some(answer) = &advice.answer else { continue };
        let is_of_edge = !matches!(answer.to, AnswerPlace::Verdict | AnswerPlace::KeySet);
        if is_of_edge == of_edge && !all.iter().any(|(_, known)| known == answer) {
            all.push((advice.id.clone(), answer.clone()));
        }
    }
    all
}

#[test]
fn several_advices_recommend_an_answer() {
    let spec = Spec::builtin(Version::Current);
    assert!(recommended(&spec, true).len() >= 8 && recommended(&spec, false).len() >= 2);
}

/// One edge gives all answers by default, and in CI also an edge for each of them: `EDGEPROOF_VARIANTS=all`.
#[tokio::test(flavor = "multi_thread")]
async fn edge_with_a_recommended_answer_passes() {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let credentials = RunCredentials::new();
    let all = recommended(&spec, true);
    let together: Vec<AdviceAnswer> = all.iter().map(|(_, answer)| answer.clone()).collect();
    let mut edges = vec![("all".to_owned(), together.clone(), CaseSelection::All)];
    if std::env::var("EDGEPROOF_VARIANTS").is_ok_and(|which| which == "all") {
        edges.push(("all".to_owned(), together, CaseSelection::Explored));
        edges.extend(all.into_iter().map(|(id, answer)| (id, vec![answer], CaseSelection::All)));
    }
    let mut found = Vec::new();
    for (name, answers, cases) in edges {
        let faults = Arc::new(Recommendation { answers });
        let embedded = Embedded::new(Arc::clone(&spec), spec.profile().clone()).with_faults(faults);
        let target = Target::Embedded(Box::new(embedded));
        found.extend(mismatches(&spec, &credentials, target, cases, &name).await);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn service_with_a_recommended_answer_passes() {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let credentials = RunCredentials::new();
    let mut found = Vec::new();
    for (name, answer) in recommended(&spec, false) {
        found.extend(of_service(&spec, &credentials, cases::service, &name, &answer).await);
        found.extend(of_service(&spec, &credentials, cases::keys, &name, &answer).await);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The mismatches of a service or a key set with a recommended answer.
async fn of_service<P: ServicePart>(
    spec: &Arc<Spec>,
    RunCredentials { credentials, files }: &RunCredentials,
    cases: fn(Catalog<'_>) -> Vec<Case<P>>,
    name: &str,
    answer: &AdviceAnswer,
) -> Vec<String> {
    let options = ServiceRunnerOptions {
        spec: Arc::clone(spec),
        mock_spec: None,
        profile: spec.profile().clone(),
        location: ServiceLocation::Mock(Arc::clone(credentials), files.clone()),
        inputs: ServiceRunnerOptions::mock_inputs(credentials),
        waits: false,
        redactor: Arc::new(Redactor::new(credentials)),
    };
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = cases(Catalog::new(spec, &shape, false));
    let faults = Arc::new(Recommendation { answers: vec![answer.clone()] });
    let runner = ServiceRunner::<P>::new(options).with_faults(faults);
    let run = ConformanceRun::new(cases, &Selection::default(), runner).unwrap();
    let policy = RunPolicy { strict: true, ..RunPolicy::default() };
    let result = ConformanceRun { policy, ..run }.execute().await.unwrap();
    let is_wrong = |outcome| matches!(outcome, Outcome::Fail | Outcome::Warn | Outcome::NotRun);
    let failed = result.cases.iter().filter(|case| is_wrong(case.outcome));
    let failed = failed.map(|case| format!("{name} {}: {}", case.id, case.because));
    failed.chain(result.findings.clone()).collect()
}

/// The test can fail: `*` grants access to every origin.
#[tokio::test(flavor = "multi_thread")]
async fn edge_that_grants_every_origin_fails() {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let headers = [("access-control-allow-origin".to_owned(), "*".to_owned())].into();
    let answer = AdviceAnswer { to: AnswerPlace::Any, status: None, headers, body: None };
    let embedded = Embedded::new(Arc::clone(&spec), spec.profile().clone())
        .with_faults(Arc::new(Recommendation { answers: vec![answer] }));
    let target = Target::Embedded(Box::new(embedded));
    let found = mismatches(&spec, &RunCredentials::new(), target, CaseSelection::StandardSetup, "any").await;
    assert!(found.iter().any(|line| line.contains("monitor.")), "{found:?}");
}

/// Gives recommended answers in place of right ones.
#[derive(Debug, Clone)]
struct Recommendation {
    answers: Vec<AdviceAnswer>,
}

impl FaultInjection for Recommendation {
    fn edge(&self, options: &mut EdgeOptions) {
        let allowed_origin = options.settings.allowed_origin.clone();
        let rules = EdgeRules::new(&options.spec, &options.profile, allowed_origin.as_deref()).unwrap();
        options.hooks = Arc::new(RecommendingEdge { answers: self.answers.clone(), rules, allowed_origin });
    }

    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::new(self.clone());
    }
}

#[derive(Debug)]
struct RecommendingEdge {
    answers: Vec<AdviceAnswer>,
    rules: EdgeRules,
    allowed_origin: Option<String>,
}

impl EdgeFaultHooks for RecommendingEdge {
    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        result: Option<&RelayResult>,
        mut right: EdgeAnswer,
    ) -> EdgeAction {
        let is_of_signals = request.facts.path == self.rules.signals_path();
        let method = &request.facts.method;
        for answer in &self.answers {
            let fits = match answer.to {
                AnswerPlace::Any => true,
                AnswerPlace::Json => !right.body.is_empty(),
                AnswerPlace::Error => right.status.as_u16() >= 400,
                AnswerPlace::Preflight => is_of_signals && *method == Method::OPTIONS,
                AnswerPlace::OtherMethod => {
                    is_of_signals && *method != Method::OPTIONS && *method != Method::POST
                }
                AnswerPlace::Unreachable => matches!(result, Some(RelayResult::NoAnswer)),
                AnswerPlace::Health => {
                    request.facts.path == self.rules.health_path() && *method == Method::GET
                }
                AnswerPlace::Verdict | AnswerPlace::KeySet => false,
            };
            if fits {
                let status = answer.status.map(|status| StatusCode::from_u16(status).unwrap());
                right.status = status.unwrap_or(right.status);
                apply(answer, self.allowed_origin.as_deref(), &mut right.headers, &mut right.body);
            }
        }
        EdgeAction::Answer(right)
    }
}

impl ServiceFaultHooks for Recommendation {
    fn conclude(&self, request: &ServiceRequest<'_>, mut correct: ServiceDecision) -> ServiceAction {
        for answer in &self.answers {
            let fits = match answer.to {
                AnswerPlace::Verdict => request.endpoint == ServiceEndpoint::Verdict,
                AnswerPlace::KeySet => request.endpoint == ServiceEndpoint::KeySet,
                _ => false,
            };
            if fits {
                correct.status = answer.status.unwrap_or(correct.status);
                apply(answer, None, &mut correct.headers, &mut correct.body);
            }
        }
        ServiceAction::At(std::time::Duration::ZERO, correct)
    }
}

/// Puts header fields and body of a recommended answer into an answer.
fn apply(answer: &AdviceAnswer, origin: Option<&str>, headers: &mut HeaderMap, body: &mut Bytes) {
    for (name, value) in &answer.headers {
        let name = HeaderName::try_from(name).unwrap();
        headers.remove(&name);
        let value = match origin {
            None if value.contains("{origin}") => continue,
            origin => fill_values(value, |_| origin.map(str::to_owned)),
        };
        headers.insert(name, HeaderValue::try_from(value).unwrap());
    }
    if let Some(given) = &answer.body {
        *body = given.to_string().into();
    }
}
