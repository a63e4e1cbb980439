use std::path::PathBuf;
use std::sync::Arc;

use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::Endpoint;
use edgeproof_reports::CaseLevel;
use edgeproof_targets::Target;
use futures_util::future::join_all;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio::time::sleep;

use super::pool::{EdgePool, Started};
use super::pool_options::EdgeUpstream;
use crate::cases::{CaseFindings, Catalog, EdgeMonitor, Setup};
use crate::monitor::{EdgeRecord, ExpectedCertificate, LAST_REQUESTS, internals, judge, send_last_requests};
use crate::run::runner_context::RunnerContext;

/// Sends the last requests to each edge that still runs, then stops the edges, so that their logs are complete.
pub(super) async fn end_requests(pool: &EdgePool, context: &RunnerContext) {
    let options = pool.options();
    let catalog = Catalog::new(&options.spec, &options.reply_shape, false);
    let instances = pool.running().await;
    let standard = instances.iter().filter(|instance| instance.setup == Setup::Standard);
    let requests = standard.map(|instance| async {
        let timeout = context.request_timeout();
        let mut edge = instance.case_context(LAST_REQUESTS, CaseLevel::Must, false, timeout);
        send_last_requests(&mut edge, &catalog).await;
    });
    join_all(requests).await;
    sleep(context.options.late_arrivals).await;
    drop(instances);
    // The log of an embedded edge is always complete.
    if !matches!(options.target, Target::Embedded(_)) {
        pool.stop().await;
    }
}

/// Judges all edges of the run by one invariant.
pub(super) fn judge_edges(pool: &EdgePool, monitor: EdgeMonitor, level: CaseLevel) -> CaseFindings {
    let mut found = CaseFindings::default();
    for edge in pool.records(|started| record(pool, started)) {
        for check in judge(monitor, edge) {
            let check = if edge.setup == Setup::Standard {
                check
            } else {
                check.of(&format!("an edge with {}", edge.setup.describe()))
            };
            found.check(check, level);
        }
    }
    if monitor == EdgeMonitor::RefusalLog && found.checks.is_empty() {
        found.not_applicable =
            Some("the log of the edge is too long: edgeproof kept only its last lines".into());
    }
    found
}

/// What is known of an edge at the end of the run.
fn record(pool: &EdgePool, started: &Started) -> EdgeRecord {
    let Started { setup, settings, context, .. } = started;
    let log = context.log.as_ref().map(|log| log.since(0));
    EdgeRecord {
        setup: *setup,
        is_alone: matches!(pool.options().upstream, EdgeUpstream::MockPerEdge),
        license: context.license.clone(),
        certificate: certificate(*setup, settings),
        origin: context.origin.clone(),
        requests: context.traffic.requests(),
        arrivals: context.service.as_ref().map(|service| service.arrivals_since(0)).unwrap_or_default(),
        violations: context.service.as_ref().map(|service| service.violations()).unwrap_or_default(),
        log_is_complete: log.iter().flatten().next().is_none_or(|first| first.number == 0),
        log: log.map(|lines| lines.into_iter().map(|line| line.text).collect()),
        signals: pool.options().spec.path(Endpoint::Signals).to_owned(),
        methods: pool.options().spec.methods(Endpoint::Signals).to_vec(),
        accepted: Catalog::new(&pool.options().spec, &pool.options().reply_shape, false).accepted(),
        internals: internals_of(settings, context.origin.as_deref()),
        max_body: pool.options().profile.max_body,
        redactor: Arc::clone(&pool.options().redactor),
    }
}

/// What answers of an edge with these settings must not show.
fn internals_of(settings: &EdgeSettings, origin: Option<&str>) -> Vec<String> {
    let files = [&settings.service_ca_file, &settings.client_cert_file, &settings.client_key_file];
    let files: Vec<_> = files.into_iter().flatten().map(PathBuf::as_path).collect();
    internals(&files, settings.service_url.as_deref(), origin)
}

/// The client certificate that an edge with these settings has to present.
pub(super) fn certificate(setup: Setup, settings: &EdgeSettings) -> ExpectedCertificate {
    match (&settings.client_cert_file, &settings.client_key_file) {
        _ if setup.is_certificate_open() => ExpectedCertificate::Open,
        (None, None) => ExpectedCertificate::Absent,
        (Some(file), Some(_)) => match CertificateDer::from_pem_file(file) {
            Ok(certificate) => ExpectedCertificate::Certificate(certificate.to_vec()),
            // The files of an attached edge can be gone by now.
            Err(_) => ExpectedCertificate::Open,
        },
        _ => ExpectedCertificate::Open,
    }
}
