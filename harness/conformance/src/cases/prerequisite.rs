/// What a case needs besides its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prerequisite {
    /// A mock service behind the edge.
    Service,
    /// The origin that the edge allows.
    Origin,
    /// The edge's log.
    Log,
    /// Other loopback addresses to connect from.
    LoopbackClients,
    /// An edge that is reached with TLS.
    Https,
    /// An edge that reads the mock service's reasons.
    PlainReasons,
    /// A read token that is accepted.
    ReadToken,
    /// A read token that has expired.
    ExpiredToken,
    /// A license, which opens nothing here.
    License,
    /// The verdict endpoint and a session that it has a verdict for.
    Session,
    /// Leave to take real time.
    Waits,
    /// Our mock service: it is told when sessions arrive, what time it is, and which tokens it knows.
    Mock,
}
