use crate::cases::{Case, Prerequisite, Setup};
use crate::run::case_plan::{Applicability, UnmetNeed};

const LAUNCH: UnmetNeed = UnmetNeed::Input { name: "a launched edge", advice: "use --launch" };
const SERVICE: UnmetNeed =
    UnmetNeed::Input { name: "the mock service behind the edge", advice: "use --settings, not --no-service" };
const ORIGIN: UnmetNeed =
    UnmetNeed::Input { name: "the origin that the edge allows", advice: "use --origin" };
const HTTPS: UnmetNeed = UnmetNeed::Property("requires an edge that serves https");
const LOOPBACK_CLIENTS: UnmetNeed = UnmetNeed::Property(
    "requires an edge on this machine and a second loopback address (available on Linux)",
);
const OF_A_SERVICE: UnmetNeed =
    UnmetNeed::Property("applies to a service: use `edgeproof conformance service`");

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

impl Applicability for Capabilities {
    fn target(&self) -> &'static str {
        "edge"
    }

    fn unmet(&self, case: &Case) -> Vec<UnmetNeed> {
        let setup = (!self.starts_edges && case.setup != Setup::Standard).then_some(LAUNCH);
        let needs = case.prerequisites.iter().filter_map(|need| self.unmet_need(*need));
        let unmet: Vec<UnmetNeed> = setup.into_iter().chain(needs).collect();
        // A launched edge has a mock service behind it, whose settings name the origin.
        let enough = [LAUNCH, SERVICE].into_iter().find(|input| unmet.contains(input));
        enough.map_or(unmet, |input| vec![input])
    }
}

impl Capabilities {
    /// The need, if it is not met.
    fn unmet_need(self, need: Prerequisite) -> Option<UnmetNeed> {
        let (met, unmet) = match need {
            Prerequisite::Service => (self.service, SERVICE),
            Prerequisite::Origin => (self.origin, ORIGIN),
            Prerequisite::Log => (self.log, LAUNCH),
            Prerequisite::LoopbackClients => (self.loopback_clients, LOOPBACK_CLIENTS),
            Prerequisite::Https => (self.https, HTTPS),
            Prerequisite::PlainReasons => return None,
            Prerequisite::ReadToken
            | Prerequisite::ExpiredToken
            | Prerequisite::License
            | Prerequisite::Session
            | Prerequisite::Waits
            | Prerequisite::Mock => (false, OF_A_SERVICE),
        };
        (!met).then_some(unmet)
    }
}

/// Whether a case needs an edge that reads the reasons of the mock service.
pub fn needs_plain_reasons(case: &Case) -> bool {
    case.prerequisites.contains(&Prerequisite::PlainReasons)
}
