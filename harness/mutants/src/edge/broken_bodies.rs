//! Edges that answer a broken request wrongly, or do not live on after it.

use super::prelude::*;

const BROKE_BEFORE: Condition = Earlier(Same::Part, 1, &Broken);
const INTERNAL: &str = r#"{"error":"internal"}"#;

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("counts-broken-bodies", "Takes broken uploads for requests under way: answers 503 after eight.")
        .breaks("statement.edge-lives-on", "broken-request-harms")
        .when(Earlier(Same::Part, 8, &Broken))
        .then(Refuse(Json(503, r#"{"error":"busy"}"#))),
    mutant("stack-answers-short-body", "Answers 400 in the framework's JSON to a broken body.")
        .breaks("statement.stack-answers", "read-failed-wrong")
        .when(Broken)
        .answers(Replaced(Json(400, r#"{"statusCode":400,"error":"Bad Request","message":"aborted"}"#))),
    mutant(
        "stack-refuses-short-body",
        "Answers 400 without a body to a broken body, as the server of Node.js does.",
    )
    .breaks("statement.stack-answers", "read-failed-wrong")
    .should()
    .when(Broken)
    .answers(BARE_400),
    mutant("hangs-on-short-body", "Never answers a request with a broken body.")
        .breaks("edge.400.read-failed", "read-failed-wrong")
        .when(Broken)
        .then(Silence),
    mutant("fails-on-short-body", "Answers 500 to a broken body.")
        .breaks("edge.400.read-failed", "read-failed-wrong")
        .when(Broken)
        .answers(Rewritten(500, INTERNAL)),
    mutant("stops-on-short-body", "Answers no request after a broken body.")
        .breaks("statement.edge-lives-on", "broken-request-harms")
        .when(Any(&[Broken, BROKE_BEFORE]))
        .then(NoAnswer)
        .also(&[(BROKE_BEFORE, Instead(Json(500, INTERNAL)))]),
    mutant("fails-after-short-body", "Answers 500 to every request after a broken body.")
        .breaks("statement.edge-lives-on", "broken-request-harms")
        .when(BROKE_BEFORE)
        .then(Instead(Json(500, INTERNAL))),
    mutant(
        "stops-on-malformed-escape",
        "Answers 500 to every request after a percent sign without two digits.",
    )
    .breaks("statement.edge-lives-on", "broken-request-harms")
    .when(Earlier(Same::Part, 1, &TargetPart("%zz")))
    .then(Instead(Json(500, INTERNAL))),
    mutant("stops-on-upgrade", "Answers 500 to every request after an upgrade to HTTP/2.")
        .breaks("statement.edge-lives-on", "broken-request-harms")
        .when(Earlier(Same::Part, 1, &Header("upgrade", "h2c")))
        .then(Instead(Json(500, INTERNAL))),
    mutant("stops-on-malformed-request", "Answers no request after a connection with malformed HTTP.")
        .breaks("statement.edge-lives-on", "broken-request-harms")
        .when(SilentConnection)
        .then(NoAnswer),
];
