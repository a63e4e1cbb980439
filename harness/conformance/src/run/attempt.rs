use std::sync::Arc;
use std::time::Instant;

use edgeproof_reports::{CaseReport, Outcome};
use tokio::sync::Semaphore;

use super::death::Death;
use super::liveness::{Attempt, CaseEnd, run_until_judged};
use super::report::{after_run, timeout_check, without_run};
use super::runner::{Released, Runner};
use super::runner_context::RunnerContext;
use crate::cases::{Case, Part, Procedure};

/// Runs a case until no other case's crash affects its report.
pub(super) async fn run_case<R: Runner>(
    runner: &R,
    context: &RunnerContext,
    case: &Case<R::Part>,
    jobs: &Arc<Semaphore>,
) -> CaseReport {
    match case.procedure {
        Procedure::Monitor(monitor) => run_monitor(runner, context, case, monitor).await,
        _ => run_until_judged(|alone| attempt(runner, context, case, alone, jobs)).await,
    }
}

/// Runs a case once. `alone`: no other case uses the target at the same time.
async fn attempt<R: Runner>(
    runner: &R,
    context: &RunnerContext,
    case: &Case<R::Part>,
    alone: bool,
    jobs: &Arc<Semaphore>,
) -> Attempt {
    let mut leased = match runner.lease(context, case, alone, jobs).await {
        Ok(leased) => leased,
        Err(ended) => return ended,
    };
    context.begin(case);
    if context.holds(case) {
        let text = format!("held before {}: {}{}", case.id, case.title, runner.hold_text(case, &mut leased));
        context.wait_for_enter(text).await;
    }
    let in_time = runner.play(case, &mut leased).await;
    let (began, took) = (leased.began, leased.began.elapsed());
    if !in_time {
        let check = timeout_check(leased.limit.duration());
        R::time_out(&mut leased, check);
    }
    let Released { mut found, end, notes } = runner.release(context, case, leased).await;
    context.judge_observations(case, &mut found, in_time);
    context.excuse_delays(began, &mut found);
    context.pace.learn::<R::Part>(&found);
    context.rate_limit.watch::<R::Part>(case, &mut found);
    match &end {
        CaseEnd::BrokenOff(death) => return broken_off(runner, case, Arc::clone(death)),
        CaseEnd::Last(death) | CaseEnd::Suspect(death, _) => found.fail_with(death.check(R::Part::SUBJECT)),
        CaseEnd::Survived | CaseEnd::Refused => {}
    }
    Attempt { report: after_run(case, &found, took, notes, runner.redactor()), end }
}

/// An attempt that the death of the target broke off.
pub(super) fn broken_off<R: Runner>(runner: &R, case: &Case<R::Part>, death: Arc<Death>) -> Attempt {
    let because = death.because(R::Part::SUBJECT);
    let because = runner.redactor().redact(&because);
    Attempt { report: without_run(case, Outcome::NotRun, &because), end: CaseEnd::BrokenOff(death) }
}

/// Judges the whole run by one invariant.
async fn run_monitor<R: Runner>(
    runner: &R,
    context: &RunnerContext,
    case: &Case<R::Part>,
    monitor: <R::Part as Part>::Monitor,
) -> CaseReport {
    context.begin(case);
    let began = Instant::now();
    let judged = if let Some(because) = context.rate_limit.because() {
        Err(because)
    } else if runner.is_gone() {
        Err(format!("{} died after another case: later exchanges are missing", R::Part::SUBJECT.name()))
    } else {
        runner.judge(context, monitor, case.level).await
    };
    match judged {
        Ok(mut found) => {
            context.judge_observations(case, &mut found, true);
            after_run(case, &found, began.elapsed(), None, runner.redactor())
        }
        Err(because) => without_run(case, Outcome::NotRun, &because),
    }
}
