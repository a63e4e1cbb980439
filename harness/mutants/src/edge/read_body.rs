//! Edges that read the body as text, misread its framing, or judge its content type, its JSON or its size.

use super::prelude::*;

const INVALID_JSON: EdgeEffect = Refuse(Json(400, r#"{"error":"invalid_json"}"#));
const TOO_LARGE: EdgeEffect = Refuse(Json(413, r#"{"error":"payload_too_large"}"#));
const FASTIFY_TOO_LARGE: &str = r#"{"statusCode":413,"code":"FST_ERR_CTP_BODY_TOO_LARGE","error":"Payload Too Large","message":"Request body is too large"}"#;
const IS_JSON: Condition = Header("content-type", "application/json");

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("never-continues", "Reads a body without the interim answer that the client waits for.")
        .breaks("statement.messages-tidy", "request-framing")
        .should()
        .then(NoContinue),
    mutant("reads-text", "Reads the body as text, without its byte order mark.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| {
            let text = String::from_utf8_lossy(body);
            text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned().into()
        })),
    mutant("reads-text-strictly", "Answers 500 to a body that is no UTF-8 text.")
        .breaks("statement.body-unchanged", "body-as-text")
        .when(Not(&BodyIsUtf8))
        .then(Refuse(Text(500, "Internal Server Error"))),
    mutant("reads-latin-1", "Reads the body as Latin-1 and relays UTF-8.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| body.iter().map(|byte| char::from(*byte)).collect::<String>().into())),
    mutant("counts-characters", "Sends the number of characters as Content-Length.")
        .breaks("statement.body-unchanged", "body-as-text")
        .then(Body(|body| {
            let text = String::from_utf8_lossy(body);
            text.as_bytes()[..text.encode_utf16().count()].to_vec()
        })),
    mutant("drops-chunked-body", "Relays an empty body in place of a chunked one.")
        .breaks("statement.body-unchanged", "request-framing")
        .also_late()
        .when(Has("transfer-encoding"))
        .then(BodyText("")),
    mutant("refuses-chunked-body", "Answers 411 to a chunked body.")
        .breaks("statement.body-unchanged", "request-framing")
        .when(All(&[Collection, Has("transfer-encoding")]))
        .then(Instead(Text(411, "Length Required\n"))),
    mutant("refuses-expect", "Answers 417 to Expect: 100-continue.")
        .breaks("statement.body-unchanged", "request-framing")
        .when(Has("expect"))
        .then(Instead(Json(417, "{}"))),
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
