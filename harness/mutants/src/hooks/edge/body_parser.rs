//! Body parsers of frameworks, followed by the serialisation of the parsed value.

use bytes::Bytes;
use edgeproof_edge::{EdgeAnswer, EdgeRequest};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::json::{Dialect, Json};
use super::pages::{express_page, page, spring_error, text};
use super::state::json_answer;
use crate::mutation::EdgeBehaviour;

/// Limit of `express.json()` and of its texts (bytes).
const EXPRESS_LIMIT: usize = 100 * 1024;
/// Limit of the extractors of axum (bytes).
const AXUM_LIMIT: usize = 2 * 1024 * 1024;

type Parsed = Result<Bytes, Box<EdgeAnswer>>;

/// Body that an edge relays after its framework parsed it. `None`: the behaviour is no body parser.
pub(super) fn parse(behaviour: EdgeBehaviour, request: &EdgeRequest<'_>, body: &Bytes) -> Option<Parsed> {
    use EdgeBehaviour as B;
    let express = |options| express(request, body, &options);
    Some(match behaviour {
        B::ParsesInExpress => {
            express(ExpressOptions { strict: false, limit: usize::MAX, unparsed: Unparsed::Throws })
        }
        B::ParsesInExpressByDefault => {
            express(ExpressOptions { strict: true, limit: EXPRESS_LIMIT, unparsed: Unparsed::Empty })
        }
        B::ParsesInExpress4 => {
            express(ExpressOptions { strict: true, limit: usize::MAX, unparsed: Unparsed::Object })
        }
        B::ParsesWithFetch => fetch(body),
        B::ParsesInAiohttp => aiohttp(body),
        B::ParsesInFastApi => fast_api(request, body),
        B::ParsesInSpring => spring(request, body),
        B::ParsesInGo => go(body),
        B::ParsesInPhp => Ok(php(body)),
        B::ParsesInAxum => axum(request, body),
        B::KeepsContentLength => keeps_length(body),
        _ => return None,
    })
}

struct ExpressOptions {
    /// Refuses JSON that is no object or array.
    strict: bool,
    /// Bytes.
    limit: usize,
    unparsed: Unparsed,
}

/// What an edge relays in place of a body that `express.json()` does not parse, such as one of another content type.
#[derive(Debug, Clone, Copy)]
enum Unparsed {
    /// `{}`, the value of Express 4.
    Object,
    /// Nothing: Express 5 leaves `req.body` undefined, and `fetch` takes that for no body.
    Empty,
    /// Nothing: `request.end(undefined)` throws, and the edge takes that for an unreachable service.
    Throws,
}

/// `express.json()`, then `JSON.stringify(req.body)`.
fn express(request: &EdgeRequest<'_>, body: &Bytes, options: &ExpressOptions) -> Parsed {
    let kind = content_type(request);
    let has_body =
        request.headers.contains_key("content-length") || request.headers.contains_key("transfer-encoding");
    if !has_body || media_type(&kind) != "application/json" {
        return match options.unparsed {
            Unparsed::Object => Ok(Bytes::from_static(b"{}")),
            Unparsed::Empty => Ok(Bytes::new()),
            Unparsed::Throws => Err(Box::new(json_answer(502, r#"{"error":"service_unreachable"}"#))),
        };
    }
    if let Some(charset) = charset(&kind).filter(|charset| !charset.starts_with("utf-")) {
        return logged(415, &format!("UnsupportedMediaTypeError: unsupported charset \"{charset}\""), "");
    }
    if request.headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        return logged(400, "Error: incorrect header check", "");
    }
    if body.len() > options.limit {
        return logged(413, "PayloadTooLargeError: request entity too large", "");
    }
    let decoded = String::from_utf8_lossy(body);
    let text = decoded.strip_prefix('\u{feff}').unwrap_or(&decoded);
    if text.is_empty() {
        return Ok(Bytes::from_static(b"{}"));
    }
    let is_strict = text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with(['{', '[']);
    if let Some(rewritten) = rewritten(text, Dialect::JavaScript).filter(|_| is_strict || !options.strict) {
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
    Err(Box::new(EdgeAnswer { log: Some(log), ..express_page(status, &format!("{error}\n{stack}")) }))
}

/// `JSON.stringify(await request.json())`, as in Next.js, Deno, Bun and Hono.
fn fetch(body: &Bytes) -> Parsed {
    let decoded = String::from_utf8_lossy(body);
    let text = decoded.strip_prefix('\u{feff}').unwrap_or(&decoded);
    let refused = || Box::new(page(500, "<!DOCTYPE html><html><body>Internal Server Error</body></html>"));
    rewritten(text, Dialect::JavaScript).ok_or_else(refused)
}

/// `json=await request.json()` of aiohttp.
fn aiohttp(body: &Bytes) -> Parsed {
    let failed = || Box::new(text(500, "500 Internal Server Error\n\nServer got itself in trouble"));
    python(body).and_then(|text| rewritten(text, Dialect::Python)).ok_or_else(failed)
}

/// A parameter of type `dict` in `FastAPI`, sent with `json=` of httpx.
fn fast_api(request: &EdgeRequest<'_>, body: &Bytes) -> Parsed {
    let invalid = |detail: &'static str| Err(Box::new(json_answer(422, detail)));
    let kind = content_type(request);
    let is_json =
        kind.is_empty() || media_type(&kind) == "application/json" || media_type(&kind).ends_with("+json");
    if body.is_empty() {
        return invalid(
            r#"{"detail":[{"type":"missing","loc":["body"],"msg":"Field required","input":null}]}"#,
        );
    }
    let Ok(decoded) = std::str::from_utf8(body) else {
        return Err(Box::new(json_answer(400, r#"{"detail":"There was an error parsing the body"}"#)));
    };
    let text_of = decoded.strip_prefix('\u{feff}').unwrap_or(decoded);
    let parsed = if is_json { Json::parse(text_of, Dialect::Httpx) } else { Some(Json::Null) };
    match parsed {
        Some(Json::Object(members)) => match Json::Object(members).serialise(Dialect::Httpx) {
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

/// `@RequestBody Map<String, Object>` in Spring.
fn spring(request: &EdgeRequest<'_>, body: &Bytes) -> Parsed {
    let kind = content_type(request);
    if media_type(&kind) != "application/json" && !media_type(&kind).ends_with("+json") {
        return Err(Box::new(spring_error(415)));
    }
    let text = std::str::from_utf8(body).ok();
    let text = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    match text.and_then(|text| Json::parse(text, Dialect::Jackson)) {
        Some(value @ Json::Object(_)) => {
            value.serialise(Dialect::Jackson).map(Bytes::from).ok_or_else(|| Box::new(spring_error(500)))
        }
        _ => Err(Box::new(spring_error(400))),
    }
}

/// `json.Unmarshal` into a `map[string]any` in Go.
fn go(body: &Bytes) -> Parsed {
    let refused = || Box::new(text(400, "invalid character looking for beginning of value\n"));
    match Json::parse(&String::from_utf8_lossy(body), Dialect::Go) {
        Some(value @ (Json::Object(_) | Json::Null)) => {
            value.serialise(Dialect::Go).map(Bytes::from).ok_or_else(refused)
        }
        _ => Err(refused()),
    }
}

/// `json_encode(json_decode($body, true))`: `null` in place of a body that is not JSON.
fn php(body: &Bytes) -> Bytes {
    let text = std::str::from_utf8(body).ok();
    match text.and_then(|text| Json::parse(text, Dialect::Php)) {
        // json_encode returns false for infinity: an empty text.
        Some(value) if !value.has_lone_surrogate() => {
            value.serialise(Dialect::Php).map(Bytes::from).unwrap_or_default()
        }
        _ => Bytes::from_static(b"null"),
    }
}

/// The extractor `Json<Value>` of axum.
fn axum(request: &EdgeRequest<'_>, body: &Bytes) -> Parsed {
    let kind = content_type(request);
    if media_type(&kind) != "application/json" && !media_type(&kind).ends_with("+json") {
        return Err(Box::new(text(415, "Expected request with `Content-Type: application/json`")));
    }
    if body.len() > AXUM_LIMIT {
        return Err(Box::new(text(413, "Failed to buffer the request body: length limit exceeded")));
    }
    let refused = || Box::new(text(400, "Failed to parse the request body as JSON: expected value"));
    let decoded = std::str::from_utf8(body).map_err(|_| refused())?;
    rewritten(decoded, Dialect::Serde).ok_or_else(refused)
}

/// `json=request.get_json(force=True)` of requests, with all headers of the request, so also its `Content-Length`.
fn keeps_length(body: &Bytes) -> Parsed {
    let failed = || Box::new(text(500, "Internal Server Error"));
    let json = python(body).and_then(|text| rewritten(text, Dialect::Python)).ok_or_else(failed)?;
    if json.len() < body.len() {
        // The service waits for the rest.
        return Err(Box::new(json_answer(502, r#"{"error":"service_unreachable"}"#)));
    }
    Ok(json.slice(..body.len()))
}

/// Text that `json.loads` gets. `None`: it raises an error.
fn python(body: &Bytes) -> Option<&str> {
    std::str::from_utf8(body).ok()
}

fn rewritten(text: &str, dialect: Dialect) -> Option<Bytes> {
    Json::parse(text, dialect)?.serialise(dialect).map(Bytes::from)
}

/// Value of `Content-Type` in lower case.
fn content_type(request: &EdgeRequest<'_>) -> String {
    let value = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

fn media_type(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

fn charset(kind: &str) -> Option<&str> {
    Some(kind.split_once("charset=")?.1.split(';').next()?.trim().trim_matches('"'))
}
