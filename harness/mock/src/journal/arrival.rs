use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::Request;
use edgeproof_http::TlsFacts;
use http::HeaderMap;
use rustls_pki_types::CertificateDer;

use crate::route::ServiceEndpoint;

/// A recorded request with its answer.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Number in the order of arrival, from 0.
    pub number: u64,
    /// Endpoint.
    pub endpoint: ServiceEndpoint,
    /// Request. Its body has at most [`RECORDED`](super::RECORDED) bytes.
    pub request: Request,
    /// Received bytes of the body, recorded or not.
    pub body_length: u64,
    /// Arrival of the head.
    pub at: Instant,
    /// Time of the answer; none before it, and none without an HTTP answer.
    pub answered: Option<Instant>,
    /// Answer; none before it.
    pub answer: Option<ArrivalAnswer>,
    /// True after the end of the body and the answer, or after the end of the connection.
    pub finished: bool,
    /// True if a script claimed the request.
    pub claimed: bool,
    /// Stimulus of the refusal or of the verdict's state, if the mock service decided.
    pub stimulus: Option<Stimulus>,
    /// Client certificates of the connection, leaf first.
    pub client_certificates: Arc<[CertificateDer<'static>]>,
    /// Result of the TLS handshake; none without TLS.
    pub tls: Option<TlsFacts>,
    /// Number of the connection, from 0.
    pub connection: u64,
    /// Number of the request on its connection, from 0.
    pub of_connection: usize,
}

impl Arrival {
    /// A collection that reached the mock service without a connection, as in runs without sockets.
    pub fn without_connection(number: u64, request: Request) -> Self {
        Self {
            number,
            endpoint: ServiceEndpoint::Relay,
            body_length: request.body.len() as u64,
            request,
            at: Instant::now(),
            answered: None,
            answer: None,
            finished: true,
            claimed: true,
            stimulus: None,
            client_certificates: Arc::default(),
            tls: None,
            connection: 0,
            of_connection: usize::try_from(number).unwrap_or(usize::MAX),
        }
    }
}

/// Answer to a recorded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrivalAnswer {
    /// An HTTP answer.
    Answer {
        /// Status code.
        status: u16,
        /// Header fields besides `Content-Length` and `Date`.
        headers: HeaderMap,
        /// Body.
        body: Bytes,
    },
    /// A part of an answer, such as `body cut`. It does not tell the client what the service did.
    Partial(&'static str),
    /// Another end, in a few words, such as `reset`.
    Other(&'static str),
}

impl ArrivalAnswer {
    /// Status code of an HTTP answer.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Answer { status, .. } => Some(*status),
            Self::Partial(_) | Self::Other(_) => None,
        }
    }
}
