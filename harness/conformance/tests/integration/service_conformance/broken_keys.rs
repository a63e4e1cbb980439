//! For each fault of a key set, the right case fails with a text that names the fault.

use rstest::rstest;

use super::fake_service::{FakeService, FakeServiceFault, SECRET, SESSION, TOKEN};
use super::program::conformance;

#[rstest]
#[case(FakeServiceFault::KeysForAnHour, "keys.cache.lifetime", "fail", "max-age=3600")]
#[case(FakeServiceFault::KeysWithPrivatePart, "keys.public-only", "fail", "private member \"d\"")]
#[case(FakeServiceFault::KeysWithPrivateDepth, "keys.public-only", "fail", "/keys/0/old/d")]
#[case(FakeServiceFault::KeysWithPrivatePem, "keys.public-only", "fail", "/keys/0/pem")]
#[case(FakeServiceFault::KeysInPrivateArray, "keys.public-only", "fail", "not a JSON object")]
#[case(FakeServiceFault::KeysInPrivateScript, "keys.sanity.first", "fail", "bytes, not JSON")]
#[case(
    FakeServiceFault::KeysWithoutLifetime,
    "keys.cache.lifetime",
    "warn",
    "cache lifetime, stale use included"
)]
#[case(FakeServiceFault::KeysInHtml, "keys.shape", "fail", "not JSON")]
#[case(FakeServiceFault::KeysOfAnother, "keys.verifies-verdict", "fail", "does not verify")]
#[case(FakeServiceFault::KeysWithOneId, "keys.distinct-ids", "warn", "keys 0 and 1")]
#[case(FakeServiceFault::KeysThatDiffer, "keys.stable", "warn", "2026-a, 2026-b")]
#[case(FakeServiceFault::KeysOfNoType, "keys.types", "warn", "registered")]
#[case(FakeServiceFault::KeysWithoutTag, "keys.cache.etag", "warn", "no such header")]
#[case(FakeServiceFault::KeysNeverUnmodified, "keys.cache.not-modified", "warn", "304 → 200")]
#[case(FakeServiceFault::KeysWithoutHead, "keys.head", "warn", "200 → 405")]
#[tokio::test(flavor = "multi_thread")]
async fn fault_fails_its_case(
    #[case] fault: FakeServiceFault,
    #[case] id: &str,
    #[case] outcome: &str,
    #[case] text: &str,
) {
    let service = FakeService::start(fault).await;
    let url = service.url();
    let arguments =
        ["keys", "--keys-url", &url, "--base-url", &url, "--session-ref", SESSION, "--filter", id];
    let run = conformance(&arguments, Some(TOKEN));
    let exit = i32::from(outcome == "fail");
    assert_eq!((run.exit, run.case(id)["outcome"].as_str()), (exit, Some(outcome)), "{}{}", run.out, run.err);
    let mismatches = run.mismatches(id);
    assert!(mismatches.contains(text), "{mismatches}");
}

/// A report must not repeat a private key that was published by mistake.
#[rstest]
#[case(FakeServiceFault::KeysWithPrivatePart)]
#[case(FakeServiceFault::KeysWithPrivateDepth)]
#[case(FakeServiceFault::KeysWithPrivatePem)]
#[case(FakeServiceFault::KeysInPrivateArray)]
#[case(FakeServiceFault::KeysInPrivateScript)]
#[tokio::test(flavor = "multi_thread")]
async fn report_does_not_repeat_a_private_key(#[case] fault: FakeServiceFault) {
    let service = FakeService::start(fault).await;
    let run = conformance(&["keys", "--keys-url", &service.url()], None);
    assert_eq!(run.exit, 1);
    assert!(!run.report.to_string().contains(SECRET), "{}", run.report);
    assert!(!run.out.contains(SECRET), "{}", run.out);
}
