//! The reference edge conforms: embedded and launched.

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_reports::{Observation, Outcome};
use rstest::rstest;

use super::support::{Folder, ids, problems};
use crate::broken_edge::command;

#[rstest]
fn embedded_edge_conforms(
    #[values("http", "https")] scheme: &str,
    #[values("current", "pre-seal")] version: &str,
) {
    let report =
        Folder::new().conform(&["edge", "--edge-scheme", scheme, "--spec", version, "--case-timeout", "2m"]);
    assert_eq!(problems(&report), Vec::<String>::new());
    assert_eq!(report.exit_code, 0);
    let skipped: &[&str] = match (scheme, cfg!(target_os = "linux")) {
        ("https", true) => &[],
        (_, true) => &["http2.accept"],
        ("https", false) => &["log.end-user"],
        (_, false) => &["log.end-user", "http2.accept"],
    };
    assert_eq!(ids(&report, &[Outcome::NotApplicable]), skipped);
    let unlike = report.observations.iter().filter(|seen| !is_of_profile(&seen.point, &seen.observed));
    // In the earlier version the service refuses a certificate in the handshake.
    let unlike = unlike.filter(|seen| version == "current" || !seen.point.contains("certificate"));
    assert_eq!(unlike.collect::<Vec<_>>(), Vec::<&Observation>::new());
    let latency = report.latency.unwrap();
    assert!(latency.samples > 0 && latency.p50_us <= latency.p99_us);
}

/// Whether the profile has the observed value of a point. That of several observations is prose.
pub(crate) fn is_of_profile(id: &str, observed: &str) -> bool {
    let spec = Spec::builtin(Version::Current);
    let point = spec.profile().point(id).unwrap();
    !point.names.is_empty() || point.value.is_seen_as(observed, point.caseless)
}

#[test]
fn launched_edge_conforms() {
    let report =
        Folder::new().conform(&["--launch", &command("sound"), "--jobs", "4", "--case-timeout", "2m"]);
    assert_eq!(problems(&report), Vec::<String>::new());
    assert_eq!(report.exit_code, 0);
}

#[test]
fn shuffled_and_repeated_cases_pass() {
    let args = ["--shuffle", "--seed", "17", "--repeat", "2", "--jobs", "32", "--filter", "re*"];
    assert_eq!(problems(&Folder::new().conform(&args)), Vec::<String>::new());
}
