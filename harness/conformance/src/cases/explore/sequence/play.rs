use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, Instant};

use edgeproof_http::{Draft, ReusedConnection, Sent};
use edgeproof_reports::CaseLevel;
use futures_util::future::join_all;

use super::steps::{ConnectionChoice, Sequence, Step};
use crate::judge::Check;

/// Plays sequences on one target.
pub trait SequencePlayer: Send {
    /// One request or event.
    type Action: Clone + PartialEq + Send + Sync;

    /// The current time.
    fn now(&self) -> Instant;

    /// Plays a sequence up to the first wave with a failed check. `limit`: longest wait for an answer.
    fn play(
        &mut self,
        sequence: &Sequence<Self::Action>,
        limit: Duration,
    ) -> impl Future<Output = Played> + Send;

    /// Replaces the target by a new one in its first state. False: this target cannot be replaced.
    fn restart(&mut self) -> impl Future<Output = bool> + Send;
}

/// A played sequence.
#[derive(Debug, Clone, Default)]
pub struct Played {
    /// Requests with their answers, in the order of the steps.
    pub exchanges: Vec<(Draft, Sent)>,
    /// Number of steps played.
    pub steps: usize,
    /// The first failed step.
    pub failure: Option<Failure>,
}

/// The step of a sequence that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Position of the step, from 0.
    pub step: usize,
    /// The failed checks, at least one.
    pub checks: Vec<Check>,
}

impl Failure {
    /// The failure of a step, if one of its checks failed.
    pub fn of(step: usize, checks: &[Check]) -> Option<Self> {
        let failed = checks.iter().filter(|check| !check.ok && check.level != CaseLevel::Open);
        let checks: Vec<_> = failed.cloned().collect();
        (!checks.is_empty()).then_some(Self { step, checks })
    }

    /// The worst level of its checks.
    pub fn level(&self) -> CaseLevel {
        self.checks.iter().map(|check| check.level).min().unwrap_or(CaseLevel::Open)
    }
}

/// The result of one step.
#[derive(Debug, Default)]
pub(super) struct StepResult {
    /// The request and its answer. None: no request with an answer to judge.
    pub(super) exchange: Option<(Draft, Sent)>,
    /// The judgement.
    pub(super) checks: Vec<Check>,
}

/// Plays one step over a kept connection, or over one of its own.
pub(super) trait StepPlayer<A>: Sync {
    /// Plays the step.
    fn step(
        &self,
        action: &A,
        kept: Option<&mut ReusedConnection>,
    ) -> impl Future<Output = StepResult> + Send;

    /// Waits before a step.
    fn pause(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// Plays the waves of a sequence in turn, until one has a failed step. The steps of a wave start at the same time, those
/// on one kept connection in turn.
pub(super) async fn play_waves<A, P>(player: &P, sequence: &Sequence<A>) -> Played
where
    A: Clone + PartialEq + Send + Sync,
    P: StepPlayer<A>,
{
    let mut played = Played::default();
    let mut kept: BTreeMap<ConnectionChoice, ReusedConnection> = BTreeMap::new();
    for wave in sequence.waves() {
        let mut lanes: Vec<(ConnectionChoice, Vec<usize>)> = Vec::new();
        for index in wave.clone() {
            let choice = sequence.steps[index].connection;
            let lane = lanes.iter_mut().find(|(own, _)| *own == choice && choice != ConnectionChoice::Fresh);
            match lane {
                Some((_, indices)) => indices.push(index),
                None => lanes.push((choice, vec![index])),
            }
        }
        let plays = lanes.into_iter().map(|(choice, indices)| {
            let connection =
                (choice != ConnectionChoice::Fresh).then(|| kept.remove(&choice).unwrap_or_default());
            play_lane(player, &sequence.steps, indices, choice, connection)
        });
        let mut results = Vec::new();
        for (choice, connection, lane) in join_all(plays).await {
            kept.extend(connection.map(|connection| (choice, connection)));
            results.extend(lane);
        }
        results.sort_by_key(|(index, _)| *index);
        played.steps = wave.end;
        for (index, result) in results {
            let failure = Failure::of(index, &result.checks);
            played.failure = played.failure.or(failure);
            played.exchanges.extend(result.exchange);
        }
        if played.failure.is_some() {
            break;
        }
    }
    played
}

/// Plays steps in turn over one connection.
async fn play_lane<A, P: StepPlayer<A>>(
    player: &P,
    steps: &[Step<A>],
    indices: Vec<usize>,
    choice: ConnectionChoice,
    mut connection: Option<ReusedConnection>,
) -> (ConnectionChoice, Option<ReusedConnection>, Vec<(usize, StepResult)>) {
    let mut results = Vec::new();
    for index in indices {
        let step = &steps[index];
        if step.pause_ms > 0 {
            player.pause(Duration::from_millis(step.pause_ms.into())).await;
        }
        results.push((index, player.step(&step.action, connection.as_mut()).await));
    }
    (choice, connection, results)
}
