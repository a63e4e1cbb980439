use bytes::Bytes;
use edgeproof_fixtures::credentials::Role;
use http::StatusCode;

/// How the edge of a case behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeSetup {
    /// Scheme and host of `apiUrl`.
    pub scheme: EdgeScheme,
    /// Origin that the edge allows.
    pub allowed_origin: String,
    /// Answer to a posted collection.
    pub post: PostReaction,
    /// CORS headers.
    pub cors: CorsReaction,
    /// Behaviour of the WebSocket for measurements.
    pub websocket: WebSocketReaction,
    /// Whether a service is behind the edge. Without one the edge answers that it is unreachable.
    pub has_service: bool,
}

/// Scheme and host of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeScheme {
    /// `https://edge.test`, with this certificate.
    Https(Role),
    /// `http://localhost`.
    Localhost,
}

/// What the edge does with a posted collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostReaction {
    /// Relays it, and passes the service's answer on.
    Relay,
    /// Answers without relaying.
    Answer {
        /// Status.
        status: StatusCode,
        /// `Content-Type`.
        content_type: &'static str,
        /// Further headers.
        headers: Vec<(&'static str, String)>,
        /// Body.
        body: Bytes,
    },
    /// Closes the connection, or resets the stream, without an answer.
    Close,
    /// Never answers, and relays nothing.
    Hold,
}

/// CORS headers of the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CorsReaction {
    /// Of the reference edge.
    Right,
    /// None on any answer.
    None,
    /// None on answers to a POST; a preflight is granted.
    NoneOnPost,
    /// Grants another origin.
    OtherOrigin,
    /// Grants any origin, for sites without credentials.
    AnyOrigin,
    /// Answers 403 to preflights.
    PreflightRefused,
}

/// Behaviour of the edge's WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSocketReaction {
    /// Echoes messages.
    Echo,
    /// Answers the handshake with this status.
    Refuse(StatusCode),
    /// Closes the connection during the handshake.
    Drop,
    /// Closes the connection after the handshake.
    Close,
    /// Sends these bytes after the handshake, and ignores what it receives.
    Send(Bytes),
}

impl EdgeSetup {
    /// A correct edge over HTTPS for pages of this origin.
    pub fn new(allowed_origin: impl Into<String>) -> Self {
        Self {
            scheme: EdgeScheme::Https(Role::ServiceServer),
            allowed_origin: allowed_origin.into(),
            post: PostReaction::Relay,
            cors: CorsReaction::Right,
            websocket: WebSocketReaction::Echo,
            has_service: true,
        }
    }

    /// Sets the answer to a posted collection.
    #[must_use]
    pub fn post(self, post: PostReaction) -> Self {
        Self { post, ..self }
    }

    /// Sets the CORS headers.
    #[must_use]
    pub fn cors(self, cors: CorsReaction) -> Self {
        Self { cors, ..self }
    }

    /// Sets the behaviour of the WebSocket.
    #[must_use]
    pub fn websocket(self, websocket: WebSocketReaction) -> Self {
        Self { websocket, ..self }
    }

    /// Sets scheme and host.
    #[must_use]
    pub fn scheme(self, scheme: EdgeScheme) -> Self {
        Self { scheme, ..self }
    }
}

impl PostReaction {
    /// A JSON answer.
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::Answer { status, content_type: "application/json", headers: Vec::new(), body: body.into() }
    }
}
