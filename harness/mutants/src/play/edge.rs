use std::sync::Arc;

use edgeproof::cases::{Case, Edge, EdgeNeed};
use edgeproof::run::{ConformanceRun, EdgePool, EdgePoolOptions, EdgeUpstream, Selection};
use edgeproof_edge::EdgeFaultHooks;
use edgeproof_targets::{Embedded, Target};

use super::part_cases::{MutatedPart, OptionalInjection};
use super::pure;
use super::pure_result::PureResult;
use super::test_bed::{TestBed, TestBedError};

impl MutatedPart for Edge {
    const PLAYS_PURE: bool = true;

    fn runs(
        bed: &TestBed,
        cases: Vec<Case<Self>>,
        faults: OptionalInjection,
    ) -> Result<Vec<ConformanceRun>, TestBedError> {
        let (https, http): (Vec<_>, Vec<_>) =
            cases.into_iter().partition(|case| case.needs.contains(&EdgeNeed::Https));
        let runs = [(http, false), (https, true)].into_iter().filter(|(cases, _)| !cases.is_empty());
        runs.map(|(cases, https)| run(bed, cases, faults.clone(), https)).collect()
    }

    fn play_pure(
        bed: &TestBed,
        case: &Case<Self>,
        hooks: &dyn EdgeFaultHooks,
        reads_reasons: bool,
    ) -> Option<PureResult> {
        pure::play(bed, case, hooks, reads_reasons)
    }
}

fn run(
    bed: &TestBed,
    cases: Vec<Case<Edge>>,
    faults: OptionalInjection,
    https: bool,
) -> Result<ConformanceRun, TestBedError> {
    let files = bed.files.clone();
    let mut embedded = Embedded::new(Arc::clone(&bed.spec), bed.spec.profile().clone());
    if https {
        embedded = embedded.https(&bed.credentials, &files);
    }
    if let Some(faults) = faults {
        embedded = embedded.with_faults(faults);
    }
    let options = EdgePoolOptions {
        spec: Arc::clone(&bed.spec),
        profile: bed.spec.profile().clone(),
        reply_shape: bed.shape.clone(),
        credentials: Arc::clone(&bed.credentials),
        files,
        target: Target::Embedded(Box::new(embedded)),
        upstream: EdgeUpstream::MockPerEdge,
        redactor: Arc::clone(&bed.redactor),
        max_exclusive: 4,
        observer: None,
    };
    Ok(ConformanceRun::new(cases, &Selection::default(), EdgePool::new(options))?)
}
