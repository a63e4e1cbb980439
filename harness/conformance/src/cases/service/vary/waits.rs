use std::time::Duration;

use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::TimeRule;
use futures_util::future::join_all;

use super::probe::{Probe, probe_each};
use crate::cases::service::Expected;
use crate::cases::service::expected::PENDING;
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::Check;

/// Queries with a short wait, and others beside it.
pub(in crate::cases) const SHORT: [&str; 8] = [
    "waitMs=1",
    "waitMs=2",
    "waitMs=10",
    "waitMs=99",
    "waitMs=0&other=1",
    "other=1&waitMs=0",
    "waitMs=%30",
    "waitMs=0&",
];
/// Waits for a verdict that is ready.
const READY: [&str; 8] = ["0", "1", "50", "999", "1000", "5000", "29999", "30000"];
/// Queries that contain no valid wait, or another parameter.
pub(in crate::cases) const INVALID: [&str; 30] = [
    "waitMs=-0",
    "waitMs=%2B5",
    "waitMs=+5",
    "waitMs=1e1",
    "waitMs=0x10",
    "waitMs=0.001",
    "waitMs=.5",
    "waitMs=00",
    "waitMs=1,2",
    "waitMs=1;2",
    "waitMs=%20",
    "waitMs=%00",
    "waitMs=%D9%A3",
    "waitMs=%EF%BC%91",
    "waitMs=%ZZ",
    "waitMs=%FF",
    "waitMs=true",
    "waitMs=null",
    "waitMs=undefined",
    "waitMs={}",
    "waitMs=\"1\"",
    "waitMs==1",
    "waitMs[a]=1",
    "waitMs=0&waitMs=soon",
    "waitMs=soon&waitMs=0",
    "waitMs=0&waitMs=0&waitMs=0",
    "WAITMS=0",
    "wait_ms=0",
    "__proto__=1",
    "&",
];
/// Number of concurrent waits.
const AT_ONCE: usize = 12;
/// Time of a concurrent wait (ms).
const CONCURRENT_WAIT: u64 = 400;

/// Other values of `waitMs`, alone and at once (4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let token = &[ServiceNeed::ReadToken];
    let session = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    let title = "an unknown session is pending after each short wait";
    probe_each(
        cases,
        ["statement.wait-optional", "vary.verdict.wait-short", title],
        token,
        |context, unknown| {
            let probe = |query: &&str| {
                let probe = Probe::pending(format!("query {query}"), context, unknown)
                    .map(|draft| with(draft, query));
                // The interface does not show what a service does with other parameters.
                if query.contains("other") { probe.should() } else { probe }
            };
            SHORT.iter().map(probe).collect()
        },
    )
    .also(PENDING);
    let title = "a verdict is available with each wait";
    probe_each(
        cases,
        ["statement.wait-optional", "vary.verdict.wait-ready", title],
        session,
        |context, session| {
            READY
                .iter()
                .map(|wait| {
                    let draft = context.with_token(session).query(&format!("waitMs={wait}")).draft();
                    Probe::new(format!("waitMs={wait}"), draft, Expected::Verdict)
                })
                .collect()
        },
    )
    .also("verdict.200.available");
    let title = "a query without a valid wait causes no server error";
    probe_each(
        cases,
        ["statement.wait-robust", "vary.verdict.wait-invalid", title],
        token,
        |context, unknown| {
            let long = format!("waitMs={}", "9".repeat(300));
            // This number can wait as long as a service waits at all, so the token is none.
            let refused =
                Probe::unauthorized("a waitMs of 300 digits without a token", context, unknown, |draft| {
                    with(draft, &long)
                });
            let probe = |query: &&str| {
                let draft = context.with_token(unknown).query(query).draft();
                Probe::new(format!("query {query}"), draft, Expected::NoServerError)
            };
            INVALID.iter().map(probe).chain([refused]).collect()
        },
    );
    at_once(cases);
}

fn with(draft: Draft, query: &str) -> Draft {
    Draft { path: format!("{}?{query}", draft.path), ..draft }
}

/// Waits that overlap do not mix and do not keep other requests waiting.
fn at_once(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            PENDING,
            "vary.verdict.wait-at-once",
            "concurrent waits each get their own reference back, and other requests do not wait",
        )
        .steps(steps!(async |context| {
            let waits: Vec<Probe> = (0..AT_ONCE).map(|number| waiting(context, number)).collect();
            let plain = [
                Probe::pending("a request without waitMs during waits", context, &context.reference("plain")),
                Probe::unauthorized(
                    "a request without a token during waits",
                    context,
                    "edgeproof",
                    |draft| with(draft, "waitMs=20000"),
                ),
            ];
            let limit = context.timeout + Duration::from_millis(CONCURRENT_WAIT);
            let send = |probe: &Probe| context.begin(probe.draft(), limit);
            let (waited, others) =
                tokio::join!(join_all(waits.iter().map(&send)), join_all(plain.iter().map(&send)));
            let first = waited.iter().map(|sent| sent.took).min().unwrap_or_default();
            let held = first >= Duration::from_millis(CONCURRENT_WAIT / 2);
            for (probe, sent) in waits.iter().zip(waited).chain(plain.iter().zip(others)) {
                context.checks(probe.judge(context.spec(), &sent.reply));
                let own_wait = probe.draft().path.contains(&format!("waitMs={CONCURRENT_WAIT}"));
                if held && !own_wait && sent.reply.is_ok() {
                    let latest = limit.min(first + Duration::from_secs(1));
                    let check = Check::timed(TimeRule::BeforeWaits, sent.took, latest);
                    context.check(check.at(CaseLevel::Should));
                }
                context.record(probe.draft(), sent);
            }
        }))
        .requires(&[ServiceNeed::ReadToken])
        .also("statement.wait-optional")
        .takes(Duration::from_secs(1));
}

fn waiting(context: &ServiceCaseContext, number: usize) -> Probe {
    let reference = context.reference(&format!("wait-{number}"));
    let draft = context
        .verdict(&reference)
        .bearer(&context.read_token())
        .query(&format!("waitMs={CONCURRENT_WAIT}"))
        .draft();
    Probe::new(format!("wait {number} of {AT_ONCE} at once"), draft, Expected::Pending(reference))
}
