//! Events of a run.

use std::collections::HashSet;
use std::sync::Arc;

use edgeproof::cases::{self, Catalog};
use edgeproof::run::{ConformanceRun, EdgePool, EdgePoolOptions, RunOptions, Selection};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::Event;
use edgeproof_targets::{Embedded, Target};

/// Progress counts a case that is complete before the report of an earlier case in the plan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_begins_then_completes_then_is_reported() {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let shape = ReplyShape::from_profile(spec.profile());
    let all = cases::edge(Catalog::new(&spec, &shape, false));
    let filter = ["accept.*", "refusal.40*", "http2.*"].map(str::to_owned).to_vec();
    let selection = Selection { filter, ..Selection::default() };
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let files = CredentialFiles::write(&credentials).unwrap();
    let embedded = Embedded::new(Arc::clone(&spec), spec.profile().clone());
    let target = Target::Embedded(Box::new(embedded));
    let edges = EdgePoolOptions::new(spec, target, credentials, files);
    let run = ConformanceRun::new(all, &selection, EdgePool::new(edges)).unwrap();
    let run = ConformanceRun { options: RunOptions { repeat: 2, ..RunOptions::default() }, ..run };

    let (mut began, mut complete, mut reported) = (HashSet::new(), HashSet::new(), 0);
    let mut emit = |event: Event| match event {
        Event::Began { id, title } => {
            assert!(!title.is_empty() && !complete.contains(&id), "{id} begins again");
            began.insert(id);
        }
        Event::Completed { id, .. } => {
            assert!(began.contains(&id), "{id} never began");
            assert!(complete.insert(id.clone()), "{id} is complete twice");
        }
        Event::Ended(case) => {
            assert_eq!(began.contains(&case.id), complete.contains(&case.id), "{} is running", case.id);
            reported += 1;
        }
        _ => {}
    };
    let result = run.execute_with(&mut emit, std::future::pending()).await.unwrap();
    assert_eq!(reported, result.cases.len());
    assert_eq!(complete.len(), result.summary.planned - result.summary.not_applicable);
}
