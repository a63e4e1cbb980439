use crate::cases::{Case, Edge, EdgeNeed, Setup};
use crate::run::plan::UnmetNeed;

const LAUNCH: UnmetNeed = UnmetNeed::Input { name: "a launched edge", advice: "use --launch" };
const SERVICE: UnmetNeed =
    UnmetNeed::Input { name: "the mock service behind the edge", advice: "use --settings, not --no-service" };
const ORIGIN: UnmetNeed =
    UnmetNeed::Input { name: "the origin that the edge allows", advice: "use --origin" };
const HTTPS: UnmetNeed = UnmetNeed::Property("requires an edge that serves https");
const LOOPBACK_CLIENTS: UnmetNeed = UnmetNeed::Property(
    "requires an edge on this machine and a second loopback address (available on Linux)",
);

/// What cases can use at the edge under test.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// Edges can be started with other settings.
    pub starts_edges: bool,
    /// A mock service is behind the edge.
    pub service: bool,
    /// The origin that the edge allows is known.
    pub origin: bool,
    /// The edge's log can be read.
    pub log: bool,
    /// The edge speaks TLS.
    pub https: bool,
    /// The edge accepts connections from other loopback addresses.
    pub loopback_clients: bool,
}

impl Capabilities {
    /// All needs of a case that the edge does not meet; empty if the case applies.
    pub fn unmet(self, case: &Case<Edge>) -> Vec<UnmetNeed> {
        let setup = (!self.starts_edges && case.settings.setup != Setup::Standard).then_some(LAUNCH);
        let needs = case.needs.iter().filter_map(|need| self.unmet_need(*need));
        let unmet: Vec<UnmetNeed> = setup.into_iter().chain(needs).collect();
        // A launched edge has a mock service behind it, whose settings name the origin.
        let enough = [LAUNCH, SERVICE].into_iter().find(|input| unmet.contains(input));
        enough.map_or(unmet, |input| vec![input])
    }

    /// The need, if it is not met.
    fn unmet_need(self, need: EdgeNeed) -> Option<UnmetNeed> {
        let (met, unmet) = match need {
            EdgeNeed::Service => (self.service, SERVICE),
            EdgeNeed::Origin => (self.origin, ORIGIN),
            EdgeNeed::Log => (self.log, LAUNCH),
            EdgeNeed::LoopbackClients => (self.loopback_clients, LOOPBACK_CLIENTS),
            EdgeNeed::Https => (self.https, HTTPS),
            EdgeNeed::PlainReasons => return None,
        };
        (!met).then_some(unmet)
    }
}
