use crate::states::StateNeed;

/// What a case of an edge requires besides its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeNeed {
    /// The mock service behind the edge.
    Service,
    /// The origin that the edge allows.
    Origin,
    /// The edge's log.
    Log,
    /// Other loopback addresses to connect from.
    LoopbackClients,
    /// An edge that serves HTTPS.
    Https,
    /// An edge that reads the reasons in the mock service's replies.
    PlainReasons,
}

/// What a case of a service or a key set requires besides its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceNeed {
    /// A valid read token.
    ReadToken,
    /// An expired read token.
    ExpiredToken,
    /// A license, which the verdict endpoint must refuse.
    License,
    /// A revoked read token.
    RevokedToken,
    /// A valid read token of another license.
    OtherToken,
    /// The verdict endpoint and a session that has a verdict.
    Session,
    /// As `Session`, for the case that shows whether the state hook tells the truth.
    SessionTrial,
    /// Permission to take minutes of real time (`--waits`).
    Waits,
    /// The same, or a clock that moves.
    WaitsOrLater,
    /// A state that the state hook provides.
    State(StateNeed),
}
