use std::sync::Arc;

use bytes::Bytes;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult,
};
use edgeproof_fixtures::spec::PartName;
use edgeproof_mock::{ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceOptions, ServiceRequest};
use edgeproof_mutants::{MutantSet, SocketResult};
use edgeproof_reports::{CaseLevel, Outcome};
use edgeproof_targets::FaultInjection;
use http::{HeaderMap, StatusCode};

use crate::support::{block_on, test_bed};

/// The remaining cases require that something is missing (a grant, a secret, a relay), or check the content type only.
#[test]
fn an_edge_that_refuses_everything_passes_only_cases_that_require_nothing() {
    let faults = mutant("edge/refuses-all-requests");
    assert_proves_nothing(&play(PartName::Edge, Arc::clone(&faults)));
    // Without the probe that precedes all cases.
    let bed = test_bed();
    let result = block_on(bed.play_without_probe(PartName::Edge, &bed.cases(PartName::Edge), Some(faults)));
    let result = result.unwrap();
    assert_eq!(result.exit_code, 1);
    let passed = result.reports.iter().filter(|report| report.outcome == Outcome::Pass);
    let passed: Vec<&str> = passed.map(|report| report.id.as_str()).collect();
    insta::assert_snapshot!(passed.join("\n"));
    let unjudged = result.reports.iter().filter(|report| {
        report.level != CaseLevel::Open
            && !matches!(report.outcome, Outcome::Pass | Outcome::Fail | Outcome::Warn)
    });
    assert_eq!(unjudged.map(|report| &report.id).next(), None, "a judged case neither passes nor fails");
}

#[test]
fn an_edge_without_answers_exits_3() {
    for action in [EdgeAction::Nothing, EdgeAction::Silence] {
        assert_proves_nothing(&play(PartName::Edge, Arc::new(Inert(action))));
    }
}

#[test]
fn a_service_that_refuses_every_token_exits_3() {
    let refusing = mutant("service/refuses-all-requests");
    assert_proves_nothing(&play(PartName::Service, refusing));
}

#[test]
fn a_service_without_answers_exits_3() {
    for part in [PartName::Service, PartName::Keys] {
        assert_proves_nothing(&play(part, Arc::new(Mute)));
    }
}

fn mutant(id: &str) -> Arc<dyn FaultInjection> {
    let set = MutantSet::new(&test_bed().spec);
    set.mutants.iter().find(|mutant| mutant.id == id).unwrap().faults()
}

fn play(part: PartName, faults: Arc<dyn FaultInjection>) -> SocketResult {
    let bed = test_bed();
    block_on(bed.play(part, &bed.cases(part), Some(faults))).unwrap()
}

#[track_caller]
fn assert_proves_nothing(result: &SocketResult) {
    assert_eq!(result.exit_code, 3);
    assert!(!result.findings.is_empty(), "no finding");
    assert!(result.reports.iter().all(|report| report.outcome == Outcome::NotRun), "a case ran");
}

/// Service that closes each connection without an answer.
#[derive(Debug)]
struct Mute;

impl FaultInjection for Mute {
    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::new(Self);
    }
}

impl ServiceFaultHooks for Mute {
    fn conclude(&self, _request: &ServiceRequest<'_>, _right: ServiceDecision) -> ServiceAction {
        ServiceAction::Nothing
    }
}

/// Edge that does this in place of every answer.
#[derive(Debug, Clone)]
struct Inert(EdgeAction);

impl FaultInjection for Inert {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::new(self.clone());
    }
}

impl EdgeFaultHooks for Inert {
    fn decide(&self, _request: &EdgeRequest<'_>, _right: EdgeDecision) -> EdgeDecision {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        EdgeDecision::Answer(EdgeAnswer { status: StatusCode::OK, headers, body, log: None })
    }

    fn conclude(
        &self,
        _request: &EdgeRequest<'_>,
        _relayed: Option<&RelayResult>,
        _right: EdgeAnswer,
    ) -> EdgeAction {
        self.0.clone()
    }
}
