//! Services that judge the read token wrongly, or answer its refusal wrongly.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{READ_PREFIX, ReadClaims, ReadTokenFault};
use edgeproof_mock::{ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceRequest};
use http::header::{AUTHORIZATION, HeaderValue};
use parking_lot::Mutex;

use super::hooks::accepted;
use super::prelude::*;

/// A token with an unreadable part is refused.
const MALFORMED: Condition = All(&[
    REFUSED,
    Stimulus(&[
        S::ReadTokenMalformed,
        S::ReadTokenTruncated,
        S::ReadTokenFooterDamaged,
        S::ReadTokenPayloadDamaged,
    ]),
]);

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    mutant("refuses-all-requests", "Answers 401 to all requests.")
        .breaks("statement.read-token-prefix", "valid-token-refused")
        .late_breaks("verdict.404.pending")
        .then(RefuseToken),
    mutant("refuses-requests-with-wait", "Answers 401 to requests with waitMs before it reads the header.")
        .breaks("statement.wait-optional", "wait-refused")
        .when(All(&[VERDICT, WAITS]))
        .then(Instead(Json(401, UNAUTHORIZED))),
    mutant("opens-to-proxies", "Needs no read token in a request with X-Forwarded-For.")
        .breaks("verdict.401.unauthorized", "token-header-loose")
        .when(All(&[VERDICT, Stimulus(&[S::ReadTokenMissing]), Has("x-forwarded-for")]))
        .then(AcceptToken),
    mutant("any-scheme", "Accepts any scheme in place of Bearer.")
        .breaks("verdict.401.unauthorized", "token-header-loose")
        .then(Authorization(|value| match value.split_once(' ') {
            Some((_, token)) if !token.is_empty() => format!("Bearer {token}"),
            _ => value.to_owned(),
        })),
    mutant("finds-token-anywhere", "Accepts a read token anywhere in the header.")
        .breaks("verdict.401.unauthorized", "token-header-loose")
        .then(Authorization(|value| match value.find(READ_PREFIX) {
            Some(at) => format!("Bearer {}", &value[at..]),
            None => value.to_owned(),
        })),
    mutant("accepts-license", "Accepts a license as a read token.")
        .breaks("verdict.401.unauthorized", "token-header-loose")
        .when(Stimulus(&[S::ReadTokenIsLicense]))
        .then(AcceptToken),
    mutant("accepts-token-without-prefix", "Accepts a read token without its prefix.")
        .breaks("statement.read-token-prefix", "token-header-loose")
        .then(Authorization(|value| match value.split_once(' ') {
            Some((_, token)) if token.starts_with("v4.") => format!("Bearer {READ_PREFIX}{token}"),
            _ => value.to_owned(),
        })),
    mutant("accepts-token-once", "Accepts each read token once.")
        .breaks("statement.read-token-prefix", "valid-token-refused")
        .when(Earlier(Same::Token, 1, &ACCEPTED))
        .then(RefuseToken),
    mutant("case-sensitive-scheme", "Compares the scheme case-sensitively.")
        .breaks("statement.scheme-case", "valid-token-refused")
        .then(Authorization(|value| {
            if value.starts_with("Bearer ") { value.to_owned() } else { format!("x{value}") }
        })),
    mutant(
        "looks-session-up-first",
        "Looks the session up before the token: without a valid token, a missing verdict gets a 404.",
    )
    .breaks("statement.no-oracle", "session-revealed")
    .then(Whole(|| Arc::<LookUpFirst>::default())),
    mutant("caches-for-all-clients", "Answers unauthorized requests from a cache.")
        .breaks("statement.no-oracle", "access-without-token")
        .when(REFUSED)
        .answers(Repeats(Which::Last, (Same::Target, &ACCEPTED))),
    mutant("echoes-refused-token", "Returns the token in refusals.")
        .breaks("statement.read-token-not-echoed", "token-echoed")
        .also_late()
        .when(All(&[Not(&AnswerIs(200, 200)), Not(&Stimulus(&[S::ReferenceUnknown]))]))
        .answers(By(|seen, answer| match token(seen) {
            Some(token) => answer.with_member("detail", token),
            None => answer,
        })),
    mutant("echoes-accepted-token", "Returns the token in a header of accepted requests.")
        .breaks("statement.read-token-not-echoed", "token-echoed")
        .also_late()
        .when(Any(&[AnswerIs(200, 200), Stimulus(&[S::ReferenceUnknown])]))
        .answers(By(|seen, answer| match token(seen) {
            Some(token) => answer.with("x-token", token),
            None => answer,
        })),
    mutant("echoes-encoded-token", "Returns the token in hexadecimal.")
        .breaks("statement.read-token-not-echoed", "token-echoed")
        .also_late()
        .answers(By(|seen, answer| match token(seen) {
            Some(token) => answer.with(
                "x-trace",
                &token.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")),
            ),
            None => answer,
        })),
    mutant("text-refusals", "Answers refusals in plain text.")
        .breaks("statement.error-bodies-json", "verdict-errors-not-json")
        .also_late()
        .when(REFUSED)
        .answers(Typed("text/plain", "Unauthorized")),
    mutant("detail-refusals", "Answers refusals with the detail of FastAPI.")
        .breaks("verdict.401.unauthorized", "refusal-body-shape")
        .when(REFUSED)
        .answers(By(|_, answer| with_code(answer, |code| json!({ "detail": code })))),
    mutant("suffixed-refusals", "Appends a suffix to each code of a refusal.")
        .breaks("verdict.401.unauthorized", "refusal-body-shape")
        .when(REFUSED)
        .answers(By(|_, answer| {
            with_code(answer, |code| json!({ "error": format!("{}:1", code.as_str().unwrap_or_default()) }))
        })),
    mutant("spring-refusals", "Answers refusals with the error of Spring.")
        .breaks("verdict.401.unauthorized", "refusal-body-shape")
        .when(REFUSED)
        .answers(By(|_, answer| {
            with_code(answer, |code| {
                json!({
                    "timestamp": "2025-03-14T09:26:53.589+00:00",
                    "status": 401,
                    "error": "Unauthorized",
                    "message": code,
                    "path": "/v1/verdict",
                })
            })
        })),
    mutant("refuses-with-403", "Answers 403 to all refused tokens.")
        .breaks("verdict.401.unauthorized", "refusal-status-wrong")
        .when(REFUSED)
        .answers(Status(403)),
    mutant("malformed-token-is-400", "Answers 400 to tokens that it cannot parse.")
        .breaks("verdict.401.malformed-token", "refusal-status-wrong")
        .when(MALFORMED)
        .answers(Status(400)),
    mutant(
        "malformed-token-is-500",
        "Answers tokens that it cannot parse with the 500 page of the framework.",
    )
    .breaks("verdict.401.malformed-token", "refusal-status-wrong")
    .when(MALFORMED)
    .answers(Each(&[Status(500), Typed("text/html", "<!doctype html><title>Internal Server Error</title>")])),
    mutant("accepts-revoked-token", "Accepts a read token after it was revoked.")
        .breaks("verdict.401.revoked", "token-revocation-unchecked")
        .when(Stimulus(&[S::ReadTokenRevoked]))
        .then(AcceptToken),
    mutant("accepts-token-of-revoked-license", "Accepts read tokens of a revoked license.")
        .breaks("verdict.401.revoked", "token-revocation-unchecked")
        .when(Stimulus(&[S::ReadTokenLicenseRevoked]))
        .then(AcceptToken),
    mutant("no-www-authenticate-header", "Omits the header WWW-Authenticate on 401.")
        .breaks("statement.challenge-on-401", "challenge-missing")
        .when(VERDICT)
        .answers(RemoveHeader("www-authenticate")),
    mutant("basic-challenge", "Names the scheme Basic in WWW-Authenticate.")
        .breaks("statement.challenge-on-401", "challenge-missing")
        .when(All(&[VERDICT, AnswerHas("www-authenticate")]))
        .answers(SetHeader("www-authenticate", "Basic realm=\"verdicts\"")),
    mutant("allows-shared-caching", "Lets shared caches store answers.")
        .breaks("statement.verdict-not-shared", "verdict-cached")
        .also_late()
        .when(VERDICT)
        .answers(SetHeader("cache-control", "public, max-age=60")),
    mutant("allows-reuse", "Lets private caches reuse answers.")
        .breaks("statement.verdict-not-reused", "verdict-cached")
        .when(VERDICT)
        .answers(SetHeader("cache-control", "private, no-cache=\"set-cookie\", max-age=60")),
    mutant("caches-verdicts-like-keys", "Lets shared caches store answers after a request for the key set.")
        .breaks("statement.verdict-not-shared", "verdict-cached")
        .when(All(&[VERDICT, Earlier(Same::Part, 1, &Endpoint(ServiceEndpoint::KeySet))]))
        .answers(SetHeader("cache-control", "public, max-age=300")),
    mutant("accepts-revoked-token-of-bearer", "Accepts a revoked token after the scheme in small letters.")
        .breaks("verdict.401.revoked", "token-revocation-unchecked")
        .when(All(&[VERDICT, Stimulus(&[S::ReadTokenRevoked]), HeaderPart("authorization", "bearer ")]))
        .then(AcceptToken),
    mutant("trusts-tokens-of-an-outage", "Accepts a token that it could not check before.")
        .breaks("verdict.401.unauthorized", "token-revocation-unchecked")
        .when(All(&[
            VERDICT,
            Stimulus(&[S::ReadTokenRevoked, S::ReadTokenExpired]),
            Earlier(Same::Token, 1, &Stimulus(&[S::ReadTokenCheckFails])),
        ]))
        .then(AcceptToken),
];

/// Value of the header `Authorization`.
fn token<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    seen.headers.get(AUTHORIZATION)?.to_str().ok()
}

/// The answer with its code in a body of another shape.
fn with_code(answer: Answer, body: impl FnOnce(Value) -> Value) -> Answer {
    let code = answer.member("error").unwrap_or_default();
    Answer { body: body(code).to_string().into(), ..answer }
}

/// Accepts all tokens, and refuses those that it should have refused after it found a verdict.
#[derive(Debug, Default)]
struct LookUpFirst {
    /// `Authorization` values that the service should have refused.
    refused: Mutex<BTreeSet<Option<HeaderValue>>>,
}

impl ServiceFaultHooks for LookUpFirst {
    fn token(
        &self,
        request: &ServiceRequest<'_>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        right.or_else(|_| {
            self.refused.lock().insert(request.headers.get(AUTHORIZATION).cloned());
            Ok(accepted(license_id))
        })
    }

    fn conclude(&self, request: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        let refused = self.refused.lock().contains(&request.headers.get(AUTHORIZATION).cloned());
        let available =
            request.endpoint == ServiceEndpoint::Verdict && right.stimulus == Some(S::VerdictReady);
        let refusal = || Answer::json(401, UNAUTHORIZED).into_decision(None);
        ServiceAction::At(Duration::ZERO, if refused && available { refusal() } else { right })
    }
}
