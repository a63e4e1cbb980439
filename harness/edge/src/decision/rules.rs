use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Fact, Profile, Row, Spec, Stimulus, Table};
use http::{HeaderValue, Method, StatusCode};
use serde_json::Value;

use crate::error::EdgeError;

/// Paths, answers and allowed origin of an edge, read from the tables and the profile.
#[derive(Debug, Clone)]
pub struct EdgeRules {
    pub(super) signals: EndpointRule,
    pub(super) health: EndpointRule,
    pub(super) measure_path: String,
    pub(super) accepted: FixedAnswer,
    pub(super) method_not_allowed: FixedAnswer,
    pub(super) read_failed: FixedAnswer,
    pub(super) service_unreachable: FixedAnswer,
    pub(super) healthy: FixedAnswer,
    pub(super) refused: RefusalRule,
    pub(super) refused_unknown: RefusalRule,
    pub(super) preflight: PreflightRule,
    pub(super) allowed_origin: Option<HeaderValue>,
}

/// Status and body that do not depend on the request.
#[derive(Debug, Clone)]
pub(super) struct FixedAnswer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// Answer to a refusal of the service.
#[derive(Debug, Clone)]
pub(super) struct RefusalRule {
    pub(super) row: Row,
    /// Status of the row. None: that of the service.
    pub(super) status: Option<StatusCode>,
}

/// Path and methods of an endpoint.
#[derive(Debug, Clone)]
pub(super) struct EndpointRule {
    pub(super) path: String,
    pub(super) methods: Vec<Method>,
    /// `Allow` header.
    pub(super) allow: HeaderValue,
}

/// Status and CORS grants of a preflight answer.
#[derive(Debug, Clone)]
pub(super) struct PreflightRule {
    pub(super) status: StatusCode,
    pub(super) methods: HeaderValue,
    pub(super) headers: HeaderValue,
    pub(super) max_age: HeaderValue,
}

impl EdgeRules {
    /// Reads the rules. Fails if a row or profile point is missing or unusable, or if the origin is no header value.
    /// The built-in tables are always usable.
    pub fn new(spec: &Spec, profile: &Profile, allowed_origin: Option<&str>) -> Result<Self, EdgeError> {
        let allowed_origin = allowed_origin
            .map(HeaderValue::from_str)
            .transpose()
            .map_err(|_| EdgeError::HeaderValue { setting: "ALLOWED_ORIGIN" })?;
        Ok(Self {
            signals: endpoint(spec, "endpoint.edge.signals", &[])?,
            // A resource that supports GET supports HEAD (RFC 9110 §9.3.2).
            health: endpoint(spec, "endpoint.edge.health", &["HEAD"])?,
            measure_path: profile.websocket_path.clone(),
            accepted: fixed(spec, "edge.200.accepted")?,
            method_not_allowed: fixed(spec, "edge.405.method-not-allowed")?,
            read_failed: fixed(spec, "edge.400.read-failed")?,
            service_unreachable: fixed(spec, "edge.502.service-unreachable")?,
            healthy: FixedAnswer {
                status: status("health.status", profile.health_status)?,
                body: json(&profile.health_body),
            },
            refused: refusal(spec, "edge.refused")?,
            refused_unknown: refusal(spec, "edge.refused.unknown")?,
            preflight: PreflightRule {
                status: preflight_status(spec, profile)?,
                methods: list("preflight.methods", &profile.preflight_methods)?,
                headers: list("preflight.headers", &profile.preflight_headers)?,
                max_age: seconds(profile.preflight_max_age),
            },
            allowed_origin,
        })
    }

    /// Path that pages post collections to.
    pub fn signals_path(&self) -> &str {
        &self.signals.path
    }

    /// Path of the health check.
    pub fn health_path(&self) -> &str {
        &self.health.path
    }
}

/// Compact JSON, as it is sent.
pub(super) fn json(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}

fn row<'a>(spec: &'a Spec, id: &'static str) -> Result<&'a Row, EdgeError> {
    // An edge has to answer something where a version lacks a row.
    spec.row(id).or_else(|| Spec::current().row(id)).ok_or(EdgeError::Table { id })
}

fn fixed(spec: &Spec, id: &'static str) -> Result<FixedAnswer, EdgeError> {
    let row = row(spec, id)?;
    let (Some(code), Some(body)) = (row.status(), row.body()) else { return Err(EdgeError::Table { id }) };
    Ok(FixedAnswer { status: status(id, code)?, body: json(body) })
}

fn refusal(spec: &Spec, id: &'static str) -> Result<RefusalRule, EdgeError> {
    let row = row(spec, id)?;
    row.body().ok_or(EdgeError::Table { id })?;
    let status = row.status().map(|code| status(id, code)).transpose()?;
    Ok(RefusalRule { row: row.clone(), status })
}

/// The status that the row states. Otherwise the point is open.
fn preflight_status(spec: &Spec, profile: &Profile) -> Result<StatusCode, EdgeError> {
    let stated = spec.by_stimulus(Table::Edge, Stimulus::Preflight).and_then(Row::status);
    status("preflight.status", stated.unwrap_or(profile.preflight_status))
}

fn endpoint(spec: &Spec, id: &'static str, more: &[&str]) -> Result<EndpointRule, EdgeError> {
    let Fact::Endpoint { methods, path, .. } = &row(spec, id)?.fact else {
        return Err(EdgeError::Table { id });
    };
    let names: Vec<_> = methods.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let methods = names.iter().map(|name| name.parse()).collect::<Result<_, _>>();
    let methods = methods.map_err(|_| EdgeError::Table { id })?;
    Ok(EndpointRule { path: path.clone(), methods, allow: list(id, &names)? })
}

fn status(id: &'static str, code: u16) -> Result<StatusCode, EdgeError> {
    StatusCode::from_u16(code).map_err(|_| EdgeError::Table { id })
}

fn list(id: &'static str, items: &[impl AsRef<str>]) -> Result<HeaderValue, EdgeError> {
    let items: Vec<_> = items.iter().map(AsRef::as_ref).collect();
    HeaderValue::from_str(&items.join(", ")).map_err(|_| EdgeError::Table { id })
}

fn seconds(time: Duration) -> HeaderValue {
    HeaderValue::from(time.as_secs())
}
