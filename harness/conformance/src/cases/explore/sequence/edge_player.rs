use std::time::{Duration, Instant};

use edgeproof_fixtures::spec::Event;
use edgeproof_http::{Draft, ReusedConnection, Sent};
use edgeproof_mock::Scripted;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;
use parking_lot::Mutex;

use super::edge_model::{EdgeAction, EdgeModel, is_open};
use super::play::{Played, SequencePlayer, StepPlayer, StepResult, play_waves};
use super::steps::Sequence;
use crate::cases::explore::play::Player;
use crate::cases::{Conversation, EdgeCaseContext, next_marker};
use crate::judge;

/// Plays sequences at the edge of a case.
pub(super) struct EdgePlayer<'c> {
    pub(super) model: &'c EdgeModel,
    pub(super) context: &'c mut EdgeCaseContext,
}

/// Plays the steps of one sequence.
struct EdgeSteps<'c> {
    model: &'c EdgeModel,
    player: Player<'c>,
    /// The replies of the sequence. They stay until its end, so that a late request is not taken for another step's.
    scripts: Mutex<Vec<Scripted>>,
}

impl SequencePlayer for EdgePlayer<'_> {
    type Action = EdgeAction;

    fn now(&self) -> Instant {
        self.context.now()
    }

    async fn play(&mut self, sequence: &Sequence<EdgeAction>, limit: Duration) -> Played {
        let player = Player::new(&self.model.variation, self.context).within(limit);
        let steps = EdgeSteps { model: self.model, player, scripts: Mutex::default() };
        play_waves(&steps, sequence).await
    }

    async fn restart(&mut self) -> bool {
        let Some(fresh) = &self.context.state.fresh_edges else { return false };
        let Some(edge) = fresh.start().await else { return false };
        self.context.target = edge;
        true
    }
}

impl StepPlayer<EdgeAction> for EdgeSteps<'_> {
    async fn pause(&self, time: Duration) {
        self.player.context.sleep(time).await;
    }

    async fn step(&self, action: &EdgeAction, kept: Option<&mut ReusedConnection>) -> StepResult {
        match action {
            EdgeAction::Exchange(trial) => {
                let exchange = self.model.variation.exchange(trial);
                let values = self.model.variation.announced(trial);
                // An edge may refuse such a request and close the connection.
                let kept = kept.map(|kept| (kept, is_open(self.model, trial)));
                self.converse(&exchange.conversation, exchange.level, &values, kept).await
            }
            EdgeAction::Case(case) => {
                let case = &self.model.cases[*case];
                self.converse(&case.conversation, case.level, &[], kept.map(|kept| (kept, false))).await
            }
            EdgeAction::Event(event) => self.event(*event, kept).await,
        }
    }
}

impl EdgeSteps<'_> {
    /// Plays a conversation and judges it. `kept`: the connection, and whether the client closes it afterwards.
    async fn converse(
        &self,
        conversation: &Conversation,
        level: CaseLevel,
        values: &[String],
        kept: Option<(&mut ReusedConnection, bool)>,
    ) -> StepResult {
        let marker = next_marker();
        let mark = self.player.context.service_mark();
        let script = conversation.script.clone();
        let (draft, scripted) = self.player.prepare(&marker, &conversation.draft, script);
        self.player.announce(&marker, values);
        let sent = match kept {
            Some((connection, closes)) => {
                let sent = self.send(&marker, level, &draft, connection, self.player.limit).await;
                if closes {
                    connection.close();
                }
                sent
            }
            None => {
                self.send(&marker, level, &draft, &mut ReusedConnection::default(), self.player.limit).await
            }
        };
        let relayed = self.player.relayed(scripted.as_ref(), mark).await;
        let checks = self.player.judge(conversation, level, &draft, &sent.reply, &relayed);
        self.scripts.lock().extend(scripted);
        StepResult { exchange: Some((draft, sent)), checks }
    }

    /// Sends the request of an event. A client that leaves has a connection of its own.
    async fn event(&self, event: Event, kept: Option<&mut ReusedConnection>) -> StepResult {
        let replies = &self.model.variation.earlier;
        let earlier = replies.event(event);
        let marker = next_marker();
        // Even a body that its client breaks off has a reply.
        let script = earlier.script.unwrap_or_else(|| replies.accept.clone());
        let (draft, scripted) = self.player.prepare(&marker, &earlier.draft, Some(script));
        self.scripts.lock().extend(scripted);
        let mut own = ReusedConnection::default();
        let (connection, limit, level) = match earlier.leaves {
            // What the edge answers to a client that leaves is open.
            Some(leaves) => (&mut own, leaves.min(self.player.limit), CaseLevel::Open),
            None => (kept.unwrap_or(&mut own), self.player.limit, CaseLevel::Must),
        };
        let sent = self.send(&marker, level, &draft, connection, limit).await;
        let checks = match event {
            Event::Preflight => judge::preflight_passes(self.player.context.origin(), &sent.reply),
            Event::ForeignPreflight => {
                vec![judge::no_grant(draft.header_value("origin").unwrap_or_default(), &sent.reply)]
            }
            Event::OtherMethod => judge::exact(&self.model.not_allowed, &sent.reply),
            Event::Health => {
                vec![judge::status_in(Statuses::Success, &sent.reply)]
            }
            // The client left, or the service broke the exchange.
            _ => return StepResult::default(),
        };
        StepResult { exchange: Some((draft, sent)), checks }
    }

    async fn send(
        &self,
        marker: &str,
        level: CaseLevel,
        draft: &Draft,
        connection: &mut ReusedConnection,
        limit: Duration,
    ) -> Sent {
        let context = self.player.context;
        let sending = async { vec![connection.send(&context.target.endpoint, draft, limit).await] };
        let sent = context.traced([(context.sender_of(marker, level), draft)], sending).await.pop();
        sent.expect("the exchange has a result")
    }
}
