//! Edges that judge the body: its content type, its JSON, its size.

use super::prelude::*;

const INVALID_JSON: EdgeEffect = Refuse(Json(400, r#"{"error":"invalid_json"}"#));
const TOO_LARGE: EdgeEffect = Refuse(Json(413, r#"{"error":"payload_too_large"}"#));
const FASTIFY_TOO_LARGE: &str = r#"{"statusCode":413,"code":"FST_ERR_CTP_BODY_TOO_LARGE","error":"Payload Too Large","message":"Request body is too large"}"#;
const IS_JSON: Condition = Header("content-type", "application/json");

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("parses-by-content-type", "Relays {} unless the content type is JSON.")
        .breaks("statement.body-unchanged", "content-type-judged")
        .when(Not(&IS_JSON))
        .then(BodyText("{}")),
    mutant("refuses-not-json", "Refuses a body that is not JSON.")
        .breaks("statement.body-not-judged", "body-validated")
        .when(Not(&BodyIsJson))
        .then(INVALID_JSON),
    mutant("refuses-not-object", "Refuses JSON that is not an object.")
        .breaks("statement.body-not-judged", "body-validated")
        .when(All(&[BodyIsJson, Not(&BodyIsObject)]))
        .then(INVALID_JSON),
    mutant("refuses-empty-object", "Refuses an empty object.")
        .breaks("statement.body-not-judged", "body-validated")
        .when(BodyIsEmptyObject)
        .then(INVALID_JSON),
    mutant("refuses-other-content-types", "Refuses content types other than JSON.")
        .breaks("statement.body-unchanged", "content-type-judged")
        .when(Not(&IS_JSON))
        .then(Refuse(Json(415, r#"{"error":"unsupported_media_type"}"#))),
    mutant("limits-to-10k", "Refuses bodies over 10 KiB.")
        .breaks("statement.body-unchanged", "body-limit")
        .when(BodyOver(10 * 1024))
        .then(TOO_LARGE),
    mutant("limits-to-100k", "Refuses bodies over 100 KiB.")
        .breaks("statement.body-large", "body-limit")
        .when(BodyOver(100 * 1024))
        .then(TOO_LARGE),
    mutant("limits-to-512k", "Refuses bodies over 512 KiB.")
        .breaks("statement.body-large", "body-limit")
        .when(BodyOver(512 * 1024))
        .then(TOO_LARGE),
    mutant("limits-in-express", "Refuses bodies over 100 KiB with the page of Express.")
        .breaks("statement.body-large", "body-limit")
        .when(BodyOver(100 * 1024))
        .then(Refuse(Express(413, "PayloadTooLargeError: request entity too large"))),
    mutant("limits-in-aiohttp", "Refuses bodies over 512 KiB in text.")
        .breaks("statement.body-large", "body-limit")
        .when(BodyOver(512 * 1024))
        .then(Refuse(Text(413, "Maximum request body size 524288 exceeded"))),
    mutant("limits-in-proxy", "Refuses bodies over 512 KiB with the page of nginx.")
        .breaks("statement.body-large", "body-limit")
        .when(BodyOver(512 * 1024))
        .then(Refuse(Nginx(413))),
    mutant("limits-in-fastify", "Refuses bodies over 512 KiB with the JSON of Fastify.")
        .breaks("statement.body-large", "body-limit")
        .when(BodyOver(512 * 1024))
        .then(Refuse(Json(413, FASTIFY_TOO_LARGE))),
];
