use edgeproof_targets::Target;

use super::pool_options::{EdgePoolOptions, EdgeUpstream};
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

impl EdgePoolOptions {
    /// All needs of a case that these edges do not meet; empty if the case applies.
    pub fn unmet(&self, case: &Case<Edge>) -> Vec<UnmetNeed> {
        let setup = (!self.starts_edges() && case.settings.setup != Setup::Standard).then_some(LAUNCH);
        let needs = case.needs.iter().filter_map(|need| self.unmet_need(*need));
        let unmet: Vec<UnmetNeed> = setup.into_iter().chain(needs).collect();
        // A launched edge has a mock service behind it, whose settings name the origin.
        let enough = [LAUNCH, SERVICE].into_iter().find(|input| unmet.contains(input));
        enough.map_or(unmet, |input| vec![input])
    }

    /// The need, if it is not met.
    fn unmet_need(&self, need: EdgeNeed) -> Option<UnmetNeed> {
        let (met, unmet) = match need {
            EdgeNeed::Service => {
                (!matches!(self.upstream, EdgeUpstream::Foreign { intended: true, .. }), SERVICE)
            }
            EdgeNeed::Origin => {
                (!matches!(self.upstream, EdgeUpstream::Foreign { origin: None, intended: true }), ORIGIN)
            }
            EdgeNeed::Log => (!matches!(self.target, Target::Attached(_)), LAUNCH),
            // Other systems need each address of 127.0.0.0/8 to be configured.
            EdgeNeed::LoopbackClients => {
                (self.target.is_local() && cfg!(target_os = "linux"), LOOPBACK_CLIENTS)
            }
            EdgeNeed::Https => (self.target.is_https(), HTTPS),
            EdgeNeed::PlainReasons => return None,
        };
        (!met).then_some(unmet)
    }
}
