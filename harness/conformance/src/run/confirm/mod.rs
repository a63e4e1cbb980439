//! A failure is played again: always, only after other cases, sometimes, or never again.

mod search;

use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_reports::{Cause, Confirmation, Outcome, TargetKind};
use tokio::sync::mpsc;

use self::search::{Repeats, Replay, SHOWN, when_it_fails};
use super::any_runner::AnyRunner;
use super::options::{RunOptions, RunPolicy};
use super::report::ReportBuilder;
use super::runner_context::RunnerContext;

/// No case is played again after this time.
const LIMIT: Duration = Duration::from_secs(20);

/// Plays an example of each cause again, the heaviest cause first, and records what it did. A history that a failure needs
/// is shortened as long as it fails.
pub(super) async fn confirm(
    causes: &[Cause],
    runner: &Arc<dyn AnyRunner>,
    target: TargetKind,
    options: &Arc<RunOptions>,
    policy: &RunPolicy,
    builder: &mut ReportBuilder,
) {
    // The progress of these plays is not shown.
    let (sender, _messages) = mpsc::unbounded_channel();
    let context = RunnerContext::new(Arc::clone(options), sender, target);
    let mut plays = Plays { until: Instant::now() + LIMIT, longest: Duration::ZERO };
    let mut unplayed = 0;
    for cause in causes {
        let is_known = |id: &str| policy.baseline.as_ref().is_some_and(|baseline| baseline.names(id));
        let unknown = cause.cases.iter().filter(|id| !is_known(id));
        let found = unknown.filter_map(|id| builder.outcome(id)).find(|(case, _)| runner.is_playable(*case));
        let Some((case, outcome)) = found else { continue };
        let mut replay = Replayed { runner: &**runner, context: &context, case, outcome, plays: &mut plays };
        match when_it_fails(&mut replay).await {
            Some(repeats) => builder.confirm(case, confirmation(repeats, &**runner)),
            None => unplayed += usize::from(plays.are_over()),
        }
    }
    if unplayed > 0 {
        let examples = edgeproof_reports::counted(unplayed, "cause");
        let finding =
            format!("no example of {examples} was played again: the time for it, {LIMIT:?}, is over");
        builder.add_finding(finding, false);
    }
}

fn confirmation(repeats: Repeats, runner: &dyn AnyRunner) -> Confirmation {
    match repeats {
        Repeats::Always(plays) => Confirmation::Always(plays),
        Repeats::OnlyAfter(history) => {
            Confirmation::OnlyAfter(history.into_iter().map(|case| runner.id(case).to_owned()).collect())
        }
        Repeats::Sometimes { failed, plays } => Confirmation::Sometimes { failed, plays },
        Repeats::Once(plays) => Confirmation::Once(plays),
    }
}

/// Time of all plays.
struct Plays {
    until: Instant,
    /// Duration of the longest play so far: another one may take as long.
    longest: Duration,
}

impl Plays {
    fn are_over(&self) -> bool {
        Instant::now() + self.longest > self.until
    }
}

/// A failed case that is played again, each time on a new target if the mode allows it.
struct Replayed<'r> {
    runner: &'r dyn AnyRunner,
    context: &'r RunnerContext,
    case: usize,
    outcome: Outcome,
    plays: &'r mut Plays,
}

impl Replay for Replayed<'_> {
    fn history(&self) -> Vec<usize> {
        self.runner.history(self.case)
    }

    async fn fails(&mut self, history: &[usize]) -> Option<bool> {
        if self.plays.are_over() {
            return None;
        }
        // A command repeats a short history in order.
        let jobs = if history.len() <= SHOWN { 1 } else { self.context.options.jobs };
        let began = Instant::now();
        let report = self.runner.play_again(self.context, history, self.case, jobs).await;
        self.plays.longest = self.plays.longest.max(began.elapsed());
        let outcome = report?.outcome;
        let is_judged = !matches!(outcome, Outcome::NotRun | Outcome::NotApplicable);
        is_judged.then_some(outcome == Outcome::Fail || outcome == self.outcome)
    }
}
