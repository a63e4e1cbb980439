//! Edges that give all requests the same answer.

use super::prelude::*;

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("refuses-all-requests", "Refuses all requests without relaying.")
        .breaks("edge.200.accepted", "refuses-all")
        .late_breaks("statement.edge-lives-on")
        .then(Instead(Json(403, r#"{"error":"service_rejected","reason":"edge_refuses","status":403}"#))),
    mutant("has-another-route", "Has no route for collections: answers them with 404.")
        .breaks("edge.200.accepted", "refuses-all")
        .when(Collection)
        .then(Instead(Json(404, r#"{"error":"not_found"}"#))),
    mutant("routes-no-post", "Has a route without POST: answers collections with 405.")
        .breaks("edge.200.accepted", "refuses-all")
        .when(Collection)
        .then(Instead(Json(405, r#"{"error":"method_not_allowed"}"#))),
    mutant("redirects-collections", "Redirects collections to a path with a slash.")
        .breaks("edge.200.accepted", "request-form")
        .when(Collection)
        .then(Instead(Made(|seen| {
            Answer::json(308, "").without("content-type").with("location", &format!("{}/", seen.target))
        }))),
    mutant("limits-fields", "Answers 431 to a collection with forty header fields.")
        .breaks("statement.body-unchanged", "request-form")
        .when(All(&[Collection, Fields(40)]))
        .then(Instead(Made(|_| Answer::json(431, "").without("content-type")))),
    mutant("fails-on-trace-field", "Answers 500 to a collection with a trace in the form of Zipkin.")
        .breaks("statement.body-unchanged", "request-form")
        .when(All(&[Collection, Has("x-b3-traceid")]))
        .then(Instead(Json(500, r#"{"error":"internal"}"#))),
    mutant("requires-websocket", "Answers 426 to each offer of another protocol.")
        .breaks("statement.body-unchanged", "request-form")
        .should()
        .when(All(&[Collection, Has("upgrade")]))
        .then(Instead(Made(|_| Answer::json(426, "").without("content-type")))),
    mutant("accepts-all-collections", "Accepts all collections and ignores the answer of the service.")
        .breaks("edge.refused", "accepted-without-service")
        .when(Relayed)
        .answers(Rewritten(200, OK)),
];
