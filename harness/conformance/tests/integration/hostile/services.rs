//! Hostile services and key sets as targets of the program.

use std::sync::Arc;

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_mock::{ListenerMode, MockService, NewSession, ServiceOptions};

use super::harmless;
use super::hostile_proxy::HostileProxy;
use super::hostility::{QUICK, SLOW};
use super::watched::{Ran, bounded};
use crate::together::{block_on, together};

const SESSION: &str = "a session";
const LIMITS: [&str; 5] = ["--case-timeout", "2s", "--color", "never", "--verbose"];
/// Service cases that every hostility fails.
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
/// Key set cases that every hostility fails.
const KEYS: [&str; 4] = ["--filter", "keys.sanity.*", "--filter", "keys.shape"];

/// A mock service behind a hostile proxy.
struct HostilePart {
    service: Arc<MockService>,
    proxy: HostileProxy,
}

impl HostilePart {
    async fn start(forwarded: usize, hostility: &'static str) -> Self {
        let options = ServiceOptions { mode: ListenerMode::PlainHttp, ..ServiceOptions::default() };
        let service = Arc::new(MockService::start_with(options).await.unwrap());
        service.add_session(NewSession::new(SESSION));
        let proxy = HostileProxy::start(service.addr(), forwarded, hostility).await;
        Self { service, proxy }
    }

    /// Runs the program against it, outside of the service's runtime.
    async fn test(&self, hostility: &str, target: &'static str, cases: &[&str]) -> Ran {
        let url = self.proxy.url().to_string();
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

/// Forwards only the request of the sanity check.
async fn check_failure(target: &'static str, hostility: &'static str) {
    let part = HostilePart::start(1, hostility).await;
    let ran = part.test(hostility, target, if target == "keys" { &KEYS } else { &SERVICE }).await;
    let report = harmless::check_all_failed(&ran);
    assert!(part.proxy.mistreated() >= report.cases.len());
}

const TARGETS: [&str; 2] = ["service", "keys"];

/// Both targets with each hostility.
fn both(hostilities: &[&'static str]) -> Vec<(&'static str, &'static str)> {
    TARGETS.iter().flat_map(|target| hostilities.iter().map(|hostility| (*target, *hostility))).collect()
}

#[test]
fn hostile_service_fails_in_bounded_time() {
    together(both(&QUICK), |(target, hostility)| block_on(check_failure(target, hostility)));
}

/// No case had the last exchange: the finding says so.
#[test]
fn service_gone_after_the_sanity_check_is_one_finding() {
    together(both(&["gone"]), |(target, hostility)| {
        block_on(async {
            let part = HostilePart::start(1, hostility).await;
            let ran = part.test(hostility, target, if target == "keys" { &KEYS } else { &SERVICE }).await;
            let report = harmless::check(&ran);
            assert_eq!((ran.code(), report.findings.len()), (Some(1), 1), "{}", ran.out());
            assert!(report.findings[0].contains("died after edgeproof's own probe"), "{:?}", report.findings);
            assert_eq!(report.summary.not_run, report.summary.planned);
        });
    });
}

#[test]
fn endless_service_fails_in_bounded_time() {
    together(both(&SLOW), |(target, hostility)| block_on(check_failure(target, hostility)));
}

#[test]
fn reports_of_a_whole_run_are_harmless() {
    together(both(&["markup", "fickle"]), |(target, hostility)| {
        block_on(async {
            let part = HostilePart::start(1, hostility).await;
            let ran = part.test(&format!("{hostility}, all cases"), target, &[]).await;
            assert_eq!(ran.code(), Some(1), "{}", ran.out());
            harmless::check(&ran);
        });
    });
}

/// The sanity check fails: one finding.
#[test]
fn service_hostile_from_the_start_exits_3() {
    together(both(&["gigabyte", "mute", "garbage", "endless-header"]), |(target, hostility)| {
        block_on(async {
            let part = HostilePart::start(0, hostility).await;
            let ran = part.test(&format!("{hostility}, from the start"), target, &[]).await;
            let report = harmless::check(&ran);
            assert_eq!(ran.code(), Some(3), "{}", ran.out());
            assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
            assert_eq!(report.summary.not_run + report.summary.not_applicable, report.summary.planned);
        });
    });
}
