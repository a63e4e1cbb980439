use http::StatusCode;
use serde_json::{Value, json};

use crate::states::StateError;

/// A command that the admin port refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages document the variants")]
pub enum AdminError {
    #[error(
        "foreign Host header; use the address of the port or localhost, or allow the name with --admin-host"
    )]
    ForeignHost,
    #[error("the request comes from a page of another origin")]
    ForeignOrigin,
    #[error("unknown path; GET / lists the paths")]
    NotFound,
    #[error("unknown script {id}; GET /scripts lists the scripts")]
    NoSuchScript { id: u64 },
    #[error("method not allowed; this path accepts {allowed}")]
    MethodNotAllowed { allowed: String },
    #[error("the body exceeds {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the body is incomplete")]
    Incomplete,
    #[error("{0}")]
    BadRequest(String),
    #[error("the limit of {limit} scripts is reached; delete some")]
    TooManyScripts { limit: usize },
    #[error(transparent)]
    State(#[from] StateError),
}

impl AdminError {
    /// An invalid request.
    pub(super) fn bad(why: impl Into<String>) -> Self {
        Self::BadRequest(why.into())
    }

    /// Status and code of the answer.
    pub fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::ForeignHost => (StatusCode::FORBIDDEN, "foreign_host"),
            Self::ForeignOrigin => (StatusCode::FORBIDDEN, "foreign_origin"),
            Self::NotFound | Self::NoSuchScript { .. } => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large"),
            Self::Incomplete => (StatusCode::REQUEST_TIMEOUT, "incomplete"),
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, "bad_request"),
            Self::TooManyScripts { .. } => (StatusCode::CONFLICT, "too_many_scripts"),
            Self::State(StateError::Unsupported(_)) => (StatusCode::NOT_IMPLEMENTED, "unsupported"),
            Self::State(StateError::Failed(_)) => (StatusCode::CONFLICT, "failed"),
        }
    }

    /// Body of the answer.
    pub fn body(&self) -> Value {
        json!({ "error": self.status().1, "message": self.to_string() })
    }
}

/// Parses a duration such as `250ms` or `2m`.
pub(super) fn span(text: &str) -> Result<std::time::Duration, AdminError> {
    let span = humantime::parse_duration(text).map_err(|why| {
        AdminError::bad(format!("invalid duration {text:?}: {why}; write it as 250ms, 3s or 2m"))
    })?;
    if span > LONGEST {
        return Err(AdminError::bad(format!("duration {text:?} exceeds 100 years")));
    }
    Ok(span)
}

/// A longer duration leads to times that no date can express.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Parses a body. Errors name the line and the column.
pub(super) fn parse<'a, T: serde::Deserialize<'a>>(body: &'a [u8]) -> Result<T, AdminError> {
    if body.is_empty() {
        return Err(AdminError::bad("the body is missing; send JSON"));
    }
    serde_json::from_slice(body).map_err(|why| AdminError::bad(why.to_string()))
}
