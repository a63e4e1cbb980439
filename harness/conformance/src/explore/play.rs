use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use edgeproof_http::{Draft, NoAnswer, Sent};
use edgeproof_mock::{Match, Script};
use edgeproof_reports::CaseLevel;
use futures_util::{StreamExt, stream};

use super::exchange::Exchange;
use super::model::Model;
use super::trial::Trial;
use crate::cases::{CaseContext, Conversation, EdgeContext, fill, judge};
use crate::judge::Check;
use crate::run::next_marker;

/// Exchanges of one case at the same time.
const CONCURRENT: usize = 8;
/// Exchanges without an answer after which a case plays no further ones.
const MAX_SILENT: usize = 3;

/// A played exchange.
#[derive(Debug)]
pub(super) struct Played {
    /// The request as sent.
    pub(super) draft: Draft,
    /// The answer.
    pub(super) sent: Sent,
    /// The judgement, limited by the level of the changes.
    pub(super) checks: Vec<Check>,
    /// The exchange's level.
    pub(super) level: CaseLevel,
}

/// Where and how exchanges are played.
pub(super) struct Player<'c> {
    model: &'c Model,
    edge: &'c EdgeContext,
    origin: &'c str,
    limit: Duration,
    /// Every request at the service belongs to the exchange.
    exclusive: bool,
}

impl Played {
    /// Whether a judged check failed.
    pub(super) fn failed(&self) -> bool {
        self.checks.iter().any(|check| !check.ok && check.level != CaseLevel::Open)
    }
}

impl<'c> Player<'c> {
    /// Plays at the edge of a case.
    pub(super) fn new(model: &'c Model, context: &'c CaseContext, exclusive: bool) -> Self {
        Self { model, edge: &context.edge, origin: context.origin(), limit: context.timeout, exclusive }
    }

    /// The same with a shorter timeout for answers.
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { limit: self.limit.min(limit), ..self }
    }

    /// Plays trials, and yields those that were played, in their order. Stops early when the edge answers nothing.
    pub(super) async fn play_all(&self, trials: &[Trial]) -> Vec<(usize, Played)> {
        let silent = AtomicUsize::new(0);
        let concurrent = if self.exclusive { 1 } else { CONCURRENT };
        let plays = (0..trials.len()).map(|number| self.play_unless(&silent, number, &trials[number]));
        let mut played: Vec<_> =
            stream::iter(plays).buffer_unordered(concurrent).filter_map(std::future::ready).collect().await;
        played.sort_by_key(|(number, _)| *number);
        played
    }

    /// Plays a trial, unless too many exchanges got no answer.
    async fn play_unless(
        &self,
        silent: &AtomicUsize,
        number: usize,
        trial: &Trial,
    ) -> Option<(usize, Played)> {
        if silent.load(Ordering::Relaxed) >= MAX_SILENT {
            return None;
        }
        let played = self.play(trial).await;
        if matches!(played.sent.reply, Err(NoAnswer::TimedOut(_))) {
            silent.fetch_add(1, Ordering::Relaxed);
        }
        Some((number, played))
    }

    /// Plays one trial.
    pub(super) async fn play(&self, trial: &Trial) -> Played {
        self.exchange(&self.model.exchange(trial)).await
    }

    /// Plays one exchange and judges it.
    async fn exchange(&self, exchange: &Exchange) -> Played {
        let (draft, scripted) = self.prepare(&exchange.conversation);
        let sent = edgeproof_http::send(&self.edge.endpoint, &draft, self.limit).await;
        let arrivals = scripted.as_ref().map(edgeproof_mock::Scripted::arrivals).unwrap_or_default();
        let mut checks = judge(&exchange.conversation, &draft, self.origin, &sent.reply, &arrivals);
        for check in &mut checks {
            check.level = check.level.max(exchange.level);
        }
        Played { draft, sent, checks, level: exchange.level }
    }

    /// Fills in a request with a marker of its own, and scripts its reply.
    fn prepare(&self, conversation: &Conversation) -> (Draft, Option<edgeproof_mock::Scripted>) {
        let marker = next_marker();
        let script = conversation.script.clone().unwrap_or_else(Script::decide);
        let on = if self.exclusive { Match::Everything } else { Match::Marker(Bytes::from(marker.clone())) };
        let scripted = self.edge.service.as_ref().map(|service| service.script(on, script));
        (fill(&conversation.draft, &marker, self.origin), scripted)
    }
}
