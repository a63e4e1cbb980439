use http::StatusCode;
use serde_json::json;

use super::answer::Answer;
use super::seen::Seen;

/// An answer that an edge, a service, a framework or a proxy writes itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Page {
    Json(u16, &'static str),
    Html(u16, &'static str),
    Text(u16, &'static str),
    /// Error page of Express, with this message.
    Express(u16, &'static str),
    /// Error page of nginx.
    Nginx(u16),
    /// Error page of Werkzeug, the library under Flask.
    Werkzeug(u16),
    /// Error body of Spring Boot.
    Spring(u16),
    /// Made from the exchange.
    Made(fn(&Seen<'_>) -> Answer),
}

impl Page {
    pub(crate) fn answer(&self, seen: &Seen<'_>) -> Answer {
        match *self {
            Self::Json(status, body) => Answer::json(status, body),
            Self::Html(status, body) => html(status, body),
            Self::Text(status, body) => text(status, body),
            Self::Express(status, message) => express(status, message),
            Self::Nginx(status) => {
                let title = format!("{status} {}", phrase(status));
                html(
                    status,
                    &format!(
                        "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n\
                         <hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
                    ),
                )
            }
            Self::Werkzeug(status) => {
                let phrase = phrase(status);
                html(
                    status,
                    &format!(
                        "<!doctype html>\n<html lang=en>\n<title>{status} {phrase}</title>\n<h1>{phrase}</h1>\n\
                         <p>The method is not allowed for the requested URL.</p>\n"
                    ),
                )
            }
            Self::Spring(status) => spring(status),
            Self::Made(make) => make(seen),
        }
    }
}

/// HTML page.
pub(crate) fn html(status: u16, body: &str) -> Answer {
    Answer::of_type("text/html; charset=utf-8", status, body.to_owned())
}

/// Plain text.
pub(crate) fn text(status: u16, body: &str) -> Answer {
    Answer::of_type("text/plain; charset=utf-8", status, body.to_owned())
}

/// Error page of Express.
pub(crate) fn express(status: u16, message: &str) -> Answer {
    let message = message.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    html(
        status,
        &format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n\
             <pre>{message}</pre>\n</body>\n</html>\n"
        ),
    )
}

/// Error body of Spring Boot.
pub(crate) fn spring(status: u16) -> Answer {
    let body = json!({
        "timestamp": "2025-03-14T09:26:53.589+00:00",
        "status": status,
        "error": phrase(status),
        "path": "/v1/signals",
    });
    Answer::json(status, body.to_string())
}

/// Reason phrase of a status.
pub(crate) fn phrase(status: u16) -> &'static str {
    StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error")
}
