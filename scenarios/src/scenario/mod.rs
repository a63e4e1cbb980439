//! Goose scenarios: edge relay, verdict polling and the whole journey of a session; and the requests that they
//! send.

mod collections;
mod edge_relay;
mod requests;
mod sealed_collections;
mod verdict_polling;

use std::sync::Arc;

use goose::goose::{Scenario, Transaction, TransactionFunction};

pub use collections::{CollectionSource, OpaqueCollections, OutgoingCollection};
pub use edge_relay::EdgeRelay;
pub use requests::{BadToken, CollectionRequests, VerdictRequests, bad_tokens};
pub use sealed_collections::SealedCollections;
pub use verdict_polling::{PollOptions, References, RegisterSession, SessionState, VerdictPolling};

use crate::engine::LoadUser;
use crate::plan::ScenarioName;

/// A goose scenario with one transaction, which is one operation.
pub trait LoadScenario: Send + Sync + Sized + 'static {
    /// Its name.
    const NAME: ScenarioName;

    /// The route of its first request.
    fn route(&self) -> String;

    /// Plays an operation.
    fn play(&self, user: &mut LoadUser) -> impl Future<Output = ()> + Send;

    /// The goose scenario. Its transaction has the name of its first route.
    fn scenario(self) -> Scenario {
        let route = self.route();
        let scenario = Arc::new(self);
        let play: TransactionFunction = Arc::new(move |user| {
            let scenario = Arc::clone(&scenario);
            Box::pin(async move {
                scenario.play(LoadUser::of(user)).await;
                Ok(())
            })
        });
        Scenario::new(Self::NAME.text()).register_transaction(Transaction::new(play).set_name(&route))
    }
}

/// One session: posts a collection, then polls for its verdict.
pub struct Journey {
    /// The first part.
    pub relay: EdgeRelay,
    /// The second part.
    pub polling: VerdictPolling,
}

impl LoadScenario for Journey {
    const NAME: ScenarioName = ScenarioName::Journey;

    fn route(&self) -> String {
        self.relay.route()
    }

    async fn play(&self, user: &mut LoadUser) {
        user.start_waiting_for_verdict(user.due(), self.polling.requests.route_id);
        let (reply, reference) = self.relay.post(user).await;
        if reply.expected {
            // The first poll is due when the collection was accepted.
            self.polling.until_verdict(user, &reference, reply.ended).await;
        } else {
            user.record_no_verdict();
        }
    }
}
