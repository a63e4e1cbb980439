use http::StatusCode;
use serde_json::{Value, json};

/// Why the admin port does not do what it is asked to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AdminError {
    #[error(
        "this Host is none of the admin port's: call it by its address or as localhost, or allow the name"
    )]
    ForeignHost,
    #[error("this request comes from a page of another origin")]
    ForeignOrigin,
    #[error("there is no such path; GET / lists what there is")]
    NotFound,
    #[error("there is no script {id}; GET /scripts lists those that there are")]
    NoSuchScript { id: u64 },
    #[error("this path takes {allowed}")]
    MethodNotAllowed { allowed: String },
    #[error("the body is longer than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the body did not come to its end")]
    Incomplete,
    #[error("{0}")]
    BadRequest(String),
    #[error("there are {limit} scripts already; delete some")]
    TooManyScripts { limit: usize },
}

impl AdminError {
    /// A request that says something wrong.
    pub(super) fn bad(why: impl Into<String>) -> Self {
        Self::BadRequest(why.into())
    }

    /// Its status and its code.
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
        }
    }

    /// Its body.
    pub fn body(&self) -> Value {
        json!({ "error": self.status().1, "message": self.to_string() })
    }
}

/// Reads a time span such as `250ms` or `2m`.
pub(super) fn span(text: &str) -> Result<std::time::Duration, AdminError> {
    let span = humantime::parse_duration(text).map_err(|why| {
        AdminError::bad(format!("{text:?} is no time span: {why}; write it as 250ms, 3s or 2m"))
    })?;
    if span > LONGEST {
        return Err(AdminError::bad(format!("{text:?} is more than a hundred years")));
    }
    Ok(span)
}

/// Beyond it times stop being dates.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Reads a body; what is unknown, missing or of another kind is told with its place.
pub(super) fn parse<'a, T: serde::Deserialize<'a>>(body: &'a [u8]) -> Result<T, AdminError> {
    if body.is_empty() {
        return Err(AdminError::bad("a body in JSON is needed"));
    }
    serde_json::from_slice(body).map_err(|why| AdminError::bad(why.to_string()))
}
