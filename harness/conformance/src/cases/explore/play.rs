use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Earlier, Event};
use edgeproof_http::{Draft, NoAnswer, Sent};
use edgeproof_mock::{Arrival, Match, Script, Scripted};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::DifferenceKind;
use futures_util::future::join;
use futures_util::{StreamExt, stream};

use super::exchange::Exchange;
use super::model::Model;
use super::trial::Trial;
use crate::cases::{
    Conversation, EdgeCaseContext, ExpectedRelay, fill, judge as judge_conversation, next_marker, summary,
};
use crate::judge::{self, AnswerResult, Check, RelayedRequests};

/// Longest wait for the end of a request at the service, after the edge has answered.
const END_LIMIT: Duration = Duration::from_secs(1);
/// Exchanges without an answer after which a case plays no further ones.
const MAX_SILENT: usize = 3;

/// Time after which an exchange has reached the service, so that other events happen beside it.
const BESIDE_AFTER: Duration = Duration::from_millis(60);

/// A played exchange.
#[derive(Debug)]
pub(super) struct Played {
    /// The marker of its body.
    pub(super) marker: String,
    /// The exchanges before it on its connection.
    pub(super) before: Vec<(Draft, Sent)>,
    /// The request as sent.
    pub(super) draft: Draft,
    /// The answer.
    pub(super) sent: Sent,
    /// The edge's requests to the service.
    pub(super) arrivals: Vec<Arrival>,
    /// A client that sends the requests of its connection in turn repeats it.
    pub(super) in_turn: bool,
    /// The judgement, limited by the level of the changes.
    pub(super) checks: Vec<Check>,
    /// The exchange's level.
    pub(super) level: CaseLevel,
}

/// Where and how exchanges are played.
pub(super) struct Player<'c> {
    model: &'c Model,
    pub(super) context: &'c EdgeCaseContext,
    origin: &'c str,
    pub(super) limit: Duration,
}

impl Played {
    /// Whether a judged check failed.
    pub(super) fn failed(&self) -> bool {
        self.checks.iter().any(|check| !check.ok && check.level != CaseLevel::Open)
    }
}

impl<'c> Player<'c> {
    /// Plays at the edge of a case.
    pub(super) fn new(model: &'c Model, context: &'c EdgeCaseContext) -> Self {
        Self { model, context, origin: context.origin(), limit: context.timeout }
    }

    /// The same with a shorter timeout for answers.
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { limit: self.limit.min(limit), ..self }
    }

    /// Plays trials, and yields those that were played, in their order. Stops early when the edge answers nothing.
    pub(super) async fn play_all(&self, trials: &[Trial], concurrent: usize) -> Vec<(usize, Played)> {
        let silent = AtomicUsize::new(0);
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
        self.exchange(&self.model.exchange(trial), trial).await
    }

    /// Plays one exchange and judges it.
    async fn exchange(&self, exchange: &Exchange, trial: &Trial) -> Played {
        for event in &exchange.events {
            // Each further one would take as long. The exchange shows whether the edge still answers.
            if !self.event(*event).await {
                break;
            }
        }
        let conversation = &exchange.conversation;
        let marker = next_marker();
        let mark = self.context.service_mark();
        let (draft, scripted) = self.prepare(&marker, &conversation.draft, conversation.script.clone());
        self.announce(&marker, &self.model.announced(trial));
        let beside = async {
            if !exchange.beside.is_empty() {
                self.context.sleep(BESIDE_AFTER).await;
            }
            for event in &exchange.beside {
                self.event(*event).await;
            }
        };
        let ((before, sent), ()) = join(self.send(exchange, &marker, &draft), beside).await;
        let relayed = self.relayed(scripted.as_ref(), mark).await;
        let checks = self.judge(conversation, exchange.level, &draft, &sent.reply, &relayed);
        let in_turn = exchange.events.is_empty() && exchange.beside.is_empty() && !exchange.pipelined;
        let arrivals = relayed.complete;
        Played { marker, before, draft, sent, arrivals, in_turn, checks, level: exchange.level }
    }

    /// Announces the values of an exchange to the faults of an embedded edge.
    pub(super) fn announce(&self, marker: &str, values: &[String]) {
        if let Some(faults) = &self.context.target.faults
            && !values.is_empty()
        {
            faults.announce(marker, values);
        }
    }

    /// The requests of an exchange at the service, and those since `mark` that belong to no exchange.
    pub(super) async fn relayed(&self, scripted: Option<&Scripted>, mark: u64) -> RelayedRequests {
        match (&self.context.target.service, scripted) {
            (Some(service), Some(scripted)) => RelayedRequests::new(scripted.finished(END_LIMIT).await)
                .unclaimed(service.unclaimed_since(mark)),
            _ => RelayedRequests::default(),
        }
    }

    /// Judges an answered request, and what reached the service. `level`: the weakest of its values.
    pub(super) fn judge(
        &self,
        conversation: &Conversation,
        level: CaseLevel,
        draft: &Draft,
        reply: &AnswerResult,
        relayed: &RelayedRequests,
    ) -> Vec<Check> {
        if level == CaseLevel::Open {
            let mut checks = relay_of_acceptance(conversation, draft, reply, relayed);
            checks.extend(conversation.denied.then(|| judge::no_grant(&origins(draft), reply)));
            return checks;
        }
        let mut checks = judge_conversation(conversation, draft, self.origin, reply, relayed);
        for check in &mut checks {
            check.level = check.level.max(level);
        }
        if judge::is_unread(draft, reply) {
            checks.retain(|check| !matches!(check.kind(), Some(DifferenceKind::Body { .. })));
        }
        // Decoded data has the same content (RFC 9110 §8.4). No other acceptance of a changed body is true.
        if level == CaseLevel::Should && draft.header_value("content-encoding").is_none() {
            let of_acceptance = relay_of_acceptance(conversation, draft, reply, relayed);
            checks.retain(|check| !of_acceptance.iter().any(|other| other.kind() == check.kind()));
            checks.extend(of_acceptance);
        }
        checks
    }

    /// Sends the request of an event. Yields whether the edge answered, or was given no time for it.
    async fn event(&self, event: Event) -> bool {
        let earlier = self.model.earlier.event(event);
        let marker = next_marker();
        let (draft, _scripted) = self.prepare(&marker, &earlier.draft, earlier.script);
        let limit = earlier.leaves.map_or(self.limit, |leaves| leaves.min(self.limit));
        // What the edge answers to a client that leaves is open.
        let level = if earlier.leaves.is_some() { CaseLevel::Open } else { CaseLevel::Must };
        let sent = self.context.exchange_as(&marker, level, &draft, limit).await;
        earlier.leaves.is_some() || !matches!(sent.reply, Err(NoAnswer::TimedOut(_)))
    }

    /// Sends the request after those before it on its connection, and yields them with their answers.
    async fn send(&self, exchange: &Exchange, marker: &str, draft: &Draft) -> (Vec<(Draft, Sent)>, Sent) {
        let mut before = exchange.before.clone();
        if exchange.pipelined {
            before.push(Earlier::Accepted);
        }
        let (mut requests, mut scripts) = (Vec::new(), Vec::new());
        for earlier in before {
            let earlier = self.model.earlier.before(earlier);
            let marker = next_marker();
            let (draft, scripted) = self.prepare(&marker, &earlier.draft, earlier.script);
            requests.push((marker, draft));
            scripts.push(scripted);
        }
        requests.push((marker.to_owned(), draft.clone()));
        let sending = self.context.exchanges_as(&requests, exchange.level, exchange.pipelined, self.limit);
        let mut sent = sending.await;
        let last = sent.pop().expect("there is an entry for each request");
        (requests.into_iter().map(|(_, draft)| draft).zip(sent).collect(), last)
    }

    /// Fills in a request with a marker of its own, and scripts its reply.
    pub(super) fn prepare(
        &self,
        marker: &str,
        draft: &Draft,
        script: Option<Script>,
    ) -> (Draft, Option<Scripted>) {
        let on = Match::Marker(Bytes::copy_from_slice(marker.as_bytes()));
        let service = self.context.target.service.as_ref().zip(script);
        let scripted = service.map(|(service, script)| service.script(on, script));
        (fill(draft, self.context.spec(), marker, self.origin), scripted)
    }
}

/// The origins of a request, in one text.
fn origins(draft: &Draft) -> String {
    let fields = draft.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("origin"));
    fields.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
}

/// What an exchange shows at its open point: the answer, and whether an origin that should get none got a grant.
pub(super) fn observed(conversation: &Conversation, played: &Played) -> String {
    let answer = summary::answer(&played.marker, &played.sent.reply);
    let Some(origin) = Some(origins(&played.draft)).filter(|_| conversation.denied) else { return answer };
    let grants = judge::readable(&origin, &played.sent.reply).ok;
    format!("{answer}; {}", if grants { "grants the origin" } else { "does not grant the origin" })
}

/// The checks of an open exchange: an edge that tells the page of an acceptance has relayed the body unchanged.
fn relay_of_acceptance(
    conversation: &Conversation,
    draft: &Draft,
    reply: &AnswerResult,
    relayed: &RelayedRequests,
) -> Vec<Check> {
    // An edge that takes the request for another one can answer with success as well, such as with a page.
    let is_exact = |answer| judge::exact(answer, reply).iter().all(|check| check.ok);
    let success = conversation.answer.as_ref().filter(|answer| (200..300).contains(&answer.status));
    let accepted = success.is_some_and(is_exact);
    if accepted && conversation.relay == ExpectedRelay::Once {
        judge::relayed_once(draft.body.bytes(), relayed, reply, CaseLevel::Must)
    } else {
        Vec::new()
    }
}
