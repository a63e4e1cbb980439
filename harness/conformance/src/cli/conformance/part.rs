use crate::run::ServicePart;

/// The part that a command tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestedPart {
    /// An edge: embedded, launched, or at a URL.
    Edge,
    /// A service or its key set.
    Service(ServicePart),
    /// A collector.
    Collector,
}

impl TestedPart {
    /// The part that the first argument names. Any other text is the URL of an edge.
    pub(super) fn of(target: Option<&str>) -> Self {
        match target {
            Some("service") => Self::Service(ServicePart::Service),
            Some("keys") => Self::Service(ServicePart::Keys),
            Some("collector") => Self::Collector,
            _ => Self::Edge,
        }
    }
}
