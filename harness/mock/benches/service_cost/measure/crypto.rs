//! CPU time of the cryptography of one relayed collection, by part.

use std::hint::black_box;
use std::time::{Duration, SystemTime};

use edgeproof_fixtures::credentials::{Credentials, MintOptions, Role, check_client_certificate};
use edgeproof_fixtures::seal::{Collection, open};
use edgeproof_fixtures::verdict::{Confidence, Decision, Grounds, Judgement, Verdict};

use super::server::thread_cpu;

/// Names and microseconds. TLS records are excluded, and the license, which is verified once.
pub(crate) fn parts() -> Vec<(&'static str, f64)> {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let now = SystemTime::now();
    let chain = credentials.certificate(Role::ClientForLicense).chain_der();
    let authority = credentials.certificate(Role::ClientAuthority).der();
    let seal_keys = credentials.seal_keys();
    let body = Collection::generated("session 1", 7, now).seal(seal_keys.current());
    let revoked = credentials.revocations();
    vec![
        (
            "certificate: P-256",
            timed(|| {
                check_client_certificate(&chain, authority, credentials.license_id(), revoked, now).unwrap();
            }),
        ),
        ("collection: HPKE and P-256", timed(|| open(&body, seal_keys).unwrap())),
    ]
}

/// Microseconds to sign a verdict.
pub(crate) fn signing() -> f64 {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let grounds = Grounds {
        license_id: credentials.license_id(),
        session_ref: "session 1",
        judgement: Judgement { decision: Decision::Allow, confidence: Confidence::FULL },
        issued_at: SystemTime::now(),
        lifetime: Duration::from_secs(120),
    };
    timed(|| Verdict::issue(grounds, credentials.verdict_keys()).to_json())
}

fn timed<T>(work: impl Fn() -> T) -> f64 {
    const TIMES: u32 = 2_000;
    (0..TIMES / 10).for_each(|_| drop(black_box(work())));
    let before = thread_cpu();
    (0..TIMES).for_each(|_| drop(black_box(work())));
    (thread_cpu() - before) * 1e6 / f64::from(TIMES)
}
