//! For each fault of a service, the right case fails with a text that names the fault.

use rstest::rstest;

use crate::fake_service::{EXPIRED, FakeService, Fault, LICENSE, SESSION, TOKEN};
use crate::program::conformance;

#[rstest]
#[case(Fault::EchoesEncoded, "verdict.reference.space", "fail", "%20")]
#[case(Fault::DecodesTwice, "verdict.reference.percent-encoded", "fail", "a b/c")]
#[case(Fault::PlusIsSpace, "verdict.reference.plus", "fail", "a b")]
#[case(Fault::BarePlusIsSpace, "verdict.reference.bare-plus", "fail", "a b")]
#[case(Fault::LowersReference, "verdict.reference.case", "fail", "abcdef")]
#[case(Fault::LosesReference, "verdict.sanity.first", "fail", "\"ref\" is missing")]
#[case(Fault::AddsMember, "verdict.sanity.first", "fail", "unexpected member \"retryAfter\"")]
#[case(Fault::MixesReferences, "verdict.isolation.at-once", "fail", "\"ref\" is")]
#[case(Fault::MixesReferences, "verdict.isolation.in-turn", "fail", "\"ref\" is")]
#[case(Fault::UnauthorizedAs403, "verdict.unauthorized.missing", "fail", "status: 401 → 403")]
#[case(Fault::UnauthorizedInText, "verdict.unauthorized.missing", "fail", "not JSON")]
#[case(Fault::LicenseIsDamaged, "verdict.unauthorized.license", "fail", "\"error\" is missing")]
#[case(Fault::TakesOtherSchemes, "verdict.unauthorized.other-scheme", "fail", "\"error\" is missing")]
#[case(Fault::TakesAlteredEnd, "verdict.damaged.signature-altered", "fail", "the service accepted the token")]
#[case(Fault::TakesTruncated, "verdict.damaged.truncated", "fail", "the service accepted the token")]
#[case(Fault::TakesExpired, "verdict.refused.expired", "fail", "status: 401 → 404")]
#[case(Fault::ExpiredByAnotherName, "verdict.refused.expired", "fail", "expected \"expired\"")]
#[case(Fault::DamagedByAnotherName, "verdict.damaged.invented", "fail", "malformed_token or bad_footer")]
#[case(Fault::EchoesToken, "verdict.not-echoed.signature-altered", "fail", "one in the body")]
#[case(Fault::EchoesInVerdict, "verdict.not-echoed.available", "fail", "one in the body")]
#[case(
    Fault::LooksUpFirst,
    "verdict.no-oracle.damaged",
    "fail",
    "check the token before you look up the session"
)]
#[case(Fault::LooksUpFirst, "verdict.unauthorized.missing", "fail", "status: 401 → 404")]
#[case(Fault::KeepsAnswers, "verdict.no-oracle.after-pending", "fail", "status: 401 → 404")]
#[case(Fault::FailsOnNegativeWait, "verdict.wait.negative", "fail", "500")]
#[case(Fault::EmptyVerdict, "verdict.available", "fail", "body: the verdict → nothing")]
#[case(Fault::OfferedToCaches, "verdict.cache.verdict", "warn", "public, max-age=30")]
#[case(Fault::WithoutContentType, "verdict.content-type.pending", "warn", "text/plain")]
#[case(Fault::SchemeInCapitalsOnly, "verdict.read-token.scheme-case", "warn", "status: 404 → 401")]
#[tokio::test(flavor = "multi_thread")]
async fn fault_fails_its_case(
    #[case] fault: Fault,
    #[case] id: &str,
    #[case] outcome: &str,
    #[case] text: &str,
) {
    let service = FakeService::start(fault).await;
    let url = service.url();
    let arguments = [
        "service",
        "--base-url",
        &url,
        "--expired-token",
        EXPIRED,
        "--license",
        LICENSE,
        "--session-ref",
        SESSION,
        "--filter",
        id,
    ];
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
