use std::time::Duration;

use edgeproof_fixtures::spec::Family;
use edgeproof_http::Sent;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted};

use super::cause::{Cause, Passed, add};
use super::minimize::{Minimal, minimize};
use super::model::Model;
use super::play::{self, Player};
use super::trial::Trial;
use crate::cases::{EdgeCaseContext, TracedRequest, fill};
use crate::judge::Check;

/// Different causes that a case reports. It counts the others.
const MAX_CAUSES: usize = 6;
/// Most exchanges before a failed one on its connection that a report shows.
const EARLIER_SHOWN: usize = 3;
/// Longest wait for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Longest wait for an answer while a failure is reduced.
const REPLAY_LIMIT: Duration = Duration::from_millis(1500);

/// The trials of one case.
#[derive(Debug)]
pub(super) struct Exploration {
    /// The trials.
    pub(super) trials: Vec<Trial>,
    /// Number of exchanges at the same time.
    pub(super) concurrent: usize,
}

impl Exploration {
    /// Plays the trials and reports each failure with the fewest values that still fail.
    pub(super) async fn run(&self, context: &mut EdgeCaseContext, model: &Model) {
        let trials = &self.trials;
        let played = Player::new(model, context).within(ANSWER_LIMIT).play_all(trials, self.concurrent).await;
        let count = played.len();
        context.found.varied += count;
        let mut causes: Vec<Cause> = Vec::new();
        let (mut failed, mut unexplained) = (0, 0);
        let mut observed = Vec::new();
        for (number, played) in played {
            let trial = &trials[number];
            if played.level == CaseLevel::Open {
                let conversation = model.exchange(trial).conversation;
                observed.push((model.point(trial), play::observed(&conversation, &played)));
            }
            if !played.failed() {
                continue;
            }
            failed += 1;
            if let Some(known) = causes.iter_mut().find(|known| known.explains(trial)) {
                known.exchanges += 1;
            } else if causes.len() < MAX_CAUSES {
                let player = Player::new(model, context).within(REPLAY_LIMIT);
                let minimal = minimize(model, &player, trial, played).await;
                add(&mut causes, minimal);
            } else {
                unexplained += 1;
            }
        }
        for (point, observed) in observed {
            context.observe(&point, observed);
        }
        for cause in causes {
            let Cause { minimal, exchanges, .. } = &cause;
            if !trials.contains(&minimal.trial) && minimal.is_single_value() {
                let name = model.name(&minimal.trial);
                let count = Count::new(Counted::JudgedExchanges, 0, *exchanges).first(Some(name));
                context.check(Check::judged(count, false).at(CaseLevel::Open));
                continue;
            }
            let passed = if cause.is_plain() { passed(context, model, minimal).await } else { None };
            report(context, model, cause, passed);
        }
        let right = count - failed;
        let exchanges = Count::new(Counted::Exchanges, trials.len(), right).of(count).part(unexplained);
        let check = Check::judged(exchanges, right == trials.len());
        // The failed exchanges have checks of their own.
        context.check(check.at(if count == trials.len() { CaseLevel::Open } else { CaseLevel::Must }));
    }
}

/// Finds out whether the plain exchange of a failed trial passes at another time.
async fn passed(context: &mut EdgeCaseContext, model: &Model, minimal: &Minimal) -> Option<Passed> {
    let row = minimal.trial.row;
    if passed_before(context, model, row, &minimal.played.sent) {
        return Some(Passed::Earlier);
    }
    if let Some(accepted) = model.plainest(Family::Accepted).filter(|accepted| *accepted != row) {
        let trial = Trial { row: accepted, changes: Vec::new() };
        let played = Player::new(model, context).within(REPLAY_LIMIT).play(&trial).await;
        if played.failed() && passed_before(context, model, accepted, &played.sent) {
            return Some(Passed::AcceptanceEarlier);
        }
    }
    let fresh_edge = context.state.fresh_edges.as_ref()?.start().await?;
    let own = std::mem::replace(&mut context.target, fresh_edge);
    let played = Player::new(model, context).within(REPLAY_LIMIT).play(&minimal.trial).await;
    context.target = own;
    (!played.failed()).then_some(Passed::AfterStart)
}

/// Whether the edge answered the plain exchange of a row wrongly, and an earlier one rightly. The traffic shows answers
/// only: it proves nothing about what reached the service.
fn passed_before(context: &EdgeCaseContext, model: &Model, row: usize, failed: &Sent) -> bool {
    let (conversation, origin) = (&model.rows[row].conversation, context.origin());
    let passed = |request: &TracedRequest| {
        let Some(sent) = request.sent.as_ref().filter(|sent| sent.at < failed.at) else { return false };
        fill(&conversation.draft, context.spec(), &request.sender.marker, origin) == request.draft
            && conversation.is_answered(origin, &sent.reply)
    };
    !conversation.is_answered(origin, &failed.reply) && context.target.traffic.requests().iter().any(passed)
}

/// Adds the failed checks of a cause, each with its values, and shows its exchange.
fn report(context: &mut EdgeCaseContext, model: &Model, cause: Cause, passed: Option<Passed>) {
    let name = model.name(&cause.minimal.trial);
    let scope = cause.advice(model, passed);
    let Minimal { played, repeats, .. } = cause.minimal;
    let repeats = repeats && passed.is_none() && played.in_turn;
    if played.before.len() <= EARLIER_SHOWN {
        for (draft, sent) in played.before {
            context.show_exchange(&draft, sent, repeats);
        }
    }
    context.show_exchange(&played.draft, played.sent, repeats);
    context.found.arrivals.extend(played.arrivals);
    for check in played.checks.into_iter().filter(|check| !check.ok && check.level != CaseLevel::Open) {
        let mut check = check.of(&name);
        check.advice.extend(scope.iter().cloned());
        context.check(check);
    }
}
