use std::sync::atomic::Ordering;

use bytes::Bytes;
use edgeproof_edge::{EdgeAnswer, EdgeRequest, RelayResult};
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode, Version};
use serde_json::{Value, json};

use super::state::{EdgeMutant, json_answer};
use crate::mutation::{EdgeBehaviour, edit_object};

/// Smallest large collection (bytes).
const LARGE: usize = 256 * 1024;

impl EdgeMutant {
    /// Changes the answer to the page.
    pub(super) fn change_answer(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAnswer {
        use EdgeBehaviour as B;
        let mut answer = right;
        let (method, path) = (&request.facts.method, request.facts.path.as_str());
        let (status, reply) = match relayed {
            Some(RelayResult::Answered { status, body }) => {
                (status.as_u16(), body.clone().unwrap_or_default())
            }
            Some(_) | None => (0, Bytes::new()),
        };
        let refused = status >= 300;
        let reason = reason(&answer);
        let health = path == self.health_path;
        let unreachable = || EdgeAnswer {
            log: None,
            ..with_headers(&answer, json_answer(502, r#"{"error":"service_unreachable"}"#))
        };
        match self.behaviour {
            B::Hides5xx if status >= 500 => return unreachable(),
            B::ReportsUnreachable if refused && reason.as_deref() == Some("unknown") => return unreachable(),
            B::LosesEarly | B::FailsOnEarly
                if refused && request.body.as_ref().is_some_and(|body| body.len() > LARGE) =>
            {
                return self.early_refusal(&answer);
            }
            B::HidesRetry if relayed.is_some() && self.broken.swap(false, Ordering::Relaxed) => {
                return unreachable();
            }
            B::FailsAfterFailure if relayed.is_some() && self.remembers(relayed) => return unreachable(),
            B::HidesUnlistedStatus if refused && !self.codes.has_status(status) => {
                answer.status = StatusCode::INTERNAL_SERVER_ERROR;
            }
            B::HidesUnlistedReason
                if reason.as_deref().is_some_and(|reason| !self.codes.has_reason(reason)) =>
            {
                edit_object(&mut answer.body, |body| drop(body.insert("reason".into(), json!("unknown"))));
            }
            B::FirstStatus | B::LastStatus => {
                let mut statuses = self.codes.statuses(reason.as_deref().unwrap_or_default());
                let first = self.behaviour == B::FirstStatus;
                let Some(status) = (if first { statuses.next() } else { statuses.next_back() }) else {
                    return answer;
                };
                answer.status = StatusCode::from_u16(status).unwrap_or_default();
                edit_object(&mut answer.body, |body| drop(body.insert("status".into(), json!(status))));
            }
            B::PassesBody if refused => answer.body = reply,
            B::PassesBodyAsPage if refused => {
                answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
                answer.body = reply;
            }
            B::PassesText if refused && reason.as_deref() == Some("unknown") => {
                let given = reason_value(&reply).filter(Value::is_string);
                let text = given.unwrap_or_else(|| json!(String::from_utf8_lossy(&reply)));
                edit_object(&mut answer.body, |body| drop(body.insert("reason".into(), text)));
            }
            B::BreaksReason if refused && reason.as_deref() == Some("unknown") => {
                let text = String::from_utf8_lossy(&reply).into_owned() + "\n";
                edit_object(&mut answer.body, |body| drop(body.insert("reason".into(), json!(text))));
            }
            B::PassesValues if refused && reason.as_deref() == Some("unknown") => {
                if let Some(given) = reason_value(&reply).filter(|given| !given.is_string()) {
                    edit_object(&mut answer.body, |body| drop(body.insert("reason".into(), given)));
                }
            }
            B::ErrorPages if answer.status.is_client_error() || answer.status.is_server_error() => {
                answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
                answer.body = Bytes::from_static(b"<html><body><h1>Error</h1></body></html>");
            }
            B::StripsSuffix if refused => edit_object(&mut answer.body, |body| {
                if let Some(Value::String(reason)) = body.get_mut("reason") {
                    reason.truncate(reason.find(':').unwrap_or(reason.len()));
                }
            }),
            B::PassesSuccess if (200..300).contains(&status) => {
                answer.status = StatusCode::from_u16(status).unwrap_or_default();
            }
            B::AcceptsAll if relayed.is_some() => {
                return with_headers(&answer, json_answer(200, r#"{"ok":true}"#));
            }
            B::AcceptsGet if method == Method::GET && !health => {
                return with_headers(&answer, json_answer(200, r#"{"ok":true}"#));
            }
            B::AcceptsTrace if method == Method::TRACE => {
                return with_headers(&answer, json_answer(200, r#"{"ok":true}"#));
            }
            B::RefusesOtherOptions if method == Method::OPTIONS && !self.is_from_page(request) => {
                return json_answer(405, r#"{"error":"method_not_allowed"}"#);
            }
            B::RefusesPlainOptions
                if method == Method::OPTIONS
                    && !request.headers.contains_key(http::header::ACCESS_CONTROL_REQUEST_METHOD) =>
            {
                return json_answer(405, r#"{"error":"method_not_allowed"}"#);
            }
            B::RefusesOptionsWithBody if method == Method::OPTIONS && has_body(request) => {
                return json_answer(405, r#"{"error":"method_not_allowed"}"#);
            }
            B::RelaysPreflight if method == Method::OPTIONS => {
                answer = EdgeAnswer { status: StatusCode::NO_CONTENT, body: Bytes::new(), ..answer };
                answer.headers.insert(
                    http::header::ACCESS_CONTROL_ALLOW_HEADERS,
                    HeaderValue::from_static("content-type"),
                );
            }
            B::HeadWithoutLength if method == Method::HEAD => {
                answer.headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
            }
            B::HeadIndented if method == Method::HEAD => {
                let length = answer.body.len() + "{\n  \n}".len() - "{}".len();
                answer.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
            }
            B::AllowsOthers if answer.headers.contains_key(ALLOW) => {
                answer.headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            B::NoAllow => drop(answer.headers.remove(ALLOW)),
            B::NoHealth if health => answer.status = StatusCode::NOT_FOUND,
            B::ChangesOverHttp2 if request.version == Version::HTTP_2 => {
                edit_object(&mut answer.body, |body| drop(body.insert("http2".into(), json!(true))));
            }
            B::StackAnswersShort if relayed == Some(&RelayResult::BodyBroken) => {
                return json_answer(400, r#"{"statusCode":400,"error":"Bad Request","message":"aborted"}"#);
            }
            B::FailsOnShort if relayed == Some(&RelayResult::BodyBroken) => {
                return with_headers(&answer, json_answer(500, r#"{"error":"internal"}"#));
            }
            _ => {}
        }
        self.leak(request, relayed, &mut answer);
        answer
    }

    /// Puts a secret into the answer.
    fn leak(&self, request: &EdgeRequest<'_>, relayed: Option<&RelayResult>, answer: &mut EdgeAnswer) {
        use EdgeBehaviour as B;
        let preflight = request.facts.method == Method::OPTIONS;
        let health = request.facts.path == self.health_path;
        let in_header = match self.behaviour {
            B::LeaksInHeader => !preflight && !health,
            B::LeaksInPreflight => preflight,
            _ => false,
        };
        if let Some(license) = self.license.as_ref().filter(|_| in_header) {
            answer.headers.insert("x-license", license.clone());
        }
        let in_body = match self.behaviour {
            B::LeaksInError if !answer.status.is_success() => self.license(),
            B::LeaksInHealth if health => self.license(),
            B::LeaksKey if relayed == Some(&RelayResult::NoAnswer) => &self.key,
            _ => return,
        };
        edit_object(&mut answer.body, |body| drop(body.insert("debug".into(), json!(in_body))));
    }

    /// Whether the service was unreachable, now or before.
    fn remembers(&self, relayed: Option<&RelayResult>) -> bool {
        self.broken.fetch_or(relayed == Some(&RelayResult::NoAnswer), Ordering::Relaxed)
            || relayed == Some(&RelayResult::NoAnswer)
    }

    fn is_from_page(&self, request: &EdgeRequest<'_>) -> bool {
        request.facts.origin.as_ref().is_some_and(|origin| origin == self.allowed_origin.as_str())
            && request.headers.contains_key("access-control-request-method")
    }
}

/// Replaces status and body, and keeps headers and log line.
fn with_headers(right: &EdgeAnswer, other: EdgeAnswer) -> EdgeAnswer {
    let mut headers = right.headers.clone();
    headers.extend(other.headers);
    EdgeAnswer { headers, log: right.log.clone(), ..other }
}

fn reason(answer: &EdgeAnswer) -> Option<String> {
    let body: Value = serde_json::from_slice(&answer.body).ok()?;
    body.get("reason")?.as_str().map(str::to_owned)
}

/// Value of the member `reason`.
fn reason_value(reply: &[u8]) -> Option<Value> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    reply.get("reason").cloned()
}

fn has_body(request: &EdgeRequest<'_>) -> bool {
    request.headers.contains_key("content-length") || request.headers.contains_key("transfer-encoding")
}
