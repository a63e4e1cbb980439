use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Fact, Profile, Row, Spec};
use http::{HeaderValue, StatusCode};
use serde_json::Value;

use super::EdgeError;
use super::style::Reason;

/// What the edge goes by: rows and profile in the form that requests need, and the one origin that may read answers.
#[derive(Debug, Clone)]
pub struct Rules {
    pub(super) signals: EndpointRule,
    pub(super) health: EndpointRule,
    pub(super) measure: String,
    pub(super) accepted: Fixed,
    pub(super) method_not_allowed: Fixed,
    pub(super) read_failed: Fixed,
    pub(super) service_unreachable: Fixed,
    pub(super) healthy: Fixed,
    pub(super) refused: Row,
    pub(super) refused_unknown: Row,
    pub(super) preflight: Preflight,
    pub(super) origin: Option<HeaderValue>,
    /// Where the reason is read from.
    pub(super) reason: Reason,
}

/// An answer that is always the same.
#[derive(Debug, Clone)]
pub(super) struct Fixed {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// A path with the methods that the interface names for it.
#[derive(Debug, Clone)]
pub(super) struct EndpointRule {
    pub(super) path: String,
    /// Value of `Allow`.
    pub(super) allow: HeaderValue,
}

/// What a preflight is granted.
#[derive(Debug, Clone)]
pub(super) struct Preflight {
    pub(super) status: StatusCode,
    pub(super) methods: HeaderValue,
    pub(super) headers: HeaderValue,
    pub(super) max_age: HeaderValue,
}

impl Rules {
    /// Takes from the tables what an edge needs. Fails where a row is missing or of no use, which the built-in tables
    /// never are, and where the origin cannot stand in a header.
    pub fn new(spec: &Spec, profile: &Profile, allowed_origin: Option<&str>) -> Result<Self, EdgeError> {
        let origin = allowed_origin
            .map(HeaderValue::from_str)
            .transpose()
            .map_err(|_| EdgeError::NotAHeader { setting: "ALLOWED_ORIGIN" })?;
        Ok(Self {
            signals: endpoint(spec, "endpoint.edge.signals", &[])?,
            // Whoever answers GET answers HEAD (RFC 9110 §9.3.2).
            health: endpoint(spec, "endpoint.edge.health", &["HEAD"])?,
            measure: profile.websocket_path.clone(),
            accepted: fixed(spec, "edge.200.accepted")?,
            method_not_allowed: fixed(spec, "edge.405.method-not-allowed")?,
            read_failed: fixed(spec, "edge.400.read-failed")?,
            service_unreachable: fixed(spec, "edge.502.service-unreachable")?,
            healthy: Fixed {
                status: status("health.status", profile.health_status)?,
                body: json(&profile.health_body),
            },
            refused: template(spec, "edge.refused")?,
            refused_unknown: template(spec, "edge.refused.unknown")?,
            preflight: Preflight {
                status: status("preflight.status", profile.preflight_status)?,
                methods: list("preflight.methods", &profile.preflight_methods)?,
                headers: list("preflight.headers", &profile.preflight_headers)?,
                max_age: seconds(profile.preflight_max_age),
            },
            origin,
            reason: Reason::default(),
        })
    }
}

impl Rules {
    /// The path that collections are posted to.
    pub fn signals_path(&self) -> &str {
        &self.signals.path
    }
}

/// A body as it goes over the wire.
pub(super) fn json(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}

fn row<'a>(spec: &'a Spec, id: &'static str) -> Result<&'a Row, EdgeError> {
    spec.row(id).ok_or(EdgeError::Table { id })
}

fn fixed(spec: &Spec, id: &'static str) -> Result<Fixed, EdgeError> {
    let row = row(spec, id)?;
    let (Some(code), Some(body)) = (row.status(), row.body()) else { return Err(EdgeError::Table { id }) };
    Ok(Fixed { status: status(id, code)?, body: json(body) })
}

fn template(spec: &Spec, id: &'static str) -> Result<Row, EdgeError> {
    let row = row(spec, id)?;
    row.body().ok_or(EdgeError::Table { id })?;
    Ok(row.clone())
}

fn endpoint(spec: &Spec, id: &'static str, more: &[&str]) -> Result<EndpointRule, EdgeError> {
    let Fact::Endpoint { methods, path, .. } = &row(spec, id)?.fact else {
        return Err(EdgeError::Table { id });
    };
    let methods: Vec<_> = methods.iter().map(String::as_str).chain(more.iter().copied()).collect();
    Ok(EndpointRule { path: path.clone(), allow: list(id, &methods)? })
}

fn status(id: &'static str, code: u16) -> Result<StatusCode, EdgeError> {
    StatusCode::from_u16(code).map_err(|_| EdgeError::Table { id })
}

fn list(id: &'static str, words: &[impl AsRef<str>]) -> Result<HeaderValue, EdgeError> {
    let words: Vec<_> = words.iter().map(AsRef::as_ref).collect();
    HeaderValue::from_str(&words.join(", ")).map_err(|_| EdgeError::Table { id })
}

fn seconds(time: Duration) -> HeaderValue {
    HeaderValue::from(time.as_secs())
}
