//! Services that are wrong only after certain steps, built in and at a URL.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::TokenChoice;
use edgeproof::cases::explore::sequence::{
    NamedSequence, SequencePlan, ServiceAction, ServiceModel, ServiceReplay, VerdictStep,
};
use edgeproof::cases::{self, Catalog, ServiceInputs};
use edgeproof::run::{
    ConformanceRun, RunOptions, Selection, ServiceLocation, ServiceRunner, ServiceRunnerOptions,
};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, Redactor, Role};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_launch::BaseUrl;
use edgeproof_mock::{
    MockService, NewSession, ReplyShape, ServiceAction as Conclusion, ServiceDecision, ServiceEndpoint,
    ServiceFaultHooks, ServiceOptions, ServiceRequest,
};
use edgeproof_reports::{CaseReport, Outcome, Report};
use edgeproof_targets::FaultInjection;
use parking_lot::Mutex;

/// Whether the service closes a connection on which a valid token follows a refused one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fault(bool);

impl FaultInjection for Fault {
    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::new(Hooks { broken: self.0, last: Mutex::default() });
    }
}

#[derive(Debug)]
struct Hooks {
    broken: bool,
    /// Status of the last answer on each connection.
    last: Mutex<BTreeMap<u64, u16>>,
}

impl ServiceFaultHooks for Hooks {
    fn conclude(&self, request: &ServiceRequest<'_>, correct: ServiceDecision) -> Conclusion {
        let status = correct.status;
        let last = self.last.lock().insert(request.connection, status);
        let is_verdict = request.endpoint == ServiceEndpoint::Verdict && request.method == "GET";
        if self.broken && is_verdict && status == 404 && last == Some(401) {
            return Conclusion::Nothing;
        }
        Conclusion::At(Duration::ZERO, correct)
    }
}

const SESSION: &str = "order 4711";

/// Where the service runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Embedded,
    Attached,
}

async fn run(place: Place, fault: Fault, plan: SequencePlan) -> Report {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let shape = ReplyShape::from_profile(spec.profile());
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let files = CredentialFiles::write(&credentials).unwrap();
    let mut options = ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials));
    fault.service(&mut options);
    let service = MockService::start_with(options).await.unwrap();
    service.add_session(NewSession::new(SESSION));
    let ca = files.certificate(Role::ServiceAuthority);
    let inputs = ServiceRunnerOptions::mock_inputs(&credentials);
    let (location, inputs) = match place {
        Place::Embedded => (ServiceLocation::Mock(Arc::clone(&credentials), files), inputs),
        Place::Attached => {
            let url = BaseUrl::of_service(&service.url(), Spec::current()).unwrap();
            let inputs = ServiceInputs { session_ref: Some(SESSION.into()), ..inputs };
            (ServiceLocation::At { service: Some(url), keys: None, ca: Some(ca), states: None }, inputs)
        }
    };
    let mut cases = cases::service_with_sequences(Catalog::new(&spec, &shape, false), plan);
    let ids = ["explore.", "replay.", "monitor."];
    cases.retain(|case| ids.iter().any(|id| case.id.starts_with(id)));
    let runner = ServiceRunner::new(ServiceRunnerOptions {
        mock_spec: None,
        profile: spec.profile().clone(),
        spec,
        location,
        inputs,
        waits: false,
        redactor: Arc::new(Redactor::new(&credentials)),
    })
    .with_faults(Arc::new(fault));
    let run = ConformanceRun::new(cases, &Selection::default(), runner).unwrap();
    let options = RunOptions { case_timeout: Duration::from_secs(60), ..RunOptions::default() };
    ConformanceRun { options, ..run }.execute().await.unwrap()
}

fn explored(count: u32, folder: &Path) -> SequencePlan {
    SequencePlan { count, seed: 3, save: Some(folder.into()), ..SequencePlan::default() }
}

fn saved(folder: &Path) -> Vec<ServiceReplay> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.map(|path| NamedSequence::load(&path, &ServiceModel::all()).unwrap()).collect()
}

fn case<'r>(result: &'r Report, id: &str) -> &'r CaseReport {
    result.cases.iter().find(|case| case.id.starts_with(id)).unwrap()
}

async fn correct_service_passes(place: Place, count: u32) {
    let folder = tempfile::tempdir().unwrap();
    let result = run(place, Fault(false), explored(count, folder.path())).await;
    let problems: Vec<_> =
        result.cases.iter().filter(|case| case.outcome != Outcome::Pass).map(|case| &case.because).collect();
    assert!(problems.is_empty() && result.exit_code == 0, "{problems:?} {:?}", result.findings);
    assert!(saved(folder.path()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn built_in_mock_passes_random_sequences_and_all_monitors() {
    correct_service_passes(Place::Embedded, 100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn correct_attached_service_passes_random_sequences_and_all_monitors() {
    correct_service_passes(Place::Attached, 100).await;
}

async fn fault_is_found(place: Place) {
    let folder = tempfile::tempdir().unwrap();
    let result = run(place, Fault(true), explored(200, folder.path())).await;
    let explored = case(&result, "explore.service");
    assert_eq!((result.exit_code, explored.outcome), (1, Outcome::Fail));
    let all = saved(folder.path());
    let [file] = &all[..] else { panic!("{all:?}") };
    let [refused, pending] = &file.sequence.steps[..] else { panic!("{file:?}") };
    assert_eq!(pending.action, ServiceAction::Verdict(VerdictStep::PLAIN));
    let ServiceAction::Verdict(refused_step) = &refused.action else { panic!("{file:?}") };
    assert!(refused_step.token != TokenChoice::Valid && refused_step.variations() == 1, "{file:?}");
    assert_eq!(refused.connection, pending.connection);

    let replay = |fault| {
        let plan = SequencePlan { service: vec![file.clone()], ..SequencePlan::default() };
        async move { run(place, fault, plan).await }
    };
    let broken = replay(Fault(true)).await;
    assert_eq!((broken.exit_code, case(&broken, "replay.").outcome), (1, Outcome::Fail));
    let correct = replay(Fault(false)).await;
    assert_eq!((correct.exit_code, case(&correct, "replay.").outcome), (0, Outcome::Pass));
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_of_the_built_in_mock_shrinks_to_two_requests() {
    fault_is_found(Place::Embedded).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_of_an_attached_service_shrinks_to_two_requests() {
    fault_is_found(Place::Attached).await;
}
