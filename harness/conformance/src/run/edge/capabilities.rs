use crate::cases::{Case, Prerequisite, Procedure};
use crate::run::plan::Applicability;
use crate::target::Setup;

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

    fn not_applicable(&self, case: &Case) -> Option<String> {
        if !self.starts_edges && case.setup != Setup::Standard {
            return Some(format!("requires an edge with {}: use --launch", case.setup.describe()));
        }
        case.prerequisites.iter().find_map(|need| self.unmet(*need)).map(str::to_owned)
    }
}

impl Capabilities {
    /// Why a need is not met.
    fn unmet(self, need: Prerequisite) -> Option<&'static str> {
        let (met, because) = match need {
            Prerequisite::Service => {
                (self.service, "requires a mock service behind the edge: omit --no-service")
            }
            Prerequisite::Origin => (self.origin, "requires the origin that the edge allows: use --origin"),
            Prerequisite::Log => (self.log, "requires the edge's log: use --launch"),
            Prerequisite::LoopbackClients => (
                self.loopback_clients,
                "requires an edge on this machine and a second loopback address (available on Linux)",
            ),
            Prerequisite::Https => (self.https, "requires an edge that serves https"),
            Prerequisite::PlainReasons => (true, ""),
            Prerequisite::ReadToken
            | Prerequisite::ExpiredToken
            | Prerequisite::License
            | Prerequisite::Session
            | Prerequisite::Waits
            | Prerequisite::Mock => (false, "applies to a service: use `edgeproof conformance service`"),
        };
        (!met).then_some(because)
    }
}

/// Whether a case needs an edge that reads the reasons of the mock service.
pub fn needs_plain_reasons(case: &Case) -> bool {
    let answer = match &case.procedure {
        Procedure::Conversation(conversation) => conversation.answer.as_ref(),
        _ => None,
    };
    let reason = answer.and_then(|answer| answer.body.as_ref()?.get("reason")?.as_str());
    case.prerequisites.contains(&Prerequisite::PlainReasons)
        || reason.is_some_and(|reason| reason != "unknown")
}
