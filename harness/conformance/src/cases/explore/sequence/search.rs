use std::time::{Duration, Instant};

use edgeproof_http::{Draft, NoAnswer, Sent};
use edgeproof_reports::CaseLevel;
use proptest::strategy::ValueTree as _;

use super::action_model::ActionModel;
use super::generate::generate;
use super::play::{Failure, Played, SequencePlayer};
use super::shrink::ShrinkTree;
use super::steps::{Sequence, Step};

/// Different violations of a `must` after which a search stops.
const MAX_FINDINGS: usize = 3;
/// Failed sequences of one level that a search shrinks. Several of them may shrink to one finding.
const MAX_SHRUNK: usize = 4;
/// Longest wait for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Longest wait for an answer while a failure is shrunk.
const REPLAY_LIMIT: Duration = Duration::from_secs(2);

/// A search for failing sequences.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// Number of sequences.
    pub count: u32,
    /// Seed of the sequences.
    pub seed: u64,
    /// Most replays for one failure.
    pub replays: u32,
    /// Longest time for the replays of one failure.
    pub time: Duration,
}

/// The result of a search.
#[derive(Debug)]
pub struct SearchResult<A> {
    /// Sequences played.
    pub played: u32,
    /// Their steps.
    pub steps: usize,
    /// Further failed sequences. An earlier finding explains them, or there were too many to shrink.
    pub further: u32,
    /// Different findings.
    pub findings: Vec<Finding<A>>,
}

/// The smallest known sequence of a failure.
#[derive(Debug)]
pub struct Finding<A> {
    /// Number of the generated sequence, from 0. None: it was saved.
    pub number: Option<u32>,
    /// The steps.
    pub sequence: Sequence<A>,
    /// How they failed.
    pub failure: Failure,
    /// Requests with their answers.
    pub exchanges: Vec<(Draft, Sent)>,
    /// Whether the failure repeats.
    pub repeats: Repeats,
}

/// Whether a failure repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// It repeats, and the sequence was shrunk.
    Yes,
    /// The target stays wrong and cannot be restarted, so the sequence was not shrunk further.
    StaysWrong,
    /// It did not repeat.
    No,
}

impl Search {
    /// Plays the sequences of this search, and shrinks those that fail.
    pub async fn run<M, P>(&self, model: &M, player: &mut P) -> SearchResult<M::Action>
    where
        M: ActionModel,
        P: SequencePlayer<Action = M::Action>,
    {
        let mut result = SearchResult { played: 0, steps: 0, further: 0, findings: Vec::new() };
        // What this target played since its start.
        let mut history: Vec<Step<M::Action>> = Vec::new();
        let mut shrunk: Vec<CaseLevel> = Vec::new();
        for number in 0..self.count {
            let sequence = generate(model, self.seed, number);
            let mut played = player.play(&sequence, ANSWER_LIMIT).await;
            result.played += 1;
            result.steps += played.steps;
            let failing = Sequence::new(sequence.steps[..played.steps.min(sequence.steps.len())].to_vec());
            let Some(failure) = played.failure.take() else {
                history.extend(failing.steps);
                continue;
            };
            let level = failure.level();
            let shrunk_before = shrunk.iter().filter(|other| **other == level).count();
            let is_known = result.findings.iter().any(|known| failing.includes(&known.sequence));
            if is_known || shrunk_before == MAX_SHRUNK {
                result.further += 1;
            } else {
                let first = (failing.clone(), failure, played);
                let finding = self.reduce(model, player, &history, first).await;
                let is_known =
                    |known: &Finding<M::Action>| known.sequence.has_same_actions(&finding.sequence);
                if result.findings.iter().any(is_known) {
                    result.further += 1;
                } else {
                    result.findings.push(Finding { number: Some(number), ..finding });
                }
                shrunk.push(level);
            }
            let stays_wrong = result
                .findings
                .last()
                .is_some_and(|finding| finding.repeats == Repeats::StaysWrong || finding.is_unreachable());
            if player.restart().await {
                history.clear();
            } else if stays_wrong {
                break;
            } else {
                history.extend(failing.steps);
            }
            let musts = result.findings.iter().filter(|finding| finding.failure.level() == CaseLevel::Must);
            let stuck = shrunk.iter().filter(|level| **level == CaseLevel::Must).count() == MAX_SHRUNK;
            if musts.count() == MAX_FINDINGS || stuck {
                break;
            }
        }
        result
    }

    /// Replays a failed sequence on a target in its first state where possible, and shrinks it. `history`: the steps that
    /// the target played before.
    async fn reduce<M, P>(
        &self,
        model: &M,
        player: &mut P,
        history: &[Step<M::Action>],
        (failing, failure, played): (Sequence<M::Action>, Failure, Played),
    ) -> Finding<M::Action>
    where
        M: ActionModel,
        P: SequencePlayer<Action = M::Action>,
    {
        let level = failure.level();
        let step = failing.steps[failure.step].clone();
        let first = Finding {
            number: None,
            sequence: failing.clone(),
            failure,
            exchanges: played.exchanges,
            repeats: Repeats::No,
        };
        let until = player.now() + self.time;
        let mut replays = Replays { player, restarts: false, left: self.replays, until };
        replays.restarts = replays.player.restart().await;
        let alone = Sequence::new(vec![Step::plain(step.action.clone())]);
        let fails = |played: &Played| played.failure.as_ref().is_some_and(|failure| failure.level() <= level);
        let mut start = failing.clone();
        if !replays.restarts && fails(&replays.play(&alone).await) {
            if history.iter().any(|earlier| earlier.action == step.action) {
                return Finding { repeats: Repeats::StaysWrong, ..first };
            }
            start = alone.clone();
        }
        let mut again = replays.play(&start).await;
        if !fails(&again) && replays.restarts && !history.is_empty() {
            start = Sequence::new([history, &failing.steps].concat());
            again = replays.play(&start).await;
        }
        if !fails(&again) {
            return first;
        }
        let checks_health = !replays.restarts && start != alone;
        let mut smallest = finding(&start, again, Repeats::Yes);
        let mut tree = ShrinkTree::new(model, smallest.sequence.clone());
        let mut moved = tree.simplify();
        while moved && replays.may_play() {
            // Without a restart, a target that stays wrong would fail for any sequence from now on.
            if checks_health && fails(&replays.play(&alone).await) {
                return Finding { repeats: Repeats::StaysWrong, ..smallest };
            }
            let candidate = tree.current();
            let played = replays.play(&candidate).await;
            moved = if fails(&played) {
                smallest = finding(&candidate, played, Repeats::Yes);
                tree.simplify()
            } else {
                tree.complicate()
            };
        }
        smallest
    }
}

/// A finding of a sequence that failed.
fn finding<A: Clone + PartialEq>(sequence: &Sequence<A>, played: Played, repeats: Repeats) -> Finding<A> {
    let steps = sequence.steps[..played.steps.min(sequence.steps.len())].to_vec();
    let failure = played.failure.unwrap_or(Failure { step: 0, checks: Vec::new() });
    Finding { number: None, sequence: Sequence::new(steps), failure, exchanges: played.exchanges, repeats }
}

impl<A> Finding<A> {
    /// Nothing listens at the target.
    fn is_unreachable(&self) -> bool {
        let last = self.exchanges.last().map(|(_, sent)| &sent.reply);
        matches!(last, Some(Err(NoAnswer::NotConnected(_))))
    }
}

/// Bounded replays of a failure.
struct Replays<'p, P> {
    player: &'p mut P,
    /// Each replay begins with the target's first state.
    restarts: bool,
    left: u32,
    until: Instant,
}

impl<P: SequencePlayer> Replays<'_, P> {
    fn may_play(&self) -> bool {
        self.left > 0 && self.player.now() < self.until
    }

    async fn play(&mut self, sequence: &Sequence<P::Action>) -> Played {
        self.left = self.left.saturating_sub(1);
        if self.restarts {
            self.player.restart().await;
        }
        self.player.play(sequence, REPLAY_LIMIT).await
    }
}
