use std::time::Duration;

use edgeproof_reports::CaseLevel;

use super::minimize::{Minimal, minimize};
use super::model::Model;
use super::play::Player;
use super::trial::Trial;
use crate::cases::{CaseContext, summary};
use crate::judge::Check;

/// Different causes that a case reports. It counts the others.
const MAX_CAUSES: usize = 6;
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
    pub(super) async fn run(&self, context: &mut CaseContext, model: &Model) {
        let trials = &self.trials;
        let played = Player::new(model, context).within(ANSWER_LIMIT).play_all(trials, self.concurrent).await;
        let count = played.len();
        let mut causes: Vec<(Minimal, usize)> = Vec::new();
        let (mut failed, mut unexplained) = (0, 0);
        let mut observed = Vec::new();
        for (number, played) in played {
            let trial = &trials[number];
            if played.level == CaseLevel::Open {
                observed.push((model.point(trial), summary::answer(&played.marker, &played.sent.reply)));
            }
            if !played.failed() {
                continue;
            }
            failed += 1;
            let known = causes.iter_mut().find(|(known, _)| trial.includes(&known.trial, known.any_row));
            if let Some((_, exchanges)) = known {
                *exchanges += 1;
            } else if causes.len() < MAX_CAUSES {
                let player = Player::new(model, context).within(REPLAY_LIMIT);
                let minimal = minimize(model, &player, trial, played).await;
                causes.push((minimal, 1));
            } else {
                unexplained += 1;
            }
        }
        for (point, observed) in observed {
            context.observe(&point, observed);
        }
        for (minimal, exchanges) in causes {
            if !trials.contains(&minimal.trial) && minimal.is_single_value() {
                let name = model.name(&minimal.trial);
                let seen = format!(
                    "{exchanges} exchanges fail because of {name}; the case of this dimension judges it"
                );
                context.check(Check::new("exchanges", "as expected", seen, false).at(CaseLevel::Open));
                continue;
            }
            report(context, model, minimal, exchanges);
        }
        let other =
            if unexplained > 0 { format!(", {unexplained} of them not reduced") } else { String::new() };
        let expected = format!("{} exchanges as expected", trials.len());
        let actual = format!(
            "{} as expected, {failed} not{other}, {} not played",
            count - failed,
            trials.len() - count
        );
        let ok = failed == 0 && count == trials.len();
        context.check(if ok {
            Check::new("exchanges", &expected, &expected, true)
        } else {
            // The failed exchanges have checks of their own.
            Check::new("exchanges", expected, actual, false).at(if count == trials.len() {
                CaseLevel::Open
            } else {
                CaseLevel::Must
            })
        });
    }
}

/// Adds the failed checks of a minimal trial, each with its values.
fn report(context: &mut CaseContext, model: &Model, minimal: Minimal, exchanges: usize) {
    let Minimal { trial, played, any_row, repeats } = minimal;
    let name = model.name(&trial);
    let scope = match (trial.changes.as_slice(), repeats) {
        (_, false) => "these values failed once and passed when played again: the failure depends on what happened before"
            .to_owned(),
        ([], true) => "the exchange fails without any variation".to_owned(),
        ([_], true) if any_row => "this value alone suffices, with any row".to_owned(),
        ([_], true) => "this value alone suffices, with this row".to_owned(),
        ([..], true) => "these values together suffice; each alone passes".to_owned(),
    };
    let hint = format!("{scope}; it explains {exchanges} failed exchanges of this case");
    context.record(&played.draft, played.sent);
    for check in played.checks.into_iter().filter(|check| !check.ok && check.level != CaseLevel::Open) {
        let hint = check.hint.as_ref().map_or(hint.clone(), |own| format!("{own}; {hint}"));
        context.check(check.of(&name).hint(&hint));
    }
}
