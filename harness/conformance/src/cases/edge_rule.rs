use edgeproof_fixtures::credentials::Role;
use edgeproof_reports::difference::{DifferenceKind, Statuses};

use crate::judge::ExpectedAnswer;

/// What the answer of an edge, or its request to the service, has to be besides what a conversation expects, or what is
/// observed of it.
#[derive(Debug, Clone, PartialEq)]
pub enum EdgeRule {
    /// A preflight of the allowed origin passes.
    PreflightPasses,
    /// One of these statuses.
    Status(Statuses),
    /// `Allow` lists `POST`.
    AllowsPost,
    /// This answer, with any reason in one line.
    OneLine(ExpectedAnswer),
    /// Neither the license nor the client key.
    NoSecrets,
    /// The service gets the license of the settings.
    License,
    /// The service gets this client certificate.
    Certificate(Role),
    /// Behaviour at an open point. None: the point has the case's id.
    Observe(EdgeObservation, Option<&'static str>),
}

/// What a case observes of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeObservation {
    /// The status or the lack of an answer.
    Status,
    /// Status and body of the answer.
    Answer,
    /// The status, and whether the request reached the service.
    StatusAndRelay,
    /// Status and body of the answer, and whether the service got a client certificate.
    AnswerAndCertificate,
    /// The body of the answer.
    Body,
    /// The value of this header field of the answer.
    Field(&'static str),
    /// The path of the request at the service.
    RelayPath,
    /// The header field that carries the license to the service.
    LicenseHeader,
    /// The scheme before the license in its header field. Empty: none.
    LicenseScheme,
}

impl EdgeRule {
    /// What the rule expects, in a line.
    pub(super) fn describe(&self) -> Option<String> {
        Some(match self {
            Self::PreflightPasses => "expected answer: a preflight that passes in a browser".to_owned(),
            Self::Status(statuses) => {
                let kind = DifferenceKind::Status { expected: statuses.clone(), actual: None };
                format!("expected answer: {}", kind.rendered().expected)
            }
            Self::AllowsPost => "the answer has Allow: POST".to_owned(),
            Self::OneLine(answer) => format!("expected answer: {answer}, with any reason in one line"),
            Self::NoSecrets => "the answer contains neither license nor client key".to_owned(),
            Self::License => "at the service: the license of the settings".to_owned(),
            Self::Certificate(_) => "at the service: the client certificate of the settings".to_owned(),
            Self::Observe(..) => return None,
        })
    }
}
