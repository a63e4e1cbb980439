//! Hostile services and key sets, proven by the program.

use std::sync::Arc;

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_mock::{ListenerMode, MockService, NewSession, ServiceOptions};
use edgeproof_reports::Outcome;
use rstest::rstest;

use crate::front::Front;
use crate::harmless;
use crate::hostility::{QUICK, SLOW};
use crate::watched::{Ran, bounded};

const SESSION: &str = "a session";
const LIMITS: [&str; 5] = ["--case-timeout", "2s", "--color", "never", "--verbose"];
/// Cases of a service that no hostile one can pass.
const SERVICE: [&str; 10] = [
    "--filter",
    "verdict.sanity.*",
    "--filter",
    "verdict.reference.markup",
    "--filter",
    "verdict.unauthorized.missing",
    "--filter",
    "verdict.damaged.truncated",
    "--filter",
    "verdict.available",
];
/// The same of a key set.
const KEYS: [&str; 4] = ["--filter", "keys.sanity.*", "--filter", "keys.shape"];

/// A service that serves well, and what stands in front of it.
struct Party {
    service: Arc<MockService>,
    front: Front,
}

impl Party {
    async fn start(well: usize, hostility: &'static str) -> Self {
        let options = ServiceOptions { mode: ListenerMode::PlainHttp, ..ServiceOptions::default() };
        let service = Arc::new(MockService::start_with(options).await.unwrap());
        service.add_session(NewSession::new(SESSION));
        let front = Front::start(service.addr(), well, hostility).await;
        Self { service, front }
    }

    /// Proves it, off the runtime that it runs on.
    async fn prove(&self, hostility: &str, target: &'static str, cases: &[&str]) -> Ran {
        let url = self.front.url().to_string();
        let token = self.service.credentials().read_token(ReadTokenForm::Valid);
        let address = if target == "keys" { "--keys-url" } else { "--base-url" };
        let mut args = vec![target, address, &url];
        if target == "service" {
            args.extend(["--read-token", &token, "--session-ref", SESSION]);
        }
        args.extend(LIMITS.iter().chain(cases));
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        let name = format!("{target} {hostility}");
        let ran = tokio::task::spawn_blocking(move || {
            bounded(&name, &args.iter().map(String::as_str).collect::<Vec<_>>())
        });
        ran.await.unwrap()
    }
}

/// It serves the first request, by which is found whether there is anything to prove, and no other.
async fn blamed(target: &'static str, hostility: &'static str) {
    let party = Party::start(1, hostility).await;
    let ran = party.prove(hostility, target, if target == "keys" { &KEYS } else { &SERVICE }).await;
    assert_eq!(ran.code(), Some(1), "{hostility}: {}", ran.out());
    let report = harmless::check(&ran);
    for case in &report.cases {
        assert_eq!(case.outcome, Outcome::Fail, "{hostility}: {}: {}", case.id, case.because);
    }
    assert!(party.front.turned() >= report.cases.len() || hostility == "gone");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_run_ends_and_blames_the_service(#[values("service", "keys")] target: &'static str) {
    for hostility in QUICK.into_iter().chain(["gone"]) {
        blamed(target, hostility).await;
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_run_ends_though_the_service_does_not(#[values("service", "keys")] target: &'static str) {
    futures_util::future::join_all(SLOW.map(|hostility| blamed(target, hostility))).await;
}

/// All cases, whatever is answered to them.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_report_of_a_whole_run_is_harmed(
    #[values("service", "keys")] target: &'static str,
    #[values("markup", "fickle")] hostility: &'static str,
) {
    let party = Party::start(1, hostility).await;
    let ran = party.prove(&format!("{hostility}, all cases"), target, &[]).await;
    assert_eq!(ran.code(), Some(1), "{}", ran.out());
    harmless::check(&ran);
}

/// Hostile from the first word: there is nothing to prove, and that is one finding.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_proven_of_what_was_never_a_service(
    #[values("service", "keys")] target: &'static str,
    #[values("gigabyte", "mute", "garbage", "endless-header")] hostility: &'static str,
) {
    let party = Party::start(0, hostility).await;
    let ran = party.prove(&format!("{hostility}, from the start"), target, &[]).await;
    let report = harmless::check(&ran);
    assert_eq!(ran.code(), Some(3), "{}", ran.out());
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    assert_eq!(report.summary.not_run + report.summary.not_applicable, report.summary.planned);
}
