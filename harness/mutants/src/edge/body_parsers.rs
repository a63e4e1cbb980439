//! Edges whose framework parses the body, and that serialise the parsed value.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::json::{Dialect, Json};
use super::prelude::*;
use crate::behaviour::{Seen, express, html, spring, text};

/// Limit of `express.json()` and of its texts (bytes).
const EXPRESS_LIMIT: usize = 100 * 1024;
/// Limit of the extractors of axum (bytes).
const AXUM_LIMIT: usize = 2 * 1024 * 1024;

/// The answers that Node.js and Express make themselves.
const ON_NODE: &[(Condition, EdgeEffect)] = &[
    (Broken, Answering(BARE_400)),
    (
        All(&[Not(&Relayed), AnswerIs(404, 404)]),
        Answering(Becomes(Made(|seen| {
            let page = express(404, &format!("Cannot {} {}", seen.method, seen.target));
            let length = page.body.len().to_string();
            page.with("content-length", &length)
        }))),
    ),
];

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant(
        "parses-in-express",
        "Parses the body with express.json() of Express 5, with a raised limit and without strict.",
    )
    .breaks("statement.body-unchanged", "body-parsed")
    .then(Parse(|seen| parsed_by_express(seen, false, usize::MAX, Unparsed::Throws)))
    .also(ON_NODE),
    mutant(
        "parses-in-express-by-default",
        "Parses the body with express.json() of Express 5 and its defaults.",
    )
    .breaks("statement.body-unchanged", "body-parsed")
    .then(Parse(|seen| parsed_by_express(seen, true, EXPRESS_LIMIT, Unparsed::Empty)))
    .also(ON_NODE),
    mutant(
        "parses-in-express-4",
        "Parses the body with express.json() of Express 4, which leaves {} for other content types.",
    )
    .breaks("statement.body-unchanged", "body-parsed")
    .then(Parse(|seen| parsed_by_express(seen, true, usize::MAX, Unparsed::Object)))
    .also(ON_NODE),
    // `JSON.stringify(await request.json())`, as in Next.js, Deno, Bun and Hono.
    mutant("parses-with-fetch", "Parses the body with request.json(), as in Next.js.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(|seen| {
            let (text, body) =
                (seen.text(), "<!DOCTYPE html><html><body>Internal Server Error</body></html>");
            rewritten(without_mark(&text), Dialect::JavaScript).ok_or_else(|| Box::new(html(500, body)))
        })),
    // `json=await request.json()`.
    mutant("parses-in-aiohttp", "Parses the body with request.json() of aiohttp.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(|seen| {
            let failed = || Box::new(text(500, "500 Internal Server Error\n\nServer got itself in trouble"));
            utf8(seen).and_then(|text| rewritten(text, Dialect::Python)).ok_or_else(failed)
        })),
    // Sent with `json=` of httpx.
    mutant("parses-in-fastapi", "Takes the body as a dict parameter of FastAPI.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(parsed_by_fast_api)),
    // `@RequestBody Map<String, Object>`.
    mutant("parses-in-spring", "Takes the body as a Map of Spring.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(|seen| {
            if !is_json(seen) {
                return Err(Box::new(spring(415)));
            }
            match utf8(seen).and_then(|text| Json::parse(without_mark(text), Dialect::Jackson)) {
                Some(value @ Json::Object(_)) => {
                    value.serialise(Dialect::Jackson).map(Bytes::from).ok_or_else(|| Box::new(spring(500)))
                }
                _ => Err(Box::new(spring(400))),
            }
        })),
    // `json.Unmarshal` into a `map[string]any`.
    mutant("parses-in-go", "Decodes the body into a map of Go.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(|seen| {
            let refused = || Box::new(text(400, "invalid character looking for beginning of value\n"));
            match Json::parse(&seen.text(), Dialect::Go) {
                Some(value @ (Json::Object(_) | Json::Null)) => {
                    value.serialise(Dialect::Go).map(Bytes::from).ok_or_else(refused)
                }
                _ => Err(refused()),
            }
        })),
    // `json_encode(json_decode($body, true))`: `null` in place of a body that is not JSON.
    mutant("parses-in-php", "Decodes and encodes the body with PHP.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(|seen| {
            Ok(match utf8(seen).and_then(|text| Json::parse(text, Dialect::Php)) {
                // json_encode returns false for infinity: an empty text.
                Some(value) if !value.has_lone_surrogate() => {
                    value.serialise(Dialect::Php).map(Bytes::from).unwrap_or_default()
                }
                _ => Bytes::from_static(b"null"),
            })
        })),
    // The extractor `Json<Value>`.
    mutant("parses-in-axum", "Takes the body as Json of axum.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(|seen| {
            if !is_json(seen) {
                return Err(Box::new(text(415, "Expected request with `Content-Type: application/json`")));
            }
            if seen.body.is_some_and(|body| body.len() > AXUM_LIMIT) {
                return Err(Box::new(text(413, "Failed to buffer the request body: length limit exceeded")));
            }
            let refused = || Box::new(text(400, "Failed to parse the request body as JSON: expected value"));
            utf8(seen).and_then(|text| rewritten(text, Dialect::Serde)).ok_or_else(refused)
        })),
    // `json=request.get_json(force=True)` of requests, with all headers of the request.
    mutant("keeps-content-length", "Serialises the body again and keeps its Content-Length.")
        .breaks("statement.body-unchanged", "body-parsed")
        .then(Parse(|seen| {
            let failed = || Box::new(text(500, "Internal Server Error"));
            let json = utf8(seen).and_then(|text| rewritten(text, Dialect::Python)).ok_or_else(failed)?;
            let length = seen.body.map_or(0, Bytes::len);
            // Of a shorter body, the service waits for the rest.
            if json.len() < length { Err(unreachable()) } else { Ok(json.slice(..length)) }
        })),
];

type Parsed = Result<Bytes, Box<Answer>>;

/// What is relayed in place of a body that `express.json()` does not parse, such as one of another type.
#[derive(Debug, Clone, Copy)]
enum Unparsed {
    /// `{}`, the value of Express 4.
    Object,
    /// Nothing: Express 5 leaves `req.body` undefined, and `fetch` takes that for no body.
    Empty,
    /// Nothing: `request.end(undefined)` throws, and the edge takes that for an unreachable service.
    Throws,
}

/// `express.json()`, then `JSON.stringify(req.body)`. `strict`: it refuses JSON that is no object or array.
/// `limit` (bytes).
fn parsed_by_express(seen: &Seen<'_>, strict: bool, limit: usize, unparsed: Unparsed) -> Parsed {
    let kind = content_type(seen);
    let has_body =
        seen.headers.contains_key("content-length") || seen.headers.contains_key("transfer-encoding");
    if !has_body || media_type(&kind) != "application/json" {
        return match unparsed {
            Unparsed::Object => Ok(Bytes::from_static(b"{}")),
            Unparsed::Empty => Ok(Bytes::new()),
            Unparsed::Throws => Err(unreachable()),
        };
    }
    if let Some(charset) = charset(&kind).filter(|charset| !charset.starts_with("utf-")) {
        return logged(415, &format!("UnsupportedMediaTypeError: unsupported charset \"{charset}\""), "");
    }
    if seen.headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        return logged(400, "Error: incorrect header check", "");
    }
    if seen.body.is_some_and(|body| body.len() > limit) {
        return logged(413, "PayloadTooLargeError: request entity too large", "");
    }
    let decoded = seen.text();
    let text = without_mark(&decoded);
    if text.is_empty() {
        return Ok(Bytes::from_static(b"{}"));
    }
    let is_strict = text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with(['{', '[']);
    if let Some(rewritten) = rewritten(text, Dialect::JavaScript).filter(|_| is_strict || !strict) {
        return Ok(rewritten);
    }
    let start: String = text.chars().take(10).collect();
    logged(400, &format!("SyntaxError: Unexpected token in JSON, \"{start}\"... is not valid JSON"), text)
}

/// Page of Express, and its log of the error, with the text that it could not parse.
fn logged(status: u16, error: &str, text: &str) -> Parsed {
    let stack =
        "    at JSON.parse (<anonymous>)\n    at parse (node_modules/body-parser/lib/types/json.js:92:19)";
    let log = if text.is_empty() {
        format!("{error}\n{stack}")
    } else {
        format!(
            "{error}\n{stack} {{\n  expose: true,\n  statusCode: {status},\n  status: {status},\n  body: '{text}',\n  type: 'entity.parse.failed'\n}}"
        )
    };
    Err(Box::new(Answer { log: Some(log), ..express(status, &format!("{error}\n{stack}")) }))
}

fn parsed_by_fast_api(seen: &Seen<'_>) -> Parsed {
    let invalid = |detail: &'static str| Err(Box::new(Answer::json(422, detail)));
    if seen.body.is_none_or(Bytes::is_empty) {
        return invalid(
            r#"{"detail":[{"type":"missing","loc":["body"],"msg":"Field required","input":null}]}"#,
        );
    }
    let Some(text_of) = utf8(seen) else {
        return Err(Box::new(Answer::json(400, r#"{"detail":"There was an error parsing the body"}"#)));
    };
    let is_json = content_type(seen).is_empty() || is_json(seen);
    let parsed = if is_json { Json::parse(without_mark(text_of), Dialect::Httpx) } else { Some(Json::Null) };
    match parsed {
        Some(value @ Json::Object(_)) => match value.serialise(Dialect::Httpx) {
            Some(json) => Ok(Bytes::from(json)),
            None => Err(Box::new(text(500, "Internal Server Error"))),
        },
        Some(_) => invalid(
            r#"{"detail":[{"type":"dict_type","loc":["body"],"msg":"Input should be a valid dictionary"}]}"#,
        ),
        None => invalid(
            r#"{"detail":[{"type":"json_invalid","loc":["body",0],"msg":"JSON decode error","input":{},"ctx":{"error":"Expecting value"}}]}"#,
        ),
    }
}

fn unreachable() -> Box<Answer> {
    Box::new(Answer::json(502, SERVICE_UNREACHABLE))
}

fn rewritten(text: &str, dialect: Dialect) -> Option<Bytes> {
    Json::parse(text, dialect)?.serialise(dialect).map(Bytes::from)
}

/// Body as text, if it is one.
fn utf8<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    std::str::from_utf8(seen.body?).ok()
}

/// A text without its byte order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Value of `Content-Type` in lower case.
fn content_type(seen: &Seen<'_>) -> String {
    let value = seen.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

fn is_json(seen: &Seen<'_>) -> bool {
    let kind = content_type(seen);
    media_type(&kind) == "application/json" || media_type(&kind).ends_with("+json")
}

fn media_type(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

fn charset(kind: &str) -> Option<&str> {
    Some(kind.split_once("charset=")?.1.split(';').next()?.trim().trim_matches('"'))
}
