//! For each fault of a service, the right case fails with a text that names the fault.

use rstest::rstest;

use super::fake_service::{FakeService, FakeServiceFault, TOKEN, with_all_inputs};
use super::program::conformance;

#[rstest]
#[case(FakeServiceFault::EchoesEncoded, "verdict.reference.space", "fail", "%20")]
#[case(FakeServiceFault::DecodesTwice, "verdict.reference.percent-encoded", "fail", "a b/c")]
#[case(FakeServiceFault::PlusIsSpace, "verdict.reference.plus", "fail", "a b")]
#[case(FakeServiceFault::BarePlusIsSpace, "verdict.reference.bare-plus", "fail", "a b")]
#[case(FakeServiceFault::LowersReference, "verdict.reference.case", "fail", "abcdef")]
#[case(FakeServiceFault::LosesReference, "verdict.sanity.first", "fail", "\"ref\" is missing")]
#[case(FakeServiceFault::AddsMember, "verdict.sanity.first", "fail", "unexpected member \"retryAfter\"")]
#[case(FakeServiceFault::MixesReferences, "verdict.isolation.at-once", "fail", "\"ref\" is")]
#[case(FakeServiceFault::MixesReferences, "verdict.isolation.in-turn", "fail", "\"ref\" is")]
#[case(FakeServiceFault::UnauthorizedAs403, "verdict.unauthorized.missing", "fail", "status: 401 → 403")]
#[case(FakeServiceFault::UnauthorizedInText, "verdict.unauthorized.missing", "fail", "not JSON")]
#[case(FakeServiceFault::LicenseIsDamaged, "verdict.unauthorized.license", "fail", "\"error\" is missing")]
#[case(
    FakeServiceFault::TakesOtherSchemes,
    "verdict.unauthorized.other-scheme",
    "fail",
    "\"error\" is missing"
)]
#[case(
    FakeServiceFault::TakesAlteredEnd,
    "verdict.damaged.signature-altered",
    "fail",
    "the service accepted the token"
)]
#[case(
    FakeServiceFault::TakesTruncated,
    "verdict.damaged.truncated",
    "fail",
    "the service accepted the token"
)]
#[case(FakeServiceFault::TakesExpired, "verdict.refused.expired", "fail", "status: 401 → 404")]
#[case(FakeServiceFault::ExpiredByAnotherName, "verdict.refused.expired", "fail", "expected \"expired\"")]
#[case(
    FakeServiceFault::DamagedByAnotherName,
    "verdict.damaged.invented",
    "fail",
    "malformed_token or bad_footer"
)]
#[case(FakeServiceFault::EchoesToken, "verdict.not-echoed.signature-altered", "fail", "one in the body")]
#[case(FakeServiceFault::EchoesInVerdict, "verdict.not-echoed.available", "fail", "one in the body")]
#[case(
    FakeServiceFault::LooksUpFirst,
    "verdict.no-oracle.damaged",
    "fail",
    "check the token before you look up the session"
)]
#[case(FakeServiceFault::LooksUpFirst, "verdict.unauthorized.missing", "fail", "status: 401 → 404")]
#[case(FakeServiceFault::KeepsAnswers, "verdict.no-oracle.after-pending", "fail", "status: 401 → 404")]
#[case(FakeServiceFault::FailsOnNegativeWait, "verdict.wait.negative", "fail", "500")]
#[case(FakeServiceFault::EmptyVerdict, "verdict.available", "fail", "body: the verdict → nothing")]
#[case(FakeServiceFault::OfferedToCaches, "verdict.cache.verdict", "warn", "public, max-age=30")]
#[case(FakeServiceFault::WithoutContentType, "verdict.content-type.pending", "warn", "text/plain")]
#[case(FakeServiceFault::SchemeInCapitalsOnly, "verdict.read-token.scheme-case", "warn", "status: 404 → 401")]
#[tokio::test(flavor = "multi_thread")]
async fn fault_fails_its_case(
    #[case] fault: FakeServiceFault,
    #[case] id: &str,
    #[case] outcome: &str,
    #[case] text: &str,
) {
    let service = FakeService::start(fault).await;
    let url = service.url();
    let mut arguments = with_all_inputs(&url);
    arguments.extend(["--filter", id]);
    let run = conformance(&arguments, Some(TOKEN));
    let exit = i32::from(outcome == "fail");
    assert_eq!((run.exit, run.case(id)["outcome"].as_str()), (exit, Some(outcome)), "{}{}", run.out, run.err);
    let mismatches = run.mismatches(id);
    assert!(mismatches.contains(text), "{mismatches}");
    assert_eq!(run.case(id)["exchanges"][0]["hop"], "client→service");
    assert!(run.case(id)["reproduce"].as_str().unwrap().starts_with("curl "));
    let strict = conformance(&[&arguments[..], &["--strict"]].concat(), Some(TOKEN));
    assert_eq!(strict.exit, 1);
}
