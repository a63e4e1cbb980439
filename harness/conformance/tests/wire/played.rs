//! Cases, played on the reference edge.

use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{self, Case, Catalog};
use edgeproof::run::{
    Capabilities, EdgePool, EdgePoolOptions, EdgeUpstream, Pins, Plan, RunOptions, RunPolicy, Selection,
    Tally, run,
};
use edgeproof::target::{Embedded, Target};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, Redactor};
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{CaseReport, Event};

/// All cases for an edge, as they come from the tables.
pub(crate) fn catalog(spec: &Spec) -> Vec<Case> {
    cases::edge(Catalog::new(spec, &ReplyShape::from_profile(spec.profile()), false))
}

/// The reports of these cases, in their order.
pub(crate) async fn play(spec: &Arc<Spec>, cases: Vec<Case>) -> Vec<CaseReport> {
    let everything = Capabilities {
        starts_edges: true,
        service: true,
        origin: true,
        log: true,
        https: false,
        loopback_clients: cfg!(target_os = "linux"),
    };
    let plan = Plan::new(cases, &Selection::default(), &everything).unwrap();
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let profile = spec.profile().clone();
    let edge_pool = EdgePool::new(EdgePoolOptions {
        spec: Arc::clone(spec),
        shape: ReplyShape::from_profile(&profile),
        files: CredentialFiles::write(&credentials).unwrap(),
        redactor: Arc::new(Redactor::new(&credentials)),
        target: Target::Embedded(Box::new(Embedded::new(Arc::clone(spec), profile.clone()))),
        behind: EdgeUpstream::Each,
        spare: 4,
        profile,
        credentials,
    });
    let edge_pool = Arc::new(edge_pool.await.unwrap());
    let options = RunOptions {
        jobs: 8,
        case_timeout: Duration::from_secs(30),
        repeat: 1,
        shuffle: None,
        hold: None,
        pins: Pins::default(),
        probes_sanity: true,
        latency: false,
    };
    let mut reports = Vec::new();
    let mut tell = |event| {
        if let Event::Ended(case) = event {
            reports.push(*case);
        }
    };
    let (verdict, mut tally) = (RunPolicy::default(), Tally::new(&plan));
    run(&plan, &edge_pool, &Arc::new(options), &verdict, &mut tally, &mut tell).await;
    assert_eq!(tally.finish(&verdict, &mut tell), 0);
    Arc::into_inner(edge_pool).unwrap().stop().await;
    reports
}
