//! A conformance run against one edge.

use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::{self, Catalog};
use edgeproof::run::{
    Capabilities, EdgePool, EdgePoolOptions, EdgeUpstream, Pins, Plan, RunOptions, RunPolicy, Selection,
    Tally, run,
};
use edgeproof::target::{Setup, Target};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, Redactor};
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{Event, Outcome};

/// Credentials of all runs.
pub(crate) struct RunCredentials {
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) files: CredentialFiles,
}

/// Cases of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseSelection {
    /// All cases.
    All,
    /// Cases with the standard setup that need no real time: most cases, at a third of the cost.
    StandardSetup,
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
    https: bool,
    cases: CaseSelection,
    name: &str,
) -> Vec<String> {
    let capabilities = Capabilities {
        starts_edges: true,
        service: true,
        origin: true,
        log: true,
        https,
        loopback_clients: cfg!(target_os = "linux"),
    };
    let shape = ReplyShape::from_profile(spec.profile());
    let mut selected = cases::edge(Catalog::new(spec, &shape, false));
    if cases == CaseSelection::StandardSetup {
        selected.retain(|case| case.setup == Setup::Standard && case.takes.is_zero());
    }
    let plan = Plan::new(selected, &Selection::default(), &capabilities).unwrap();
    let edge_pool = EdgePool::new(EdgePoolOptions {
        spec: Arc::clone(spec),
        shape,
        profile: spec.profile().clone(),
        files: CredentialFiles::write(&credentials.credentials).unwrap(),
        redactor: Arc::new(Redactor::new(&credentials.credentials)),
        credentials: Arc::clone(&credentials.credentials),
        target,
        behind: EdgeUpstream::Each,
        spare: 2,
    });
    let edge_pool = Arc::new(edge_pool.await.unwrap());
    let options = RunOptions {
        jobs: 8,
        case_timeout: Duration::from_secs(60),
        repeat: 1,
        shuffle: None,
        hold: None,
        pins: Pins::default(),
        probes_sanity: true,
        latency: false,
    };
    let mut found = Vec::new();
    let mut on_event = |event| match event {
        Event::Ended(case) if matches!(case.outcome, Outcome::Fail | Outcome::Warn | Outcome::NotRun) => {
            found.push(format!("{name} {:?} {}: {}", case.outcome, case.id, case.because));
        }
        Event::Finding(text) => found.push(format!("{name} {text}")),
        _ => {}
    };
    let policy = RunPolicy { strict: true, ..RunPolicy::default() };
    let mut tally = Tally::new(&plan);
    run(&plan, &edge_pool, &Arc::new(options), &policy, &mut tally, &mut on_event).await;
    let code = tally.finish(&policy, &mut on_event);
    Arc::into_inner(edge_pool).unwrap().stop().await;
    if code != 0 && found.is_empty() {
        found.push(format!("{name} exit code {code}"));
    }
    found
}
