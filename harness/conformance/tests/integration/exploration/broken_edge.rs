//! Edges that are wrong only after certain steps: random sequences find them, and saved sequences keep them out.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use edgeproof::cases::explore::sequence::{
    ConnectionChoice, EdgeAction, EdgeReplay, NamedSequence, SequencePlan,
};
use edgeproof::cases::{self, Catalog};
use edgeproof::run::{ConformanceRun, EdgePool, EdgePoolOptions, RunOptions, Selection};
use edgeproof_edge::{
    EdgeAction as Conclusion, EdgeAnswer, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult,
};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions};
use edgeproof_fixtures::spec::{Event, Spec, Version};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{CaseReport, Hop, Outcome, Report};
use edgeproof_targets::{Embedded, FaultInjection, Target};
use http::StatusCode;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::fake_target::{edge_model, is_refusal};

/// What an edge does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// After a body that broke off, a refusal on a connection with an earlier request becomes a 500.
    RefusalAfterAbort,
    /// From the twelfth refusal on, each refusal becomes a 500.
    ManyRefusals,
    /// The first edge of the process that refuses four requests turns all later acceptances into a 500. One answer alone
    /// could be that of a client that has left.
    FirstEdge,
    /// On a connection with an earlier request, an acceptance becomes a 500.
    KeptAcceptance,
}

impl FaultInjection for Fault {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::new(Hooks {
            fault: *self,
            number: EDGES.fetch_add(1, Ordering::SeqCst),
            aborted: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            used: Mutex::default(),
        });
    }
}

/// The state of one edge.
#[derive(Debug)]
struct Hooks {
    fault: Fault,
    /// Number of the edge in the process.
    number: usize,
    aborted: AtomicBool,
    refused: AtomicUsize,
    /// Connections with a request.
    used: Mutex<BTreeSet<u64>>,
}

/// The edges of the process so far.
static EDGES: AtomicUsize = AtomicUsize::new(0);
/// Number of the first edge that refused four requests.
static FIRST_EDGE: OnceLock<usize> = OnceLock::new();

impl EdgeFaultHooks for Hooks {
    fn partial_body(&self, _request: &EdgeRequest<'_>, _part: Bytes) -> Option<Bytes> {
        self.aborted.store(true, Ordering::SeqCst);
        None
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        result: Option<&RelayResult>,
        mut right: EdgeAnswer,
    ) -> Conclusion {
        let is_kept = !self.used.lock().insert(request.connection);
        let answered = matches!(result, Some(RelayResult::Answered { .. }));
        let is_refusal = answered && !right.status.is_success();
        let refused = self.refused.fetch_add(usize::from(is_refusal), Ordering::SeqCst);
        let breaks = match self.fault {
            Fault::None => false,
            Fault::RefusalAfterAbort => is_refusal && is_kept && self.aborted.load(Ordering::SeqCst),
            Fault::ManyRefusals => is_refusal && refused >= 11,
            Fault::FirstEdge => {
                let first = || *FIRST_EDGE.get_or_init(|| self.number);
                answered && !is_refusal && refused > 3 && first() == self.number
            }
            Fault::KeptAcceptance => answered && !is_refusal && is_kept,
        };
        if breaks {
            right.status = StatusCode::INTERNAL_SERVER_ERROR;
        }
        Conclusion::Answer(right)
    }
}

/// Runs the cases of a plan whose ids begin with one of these texts.
async fn run(fault: Fault, plan: SequencePlan, ids: &[&str]) -> Report {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let shape = ReplyShape::from_profile(spec.profile());
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let files = CredentialFiles::write(&credentials).unwrap();
    let mut cases = cases::edge_with_sequences(Catalog::new(&spec, &shape, false).explore(true), plan);
    cases.retain(|case| ids.iter().any(|id| case.id.starts_with(id)));
    let embedded = Embedded::new(Arc::clone(&spec), spec.profile().clone()).with_faults(Arc::new(fault));
    let edges = EdgePoolOptions::new(spec, Target::Embedded(Box::new(embedded)), credentials, files);
    let run = ConformanceRun::new(cases, &Selection::default(), EdgePool::new(edges)).unwrap();
    let options = RunOptions { case_timeout: Duration::from_secs(60), ..RunOptions::default() };
    let result = ConformanceRun { options, ..run }.execute().await.unwrap();
    assert_eq!(result.summary.planned, result.cases.len());
    result
}

/// Runs one case that explores variation, or another one.
async fn run_case(fault: Fault, id: &str) -> CaseReport {
    let result = run(fault, SequencePlan::default(), &[id]).await;
    result.cases.into_iter().find(|case| case.id == id).unwrap()
}

async fn explore(fault: Fault, count: u32, folder: Option<&Path>) -> Report {
    let plan = SequencePlan { count, seed: 11, save: folder.map(Into::into), ..SequencePlan::default() };
    run(fault, plan, &["explore.", "monitor."]).await
}

async fn replay(fault: Fault, saved: &EdgeReplay) -> Report {
    let plan = SequencePlan { edge: vec![saved.clone()], ..SequencePlan::default() };
    run(fault, plan, &["replay."]).await
}

fn saved(folder: &Path) -> Vec<EdgeReplay> {
    let model = edge_model();
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.map(|path| NamedSequence::load(&path, &model).unwrap()).collect()
}

fn the_case(result: &Report) -> &CaseReport {
    result.cases.iter().find(|case| case.id == "explore.edge").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn correct_edge_passes_200_sequences_and_all_monitors() {
    let folder = tempfile::tempdir().unwrap();
    let result = explore(Fault::None, 200, Some(folder.path())).await;
    let problems: Vec<_> =
        result.cases.iter().filter(|case| case.outcome != Outcome::Pass).map(|case| &case.because).collect();
    assert!(problems.is_empty() && result.exit_code == 0, "{problems:?}");
    assert!(the_case(&result).actual.contains("200 sequences (seed 11)"), "{}", the_case(&result).actual);
    assert!(saved(folder.path()).is_empty());
}

/// One run for several tests: it shrinks its failure, which takes long. Yields the saved sequences as well.
async fn after_aborts() -> &'static (Report, Vec<EdgeReplay>) {
    static RUN: OnceCell<(Report, Vec<EdgeReplay>)> = OnceCell::const_new();
    let explored = Box::pin(async {
        let folder = tempfile::tempdir().unwrap();
        let result = explore(Fault::RefusalAfterAbort, 200, Some(folder.path())).await;
        (result, saved(folder.path()))
    });
    RUN.get_or_init(|| explored).await
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_after_an_abort_shrinks_to_three_steps_and_is_saved() {
    let (result, all) = after_aborts().await;
    assert_eq!((result.exit_code, the_case(result).outcome), (1, Outcome::Fail));
    let [file] = &all[..] else { panic!("{all:?}") };
    let model = edge_model();
    let [abort, _, refusal] = &file.sequence.steps[..] else { panic!("{file:?}") };
    let mut first = [abort, &file.sequence.steps[1]];
    // The abort and the first request on the connection may come in either order.
    first.sort_by_key(|step| step.connection);
    assert_eq!(first[0].action, EdgeAction::Event(Event::ClientLeftInBody), "{file:?}");
    assert_eq!(
        (first[1].connection, refusal.connection),
        (ConnectionChoice::Kept(1), ConnectionChoice::Kept(1))
    );
    assert!(is_refusal(&model, refusal) || matches!(refusal.action, EdgeAction::Exchange(_)), "{file:?}");

    // The report shows the steps in words, the broken step, and how to replay them.
    let case = the_case(result);
    assert!(case.because.starts_with("status of step 3 of 3: expected "), "{}", case.because);
    let steps = case.mismatches.iter().find(|mismatch| mismatch.what.contains("shrunk")).unwrap();
    let lines: Vec<_> = steps.actual.lines().collect();
    assert_eq!(lines.len(), 3, "{}", steps.actual);
    assert!(steps.actual.contains("a client that leaves in the middle of its body"), "{}", steps.actual);
    assert!(lines[2].contains("on connection 1: wrong status"), "{}", steps.actual);
    let hint = steps.hint.as_deref().unwrap();
    assert!(hint.contains(&format!("--replay {}", file.path.display())), "{hint}");

    // The saved sequence is a regression case.
    let broken = replay(Fault::RefusalAfterAbort, file).await;
    assert_eq!((broken.exit_code, broken.cases[0].id.clone()), (1, file.id()));
    assert!(broken.cases[0].because.starts_with("status of step 3 of 3"), "{}", broken.cases[0].because);
    assert_eq!(replay(Fault::None, file).await.exit_code, 0);
}

/// The failure needs more steps than one sequence has: its history is replayed and shrunk as well.
#[tokio::test(flavor = "multi_thread")]
async fn fault_of_a_later_part_of_the_run_is_saved_with_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let result = explore(Fault::ManyRefusals, 60, Some(folder.path())).await;
    assert_eq!(result.exit_code, 1);
    let all = saved(folder.path());
    let file = all.iter().min_by_key(|file| file.sequence.steps.len()).unwrap();
    assert_eq!(file.sequence.steps.len(), 12, "{file:?}");
    assert_eq!(replay(Fault::ManyRefusals, file).await.exit_code, 1);
    assert_eq!(replay(Fault::None, file).await.exit_code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_that_does_not_repeat_is_reported_as_such_and_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let result = explore(Fault::FirstEdge, 40, Some(folder.path())).await;
    assert_eq!(result.exit_code, 1);
    let case = the_case(&result);
    let hints: Vec<_> = case.mismatches.iter().filter_map(|mismatch| mismatch.hint.as_deref()).collect();
    let text = "the sequence failed once and passed when played again";
    assert!(hints.iter().any(|hint| hint.contains(text)), "{hints:?}");
    assert!(
        hints.iter().any(|hint| hint.contains("--explore 40 --seed 11 --filter explore.edge")),
        "{hints:?}"
    );
    assert!(saved(folder.path()).is_empty());
}

/// Such as an edge that counts refusals: the exchange that fails now passed before.
#[tokio::test(flavor = "multi_thread")]
async fn failure_of_a_plain_exchange_that_passed_earlier_depends_on_the_past() {
    let case = run_case(Fault::ManyRefusals, "vary.body.refusals").await;
    assert_eq!(case.outcome, Outcome::Fail, "{}", case.because);
    let hint = case.mismatches[0].hint.as_deref().unwrap();
    let text = "the exchange fails without any variation; the same exchange passed earlier in this run: the failure \
                depends on time or on what happened before";
    assert!(hint.contains(text), "{hint}");
    assert_eq!(case.reproduce, "", "a request alone gets the right answer");
    assert!(case.exchanges.iter().any(|exchange| exchange.hop == Hop::EdgeService), "{:?}", case.exchanges);
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_after_others_on_its_connection_is_reproduced_with_them() {
    let case = run_case(Fault::KeptAcceptance, "vary.connection.accepted").await;
    assert_eq!(case.outcome, Outcome::Fail, "{}", case.because);
    let requests: Vec<&str> = case.reproduce.split(" --next ").collect();
    assert_eq!(requests.len(), 2, "{}", case.reproduce);
    assert!(requests.iter().all(|request| request.contains("/v1/signals")), "{}", case.reproduce);

    let case = run_case(Fault::KeptAcceptance, "isolation.keep-alive").await;
    let requests: Vec<&str> = case.reproduce.split(" --next ").collect();
    assert!(requests[0].contains("first-") && requests[1].contains("second-"), "{}", case.reproduce);
}

/// Steps of a sequence use several connections, so the hint names the command that repeats them.
#[tokio::test(flavor = "multi_thread")]
async fn sequence_of_several_steps_has_no_curl_command() {
    let (result, _) = after_aborts().await;
    assert_eq!((the_case(result).outcome, the_case(result).reproduce.as_str()), (Outcome::Fail, ""));
}
