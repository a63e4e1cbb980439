//! A whole run on one edge.

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
    https: bool,
    cases: Cases,
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
    let mut all = cases::edge(Catalog::new(spec, &shape, false));
    if cases == Cases::OneEdge {
        all.retain(|case| case.setup == Setup::Standard && case.takes.is_zero());
    }
    let plan = Plan::new(all, &Selection::default(), &capabilities).unwrap();
    let edge_pool = EdgePool::new(EdgePoolOptions {
        spec: Arc::clone(spec),
        shape,
        profile: spec.profile().clone(),
        files: CredentialFiles::write(&ground.credentials).unwrap(),
        redactor: Arc::new(Redactor::new(&ground.credentials)),
        credentials: Arc::clone(&ground.credentials),
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
    let mut blamed = Vec::new();
    let mut tell = |event| match event {
        Event::Ended(case) if matches!(case.outcome, Outcome::Fail | Outcome::Warn | Outcome::NotRun) => {
            blamed.push(format!("{name} {:?} {}: {}", case.outcome, case.id, case.because));
        }
        Event::Finding(text) => blamed.push(format!("{name} {text}")),
        _ => {}
    };
    let (verdict, mut tally) = (RunPolicy { strict: true, ..RunPolicy::default() }, Tally::new(&plan));
    run(&plan, &edge_pool, &Arc::new(options), &verdict, &mut tally, &mut tell).await;
    let code = tally.finish(&verdict, &mut tell);
    Arc::into_inner(edge_pool).unwrap().stop().await;
    if code != 0 && blamed.is_empty() {
        blamed.push(format!("{name} exit code {code}"));
    }
    blamed
}
