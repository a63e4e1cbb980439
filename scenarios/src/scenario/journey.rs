use std::sync::Arc;

use goose::goose::{Scenario, Transaction, TransactionFunction};

use super::edge_relay::EdgeRelay;
use super::verdict_polling::VerdictPolling;
use crate::engine::LoadUser;
use crate::plan::ScenarioName;

/// One session: posts a collection, then polls for its verdict.
pub struct Journey {
    /// The first part.
    pub relay: EdgeRelay,
    /// The second part.
    pub polling: VerdictPolling,
}

impl Journey {
    /// The goose scenario. Its transaction is a whole session.
    pub fn scenario(self) -> Scenario {
        let route = self.relay.collection_requests.route().to_owned();
        let journey = Arc::new(self);
        let session: TransactionFunction = Arc::new(move |user| {
            let journey = Arc::clone(&journey);
            Box::pin(async move {
                journey.play(LoadUser::of(user)).await;
                Ok(())
            })
        });
        Scenario::new(ScenarioName::Journey.text())
            .register_transaction(Transaction::new(session).set_name(&route))
    }

    async fn play(&self, user: &mut LoadUser) {
        user.start_waiting_for_verdict(user.due(), self.polling.route);
        let (reply, reference) = self.relay.post(user).await;
        if reply.expected {
            // The first poll is due when the collection was accepted.
            self.polling.until_verdict(user, &reference, reply.ended).await;
        } else {
            user.record_no_verdict();
        }
    }
}
