//! Error answers that frameworks and proxies write themselves.

use bytes::Bytes;
use edgeproof_edge::EdgeAnswer;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::json;

use super::state::json_answer;

/// Error page of Express.
pub(super) fn express_page(status: u16, message: &str) -> EdgeAnswer {
    let message = message.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    page(
        status,
        &format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n\
             <pre>{message}</pre>\n</body>\n</html>\n"
        ),
    )
}

/// Error page of nginx.
pub(super) fn nginx_page(status: u16) -> EdgeAnswer {
    let title = format!("{status} {}", phrase(status));
    page(
        status,
        &format!(
            "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n\
             <hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
        ),
    )
}

/// Error page of Werkzeug, the library under Flask.
pub(super) fn werkzeug_page(status: u16) -> EdgeAnswer {
    let phrase = phrase(status);
    page(
        status,
        &format!(
            "<!doctype html>\n<html lang=en>\n<title>{status} {phrase}</title>\n<h1>{phrase}</h1>\n\
             <p>The method is not allowed for the requested URL.</p>\n"
        ),
    )
}

/// Error body of Spring Boot.
pub(super) fn spring_error(status: u16) -> EdgeAnswer {
    let body = json!({
        "timestamp": "2025-03-14T09:26:53.589+00:00",
        "status": status,
        "error": phrase(status),
        "path": "/v1/signals",
    });
    EdgeAnswer { body: Bytes::from(body.to_string()), ..json_answer(status, "") }
}

/// HTML page.
pub(super) fn page(status: u16, html: &str) -> EdgeAnswer {
    of_type("text/html; charset=utf-8", status, html)
}

/// Answer in plain text.
pub(super) fn text(status: u16, text: &str) -> EdgeAnswer {
    of_type("text/plain; charset=utf-8", status, text)
}

/// Reason phrase of a status.
pub(super) fn phrase(status: u16) -> &'static str {
    StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error")
}

fn of_type(kind: &'static str, status: u16, body: &str) -> EdgeAnswer {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
    let body = Bytes::copy_from_slice(body.as_bytes());
    EdgeAnswer { headers, body, ..json_answer(status, "") }
}
