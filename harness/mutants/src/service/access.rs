//! Services that grant access without a token, or answer by other headers of the request.

use edgeproof_fixtures::credentials::READ_PREFIX;

use super::prelude::*;

const WITHOUT_TOKEN: Condition = All(&[VERDICT, Not(&Has("authorization"))]);
const FIND_PENDING: ServiceEffect = Instead(Made(|seen| pending(seen.reference)));

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    mutant("accepts-token-in-query", "Accepts a token in the query.")
        .breaks("verdict.401.unauthorized", "token-header-loose")
        .when(All(&[WITHOUT_TOKEN, TargetPart("token=service_read_")]))
        .then(FIND_PENDING),
    mutant("accepts-token-in-other-header", "Accepts a token in another header.")
        .breaks("verdict.401.unauthorized", "token-header-loose")
        .when(All(&[
            WITHOUT_TOKEN,
            Any(&[HeaderPart("x-api-key", READ_PREFIX), HeaderPart("cookie", READ_PREFIX)]),
        ]))
        .then(FIND_PENDING),
    mutant("accepts-prefix-in-capitals", "Accepts the prefix in capitals.")
        .breaks("verdict.401.unauthorized", "token-header-loose")
        .then(Authorization(|value| match value.split_once(' ') {
            Some((_, token)) if token.len() > READ_PREFIX.len() && token.is_ascii() => {
                let (prefix, rest) = token.split_at(READ_PREFIX.len());
                format!("Bearer {}{rest}", prefix.to_lowercase())
            }
            _ => value.to_owned(),
        })),
    mutant("accepts-extended-token", "Accepts a token with another part at its end.")
        .breaks("verdict.401.malformed-token", "token-signature-unchecked")
        .then(Authorization(|value| value.split('.').take(4).collect::<Vec<_>>().join("."))),
    mutant("trusts-localhost", "Accepts requests that were forwarded for localhost without a token.")
        .breaks("verdict.401.unauthorized", "access-without-token")
        .when(All(&[WITHOUT_TOKEN, Header("x-forwarded-for", "127.0.0.1")]))
        .then(FIND_PENDING),
    mutant(
        "remembers-token-of-connection",
        "Accepts requests without a token on a connection that sent one.",
    )
    .breaks("verdict.401.unauthorized", "access-without-token")
    .when(All(&[WITHOUT_TOKEN, Earlier(Same::Connection, 1, &ACCEPTED)]))
    .then(FIND_PENDING),
    mutant("answers-head-without-token", "Answers HEAD without a token.")
        .breaks("statement.no-oracle", "access-without-token")
        .when(All(&[VERDICT, Method("HEAD")]))
        .then(Instead(Json(200, "{}"))),
    mutant("not-modified-without-verdict", "Answers 304 to conditional requests without a verdict.")
        .breaks("verdict.404.pending", "verdict-conditional")
        .when(All(&[ACCEPTED, Has("if-none-match")]))
        .answers(Each(&[Status(304), Content("")])),
    mutant("evaluates-conditions-first", "Answers 304 without a token to who has the verdict.")
        .breaks("statement.no-oracle", "access-without-token")
        .when(All(&[WITHOUT_TOKEN, Has("if-none-match"), Earlier(Same::Target, 1, &AVAILABLE)]))
        .then(Instead(Json(304, ""))),
    mutant("refuses-upgrades", "Answers 400 to requests that offer another protocol.")
        .breaks("verdict.404.pending", "verdict-unanswered")
        .should()
        .when(All(&[VERDICT, Has("upgrade")]))
        .answers(Rewritten(400, r#"{"error":"upgrade"}"#)),
    mutant("refuses-range", "Answers 416 to requests with a range.")
        .breaks("verdict.404.pending", "verdict-conditional")
        .when(All(&[VERDICT, Has("range")]))
        .then(Instead(Json(416, r#"{"error":"range"}"#))),
    mutant("html-refusals-for-browsers", "Answers refusals in HTML to clients that accept it.")
        .breaks("statement.error-bodies-json", "verdict-errors-not-json")
        .when(All(&[REFUSED, HeaderPart("accept", "text/html")]))
        .answers(Typed("text/html", "<!doctype html><title>401</title>")),
];
