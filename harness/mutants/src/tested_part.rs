/// Part of a browser verification service that cases test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestedPart {
    /// Edge.
    Edge,
    /// Verdict endpoint of the service.
    Service,
    /// Key set.
    Keys,
}

impl TestedPart {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Edge, Self::Service, Self::Keys];
}
