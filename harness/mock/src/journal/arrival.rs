use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::Request;
use edgeproof_http::TlsFacts;
use http::HeaderMap;
use rustls_pki_types::CertificateDer;

use crate::route::ServiceEndpoint;

/// A request as it reached the mock service, and what became of it.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Counted from 0 in the order of arrival.
    pub number: u64,
    /// What it is for.
    pub endpoint: ServiceEndpoint,
    /// The request. Of its body at most [`RECORDED`](super::RECORDED) bytes are kept.
    pub request: Request,
    /// Bytes of the body that arrived, kept or not.
    pub body_length: u64,
    /// When its head was read.
    pub at: Instant,
    /// When its answer was handed over; none without an answer, or before it.
    pub answered: Option<Instant>,
    /// What it was given; none before that.
    pub answer: Option<ArrivalAnswer>,
    /// Nothing more comes: the body ended or broke off, and what was to be given was given.
    pub finished: bool,
    /// A script was for it.
    pub claimed: bool,
    /// The cause of the refusal, or of a verdict's being there or absent, where the mock service decided so.
    pub stimulus: Option<Stimulus>,
    /// The client certificates of its connection, the leaf first.
    pub client_certificates: Arc<[CertificateDer<'static>]>,
    /// What the TLS handshake of its connection came to; none without TLS.
    pub tls: Option<TlsFacts>,
    /// Number of its connection, counted from 0.
    pub connection: u64,
}

/// What a request was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrivalAnswer {
    /// An answer.
    Answer {
        /// Status code.
        status: u16,
        /// Header fields besides `Content-Length` and `Date`.
        headers: HeaderMap,
        /// Body.
        body: Bytes,
    },
    /// Something else, in a word or two, such as `reset`.
    Other(&'static str),
}

impl ArrivalAnswer {
    /// The status code, where there is one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Answer { status, .. } => Some(*status),
            Self::Other(_) => None,
        }
    }
}
