use edgeproof_edge::{EdgeAnswer, EdgeRequest, RelayResult};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CONTENT_LENGTH, HeaderValue, VARY};
use http::{HeaderMap, Method, StatusCode};

use super::pages::{express_page, nginx_page, page, phrase, spring_error, text, werkzeug_page};
use super::state::{EdgeMutant, json_answer};
use crate::mutation::EdgeBehaviour;

/// What a request comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The service sent no usable answer.
    Unreachable,
    /// The service refused.
    Refused,
    /// The path of the collections exists, but not for this method.
    OtherMethod,
    /// The page's body broke off.
    Broken,
    /// The path does not exist.
    NotFound,
    /// Anything else.
    Other,
}

impl EdgeMutant {
    /// Replaces an answer by one that a framework, a proxy or an HTTP client makes.
    pub(super) fn change_error(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAnswer {
        let (method, path) = (&request.facts.method, request.facts.path.as_str());
        let outcome = match relayed {
            Some(RelayResult::NoAnswer) => Outcome::Unreachable,
            Some(RelayResult::BodyBroken) => Outcome::Broken,
            Some(RelayResult::Answered { status, .. }) if status.as_u16() >= 300 => Outcome::Refused,
            None if path == self.signals_path && right.status == StatusCode::METHOD_NOT_ALLOWED => {
                Outcome::OtherMethod
            }
            None if right.status == StatusCode::NOT_FOUND => Outcome::NotFound,
            _ => Outcome::Other,
        };
        let other = match outcome {
            Outcome::Unreachable => self.unreachable(),
            Outcome::Refused => self.thrown(relayed),
            Outcome::OtherMethod => self.other_method(method, path),
            Outcome::Broken if self.runs_on_node() || self.behaviour == EdgeBehaviour::StackRefusesShort => {
                // The HTTP server itself answers, below all middleware.
                let headers = HeaderMap::new();
                return EdgeAnswer { headers, ..json_answer(400, "") };
            }
            Outcome::NotFound if self.runs_on_node() => {
                let mut answer = express_page(404, &format!("Cannot {method} {path}"));
                answer.headers.insert(CONTENT_LENGTH, HeaderValue::from(answer.body.len()));
                Some(answer)
            }
            Outcome::Broken | Outcome::NotFound | Outcome::Other => None,
        };
        let is_error = right.status.is_client_error() || right.status.is_server_error();
        match (self.behaviour, other) {
            // The server of an ASGI application answers exceptions outside the CORS middleware.
            (EdgeBehaviour::UnreachableServerError | EdgeBehaviour::ThrowsServerError, Some(other)) => other,
            (_, Some(other)) => keep_cors(&right, other),
            (EdgeBehaviour::AnswersStatusText, None) if is_error => {
                let status = right.status.as_u16();
                EdgeAnswer { log: right.log.clone(), ..keep_cors(&right, text(status, phrase(status))) }
            }
            _ => right,
        }
    }

    /// Whether the mutant imitates a whole edge with Express, with the answers that Node.js and Express make themselves.
    fn runs_on_node(&self) -> bool {
        use EdgeBehaviour as B;
        matches!(self.behaviour, B::ParsesInExpress | B::ParsesInExpressByDefault | B::ParsesInExpress4)
    }

    /// Answer while the service is unreachable.
    fn unreachable(&self) -> Option<EdgeAnswer> {
        use EdgeBehaviour as B;
        Some(match self.behaviour {
            B::UnreachableHtml => page(502, "service unreachable"),
            B::UnreachableText => text(502, "service unreachable\n"),
            B::UnreachableProxyPage => nginx_page(502),
            B::UnreachableExpressPage => {
                express_page(500, "TypeError: fetch failed\n    at node:internal/deps/undici/undici:13502:13")
            }
            B::UnreachableServerError => text(500, "Internal Server Error"),
            B::UnreachableSpringError => spring_error(500),
            B::UnreachableIs503 => json_answer(503, r#"{"error":"service_unavailable"}"#),
            B::UnreachableIs504 => json_answer(504, r#"{"error":"gateway_timeout"}"#),
            B::UnreachableMessage => json_answer(502, r#"{"message":"service unreachable"}"#),
            B::UnreachableNest => json_answer(502, r#"{"statusCode":502,"message":"Bad Gateway"}"#),
            B::DebugPage => page(
                500,
                &format!(
                    "<!DOCTYPE html>\n<title>ConnectionError at /v1/signals</title>\n<h2>Settings</h2>\n\
                     <table><tr><td>LICENSE</td><td>{}</td></tr></table>\n",
                    self.license()
                ),
            ),
            _ => return None,
        })
    }

    /// Answer after the HTTP client raised an error because of the service's status.
    fn thrown(&self, relayed: Option<&RelayResult>) -> Option<EdgeAnswer> {
        use EdgeBehaviour as B;
        let Some(RelayResult::Answered { status, .. }) = relayed else { return None };
        let status = status.as_u16();
        Some(match self.behaviour {
            B::ThrowsExpressPage => {
                express_page(500, &format!("AxiosError: Request failed with status code {status}"))
            }
            B::ThrowsServerError => text(500, "Internal Server Error"),
            B::ThrowsSpringError => spring_error(500),
            B::ThrowsUnreachable => json_answer(502, r#"{"error":"service_unreachable"}"#),
            B::ThrowsOn5xx if status >= 500 => json_answer(502, r#"{"error":"service_unreachable"}"#),
            _ => return None,
        })
    }

    /// Answer to a method other than POST and OPTIONS.
    fn other_method(&self, method: &Method, path: &str) -> Option<EdgeAnswer> {
        use EdgeBehaviour as B;
        let allow = |answer: EdgeAnswer| {
            let mut answer = answer;
            answer.headers.insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
            answer
        };
        Some(match self.behaviour {
            B::NotFoundPageForMethods => express_page(404, &format!("Cannot {method} {path}")),
            B::NotFoundJsonForMethods => {
                json_answer(404, r#"{"message":"Route not found","error":"Not Found","statusCode":404}"#)
            }
            B::TextForMethods => allow(text(405, "Method Not Allowed\n")),
            B::EmptyForMethods => allow(page(405, "")),
            B::DetailForMethods => allow(json_answer(405, r#"{"detail":"Method Not Allowed"}"#)),
            B::PageForMethods => allow(werkzeug_page(405)),
            B::SpringErrorForMethods => allow(spring_error(405)),
            B::NotImplementedForMethods => page(
                501,
                "<!DOCTYPE HTML>\n<html><body><h1>Error response</h1><p>Error code: 501</p></body></html>\n",
            ),
            B::PageForGet if matches!(*method, Method::GET | Method::HEAD) => {
                page(200, "<!doctype html>\n<div id=\"root\"></div>\n")
            }
            _ => return None,
        })
    }

    /// Answer to a refused upload that the service did not read to its end.
    pub(super) fn early_refusal(&self, right: &EdgeAnswer) -> EdgeAnswer {
        match self.behaviour {
            EdgeBehaviour::FailsOnEarly => keep_cors(right, express_page(500, "Error: write EPIPE")),
            _ => keep_cors(right, json_answer(502, r#"{"error":"service_unreachable"}"#)),
        }
    }

    /// Grants the allowed origin access to an answer, as a middleware does.
    pub(super) fn grant(&self, request: &EdgeRequest<'_>, answer: &mut EdgeAnswer) {
        let Ok(allowed) = HeaderValue::from_str(&self.allowed_origin) else { return };
        if self.allowed_origin.is_empty() {
            return;
        }
        answer.headers.insert(VARY, HeaderValue::from_static("Origin"));
        if request.facts.origin.as_ref() == Some(&allowed) {
            answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        }
    }
}

/// The other answer with the CORS headers of the right one.
fn keep_cors(right: &EdgeAnswer, other: EdgeAnswer) -> EdgeAnswer {
    let mut answer = other;
    for name in [ACCESS_CONTROL_ALLOW_ORIGIN, VARY] {
        if let Some(value) = right.headers.get(&name) {
            answer.headers.insert(name, value.clone());
        }
    }
    answer
}
