use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Version};

use crate::decision::{EdgeAnswer, EdgeDecision, RelayResult, RequestFacts};
use crate::relay::UpstreamOptions;

/// Hooks that change the edge's behaviour, for mutation runs and for tests with conforming variants.
///
/// Each method gets the reference behaviour and returns it by default.
pub trait EdgeFaultHooks: fmt::Debug + Send + Sync {
    /// Changes requests and connections to the service. Called once, at start.
    fn upstream(&self, right: UpstreamOptions) -> UpstreamOptions {
        right
    }

    /// Whether the edge sends `100 Continue` to a page that waits for it. Called for each such request.
    fn continues(&self) -> bool {
        true
    }

    /// Whether header names have title case, such as `Content-Type`. Called once, at start.
    fn title_case_headers(&self) -> bool {
        false
    }

    /// Changes the decision on a request, before its body is read.
    fn decide(&self, _request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        right
    }

    /// Returns the received part of a broken body if the edge relays it.
    fn partial_body(&self, _request: &EdgeRequest<'_>, _part: Bytes) -> Option<Bytes> {
        None
    }

    /// Changes the relayed body, or returns an answer instead of relaying.
    fn body(&self, _request: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        Ok(body)
    }

    /// Returns an additional body to relay before this one. Its result is ignored.
    fn before(&self, _request: &EdgeRequest<'_>, _body: &Bytes) -> Option<Bytes> {
        None
    }

    /// Changes how the edge understands the service's reply.
    fn result(&self, right: RelayResult) -> RelayResult {
        right
    }

    /// Whether the edge relays the body again. `result`: result of the last relay.
    fn again(&self, _request: &EdgeRequest<'_>, _result: &RelayResult) -> bool {
        false
    }

    /// What the edge does with a WebSocket after its handshake.
    fn websocket(&self, _request: &EdgeRequest<'_>) -> WebSocketAction {
        WebSocketAction::Echo
    }

    /// Changes the answer. `result`: result of the relay, if there was one.
    fn conclude(
        &self,
        _request: &EdgeRequest<'_>,
        _result: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        EdgeAction::Answer(right)
    }

    /// Notes that the client gave up a request that [`EdgeAction::Silence`] keeps waiting, or that the edge stops. Over
    /// HTTP/1.1, only the end of the edge shows.
    fn given_up(&self, _request: &EdgeRequest<'_>) {}
}

/// Hooks that change nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoEdgeFaults;

impl EdgeFaultHooks for NoEdgeFaults {}

/// Request that a hook gets.
#[derive(Debug, Clone)]
pub struct EdgeRequest<'a> {
    /// Facts that the decision depends on.
    pub facts: &'a RequestFacts,
    /// Query of the request target; empty without one.
    pub query: &'a str,
    /// Headers.
    pub headers: &'a HeaderMap,
    /// HTTP version.
    pub version: Version,
    /// Address of the client.
    pub peer: SocketAddr,
    /// Number of the connection, from 0.
    pub connection: u64,
    /// Body, after it was read.
    pub body: Option<Bytes>,
    /// Number of relays of the body so far.
    pub relays: u32,
}

/// Last step of an exchange with the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeAction {
    /// Send this answer.
    Answer(EdgeAnswer),
    /// Send this answer after this delay.
    Later(Duration, EdgeAnswer),
    /// Send these bytes in place of this answer. HTTP/1 only.
    Raw(EdgeAnswer, Bytes),
    /// Close the connection without an answer.
    Nothing,
    /// Send nothing and keep the connection open.
    Silence,
}

/// Use of a WebSocket after its handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSocketAction {
    /// Echo messages.
    Echo,
    /// Close the connection without a closing handshake.
    Close,
    /// Send these bytes, framed or not, and ignore what the page sends.
    Send(Bytes),
}
