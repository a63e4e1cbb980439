use std::sync::Arc;

use bytes::Bytes;
use edgeproof::target::FaultInjection;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest, Relayed,
};
use edgeproof_mock::{ServiceAction, ServiceFaultHooks, ServiceOptions, ServiceRequest};
use edgeproof_mutants::{Behaviour, Deviation, Ran, ServiceBehaviour, Side};
use edgeproof_reports::{CaseLevel as Level, Outcome};
use http::{HeaderMap, StatusCode};

use crate::support::{wait_for, world};

/// An edge that refuses everything fails whatever asks for something. What still passes asks that something is not: no
/// grant, no secret, no 405, nothing relayed; or only what an answer is labelled as.
#[test]
fn an_edge_that_refuses_everything_fails_all_that_asks_for_something() {
    let world = world();
    let faults = Deviation::behaviour(&world.pure.spec, Behaviour::RefusesAll).faults();
    let ran = wait_for(world.play(Side::Edge, &world.cases(Side::Edge), Some(&faults))).unwrap();
    assert_eq!(ran.exit_code, 1);
    let passes = ran.reports.iter().filter(|report| report.outcome == Outcome::Pass);
    let passes: Vec<&str> = passes.map(|report| report.id.as_str()).collect();
    insta::assert_snapshot!(passes.join("\n"));
    let judged = ran.reports.iter().filter(|report| report.level != Level::Open);
    let other =
        judged.filter(|report| !matches!(report.outcome, Outcome::Pass | Outcome::Fail | Outcome::Warn));
    assert_eq!(other.map(|report| &report.id).next(), None, "a judged case was neither right nor wrong");
}

/// One that answers nothing, closing or silent, proves nothing.
#[test]
fn an_inert_edge_ends_as_incomplete() {
    for said in [EdgeAction::Nothing, EdgeAction::Silence] {
        let ran = inert(said.clone());
        assert_eq!(ran.exit_code, 3, "{said:?}");
        assert!(!ran.findings.is_empty(), "{said:?}");
        assert!(ran.reports.iter().all(|report| report.outcome == Outcome::NotRun), "{said:?}");
    }
}

/// The same at the other side: a service that lets nobody in, and one that answers nothing, prove nothing.
#[test]
fn an_inert_service_ends_as_incomplete() {
    let refuses = Deviation::service_behaviour(&world().pure.spec, ServiceBehaviour::RefusesAll).faults();
    let silent = Arc::new(Mute) as Arc<dyn FaultInjection>;
    for (side, faults) in [(Side::Service, &refuses), (Side::Service, &silent), (Side::Keys, &silent)] {
        let world = world();
        let ran = wait_for(world.play(side, &world.cases(side), Some(faults))).unwrap();
        assert_eq!(ran.exit_code, 3, "{side:?}");
        assert!(!ran.findings.is_empty(), "{side:?}");
        assert!(ran.reports.iter().all(|report| report.outcome == Outcome::NotRun), "{side:?}");
    }
}

#[derive(Debug)]
struct Mute;

impl FaultInjection for Mute {
    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::new(Self);
    }
}

impl ServiceFaultHooks for Mute {
    fn conclude(
        &self,
        _asked: &ServiceRequest<'_>,
        _right: edgeproof_mock::ServiceDecision,
    ) -> ServiceAction {
        ServiceAction::Nothing
    }
}

fn inert(said: EdgeAction) -> Ran {
    let world = world();
    let faults = Arc::new(Inert(said)) as Arc<dyn FaultInjection>;
    let cases = world.cases(Side::Edge);
    wait_for(world.play(Side::Edge, &cases, Some(&faults))).unwrap()
}

#[derive(Debug, Clone)]
struct Inert(EdgeAction);

impl FaultInjection for Inert {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::new(self.clone());
    }
}

impl EdgeFaultHooks for Inert {
    fn decide(&self, _asked: &EdgeRequest<'_>, _right: EdgeDecision) -> EdgeDecision {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        EdgeDecision::Answer(EdgeAnswer { status: StatusCode::OK, headers, body, log: None })
    }

    fn conclude(
        &self,
        _asked: &EdgeRequest<'_>,
        _relayed: Option<&Relayed>,
        _right: EdgeAnswer,
    ) -> EdgeAction {
        self.0.clone()
    }
}
