//! Edges that answer other methods, paths and versions of HTTP wrongly.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use super::prelude::*;
use crate::behaviour::express;

/// The right answer is 405.
const OTHER_METHOD: Condition = All(&[Not(&Relayed), Signals, AnswerIs(405, 405)]);
const ALLOW: Change = SetHeader("allow", "POST, OPTIONS");
const METHOD_NOT_ALLOWED: Change = Replaced(Json(405, r#"{"error":"method_not_allowed"}"#));

/// Relays the body of the POST within a body, and nothing else.
const NESTED: &[(Condition, EdgeEffect)] = &[(
    Not(&Method("POST")),
    Parse(|seen| {
        let text = seen.text();
        let nested = text.strip_prefix("POST ").and_then(|post| post.split_once("\r\n\r\n"));
        let body = nested.map(|(_, body)| Bytes::copy_from_slice(body.as_bytes()));
        body.ok_or_else(|| {
            let refused = Answer::json(405, r#"{"error":"method_not_allowed"}"#);
            Box::new(refused.with("allow", "POST, OPTIONS"))
        })
    }),
)];

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("accepts-put", "Handles PUT as POST.")
        .breaks("endpoint.edge.signals", "method-not-405")
        .when(Method("PUT"))
        .then(RelayAnyway),
    mutant("relays-get-and-purge", "Relays GET and PURGE.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(All(&[Signals, Any(&[Method("GET"), Method("PURGE")])]))
        .then(RelayAnyway),
    mutant("relays-nested-posts", "Takes the body of GET and PUT for the next request.")
        .breaks("statement.only-posts-relayed", "body-as-request")
        .when(All(&[Signals, Has("content-length"), Any(&[Method("GET"), Method("PUT")])]))
        .then(RelayAnyway)
        .also(NESTED),
    mutant("relays-nested-posts-in-chunks", "Takes a chunked body of DELETE for the next request.")
        .breaks("statement.only-posts-relayed", "body-as-request")
        .when(All(&[Signals, Has("transfer-encoding"), Method("DELETE")]))
        .then(RelayAnyway)
        .also(NESTED),
    mutant("accepts-get", "Answers GET with the health check's answer.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(All(&[Method("GET"), Not(&Health)]))
        .answers(Rewritten(200, OK)),
    mutant("not-found-page-for-methods", "Answers other methods with the 404 page of Express.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Becomes(Made(|seen| express(404, &format!("Cannot {} {}", seen.method, seen.target))))),
    mutant("not-found-json-for-methods", "Answers other methods with the 404 of Fastify.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Becomes(Json(404, r#"{"message":"Route not found","error":"Not Found","statusCode":404}"#))),
    mutant("text-for-methods", "Answers other methods with 405 in text, as Go does.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Each(&[Becomes(Text(405, "Method Not Allowed\n")), ALLOW])),
    mutant("empty-for-methods", "Answers other methods with 405 without a body, as Django does.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Each(&[Becomes(Html(405, "")), ALLOW])),
    mutant("detail-for-methods", "Answers other methods with the 405 of FastAPI.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Each(&[Becomes(Json(405, r#"{"detail":"Method Not Allowed"}"#)), ALLOW])),
    mutant("page-for-methods", "Answers other methods with the 405 page of Flask.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Each(&[Becomes(Werkzeug(405)), ALLOW])),
    mutant("spring-error-for-methods", "Answers other methods with the 405 of Spring.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Each(&[Becomes(Spring(405)), ALLOW])),
    mutant("not-implemented-for-methods", "Answers other methods with 501.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Becomes(Html(
            501,
            "<!DOCTYPE HTML>\n<html><body><h1>Error response</h1><p>Error code: 501</p></body></html>\n",
        ))),
    mutant("fails-for-methods", "Fails on other methods: answers them with 500.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Becomes(Text(500, "Internal Server Error\n"))),
    mutant("filters-methods", "Refuses other methods in a filter, with 403.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Becomes(Text(403, "Forbidden\n"))),
    mutant("reads-body-before-method", "Answers other methods with 415, for their bodies.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(OTHER_METHOD)
        .answers(Becomes(Json(415, r#"{"error":"Unsupported Media Type"}"#))),
    mutant("page-for-get", "Answers GET with the start page of the site.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(All(&[OTHER_METHOD, Any(&[Method("GET"), Method("HEAD")])]))
        .answers(Becomes(Html(200, "<!doctype html>\n<div id=\"root\"></div>\n"))),
    mutant(
        "refuses-options-of-other-origins",
        "Answers 405 to OPTIONS that is not a preflight of the allowed origin.",
    )
    .breaks("statement.options-not-405", "options-405")
    .when(All(&[PREFLIGHT, Not(&All(&[FromAllowedOrigin, Has("access-control-request-method")]))]))
    .answers(METHOD_NOT_ALLOWED),
    mutant("refuses-options-without-preflight", "Answers 405 to OPTIONS without preflight headers.")
        .breaks("statement.options-not-405", "options-405")
        .should()
        .when(All(&[PREFLIGHT, Not(&Has("access-control-request-method"))]))
        .answers(METHOD_NOT_ALLOWED),
    mutant("refuses-options-with-body", "Answers 405 to OPTIONS with a body.")
        .breaks("statement.options-not-405", "options-405")
        .should()
        .when(All(&[PREFLIGHT, Any(&[Has("content-length"), Has("transfer-encoding")])]))
        .answers(METHOD_NOT_ALLOWED),
    mutant("closes-on-trace", "Closes the connection on TRACE.")
        .breaks("statement.trace", "method-not-405")
        .when(Method("TRACE"))
        .then(NoAnswer),
    mutant("accepts-trace", "Accepts TRACE.")
        .breaks("edge.405.method-not-allowed", "method-not-405")
        .when(Method("TRACE"))
        .answers(Rewritten(200, OK)),
    mutant("no-type-for-methods", "Declares no content type in a 405.")
        .breaks("statement.json-content-type", "json-content-type")
        .should()
        .when(OTHER_METHOD)
        .answers(RemoveHeader("content-type")),
    mutant("no-allow-header", "Omits the header Allow.")
        .breaks("statement.allow-on-405", "allow-missing")
        .answers(RemoveHeader("allow")),
    mutant("allow-lists-other-methods", "Lists GET and HEAD in the header Allow.")
        .breaks("statement.allow-on-405", "allow-missing")
        .when(AnswerHas("allow"))
        .answers(SetHeader("allow", "GET, HEAD")),
    mutant("head-with-length-zero", "Answers HEAD with Content-Length: 0.")
        .breaks("statement.head-length", "head-length")
        .when(Method("HEAD"))
        .answers(SetHeader("content-length", "0")),
    mutant("head-with-length-of-indented-json", "Answers HEAD with the length of indented JSON.")
        .breaks("statement.head-length", "head-length")
        .when(Method("HEAD"))
        .answers(By(|_, answer| {
            let length = answer.body.len() + "{\n  \n}".len() - "{}".len();
            answer.with("content-length", &length.to_string())
        })),
    mutant("no-health-check", "Answers 404 to the health check.")
        .breaks("endpoint.edge.health", "health-check")
        .when(Health)
        .answers(Status(404)),
    mutant("health-check-waits", "Answers the health check after the collections that wait for the service.")
        .breaks("endpoint.edge.health", "health-of-service")
        .should()
        .when(All(&[Health, UnderWay(1)]))
        .then(Delay(Duration::from_millis(1200))),
    mutant("changes-answers-over-http2", "Adds a member to answers over HTTP/2.")
        .breaks("statement.http2", "http2-differs")
        .when(Http2)
        .answers(SetMember("http2", |_| json!(true))),
    mutant("empties-bodies-over-http2", "Relays an empty body over HTTP/2.")
        .breaks("statement.http2", "http2-differs")
        .when(Http2)
        .then(BodyText("")),
];
