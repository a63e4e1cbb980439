use std::sync::Arc;

use goose::goose::Scenario;
use parking_lot::Mutex;

use super::args::Load;
use super::system_under_test::SystemUnderTest;
use crate::measure::RouteId;
use crate::plan::ScenarioName;
use crate::scenario::{CollectionSource, EdgeRelay, Journey, OpaqueCollections, PollOptions, VerdictPolling};

impl SystemUnderTest {
    /// The goose scenario with this name; `None` if a part that it needs is missing. Routes are numbered: collections first, then verdicts.
    pub(super) fn scenario(&self, name: ScenarioName, args: &Load, seed: u64) -> Option<Scenario> {
        Some(match name {
            ScenarioName::EdgeRelay => self.relay(args, seed)?.scenario(),
            ScenarioName::VerdictPolling => self.polling(args, seed)?.scenario(),
            ScenarioName::Journey => {
                Journey { relay: self.relay(args, seed)?, polling: self.polling(args, seed)? }.scenario()
            }
        })
    }

    fn relay(&self, args: &Load, seed: u64) -> Option<EdgeRelay> {
        let (endpoint, collection_requests) = self.collection_requests.clone()?;
        let service_times = self.service.as_ref().map(|service| Arc::clone(service.service_times()));
        let collections = match &self.sealing {
            Some(ahead) => CollectionSource::Sealed(Arc::clone(ahead)),
            None => CollectionSource::Opaque(OpaqueCollections::new(seed)),
        };
        Some(EdgeRelay {
            endpoint,
            collection_requests,
            collections,
            replays: args.replay_share,
            accepted: Mutex::default(),
            replayed: self.replayed,
            route: RouteId(0),
            service_times,
        })
    }

    fn polling(&self, args: &Load, seed: u64) -> Option<VerdictPolling> {
        let (endpoint, verdict_requests) = self.verdict_requests.clone()?;
        Some(VerdictPolling {
            endpoint,
            verdict_requests,
            references: self.references.clone(),
            // Another seed than journeys have: verdict polling must not use the session of a running journey.
            collections: OpaqueCollections::new(seed ^ 0x5eed),
            options: PollOptions {
                interval: args.poll_interval,
                wait: args.wait,
                waiting: args.wait_share,
                give_up: args.give_up,
                wrong: args.wrong_share,
                bad_tokens: args.bad_token_share,
            },
            route: RouteId(u8::from(self.collection_requests.is_some())),
        })
    }

    /// Names of the routes, by index.
    pub(super) fn routes(&self) -> Vec<String> {
        let mut routes = Vec::new();
        routes.extend(self.collection_requests.as_ref().map(|(_, requests)| requests.route().to_owned()));
        routes.extend(self.verdict_requests.as_ref().map(|(_, requests)| requests.route()));
        routes
    }
}
