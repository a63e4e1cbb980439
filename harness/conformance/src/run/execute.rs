use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::difference::{ProcessDeath, ProcessEnd, ProcessError, Subject};
use edgeproof_reports::{CaseReport, Event, Outcome, TargetKind};
use futures_util::FutureExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::any_runner::AnyRunner;
use super::options::{RunOptions, RunPolicy};
use super::plan::CasePlan;
use super::report::{ReportBuilder, after_run};
use super::runner::{Limitation, SanityResult};
use super::runner_context::{Message, RunnerContext};
use crate::cases::{CaseFacts, CaseFindings, Phase};
use crate::judge::Check;

/// Time between two events, at most, while cases run.
const TICK: Duration = Duration::from_millis(250);
/// Time between two readings of the processors' times.
const READING: Duration = Duration::from_secs(1);

/// Runs the planned cases and emits an event for each step. The report builder keeps every result when this future is
/// dropped halfway: [`ReportBuilder::finish`] reports the rest.
pub(super) async fn execute(
    plan: &CasePlan,
    runner: &Arc<dyn AnyRunner>,
    target: TargetKind,
    options: &Arc<RunOptions>,
    policy: &RunPolicy,
    builder: &mut ReportBuilder,
    events: &mut (dyn FnMut(Event) + Send),
) {
    let (sender, messages) = mpsc::unbounded_channel();
    let context = RunnerContext::new(Arc::clone(options), sender, target);
    if options.probes_sanity {
        match runner.check_sanity(&context).await {
            SanityResult::Usable => {}
            SanityResult::Limited(limitation) => skip_limited(&limitation, builder),
            SanityResult::Died { death, found } => {
                report_first_death(plan, &death, *found, runner.redactor(), builder);
                builder.emit_ready(policy, events);
                return;
            }
            SanityResult::Unusable(why) => {
                let first = why.lines().next().unwrap_or_default();
                builder.skip_open(&format!("target unusable: {first}"));
                builder.add_finding(why, false);
                builder.emit_ready(policy, events);
                return;
            }
        }
    }
    let mut phases = PhaseRunner { plan, runner, context, messages, policy, builder, events };
    for phase in [Phase::First, Phase::Main, Phase::Last] {
        phases.run(phase).await;
    }
    if options.latency
        && let Some(latency) = runner.added_latency(&phases.context).await
    {
        phases.builder.set_latency(latency);
    }
    if plan.cases.iter().any(|planned| planned.case.phase == Phase::Monitors) {
        runner.end_requests(&phases.context).await;
        phases.run(Phase::Monitors).await;
    }
    if let Some((finding, fails)) = phases.context.rate_limit.finding() {
        phases.builder.add_finding(finding, fails);
    }
    for death in runner.unreported_deaths().await {
        builder.add_finding(death, true);
    }
    builder.emit_ready(policy, events);
}

/// The parts of a run, for its phases.
struct PhaseRunner<'r> {
    plan: &'r CasePlan,
    runner: &'r Arc<dyn AnyRunner>,
    context: RunnerContext,
    messages: mpsc::UnboundedReceiver<Message>,
    policy: &'r RunPolicy,
    builder: &'r mut ReportBuilder,
    events: &'r mut (dyn FnMut(Event) + Send),
}

impl PhaseRunner<'_> {
    /// Runs all open cases of a phase: first those that can run at the same time, so that none of them waits for one
    /// that needs the target for itself.
    async fn run(&mut self, phase: Phase) {
        let of_phase = |index: &usize| self.plan.cases[*index].case.phase == phase;
        let open = (0..self.plan.cases.len()).filter(of_phase).filter(|index| self.builder.is_open(*index));
        let (alone, shared) = open.partition(|index| self.runner.runs_alone(*index));
        self.run_all(shared).await;
        self.run_all(alone).await;
    }

    async fn run_all(&mut self, open: Vec<usize>) {
        let mut running = start(self.plan, self.runner, &self.context, open);
        let (mut ticks, mut readings) = (tokio::time::interval(TICK), tokio::time::interval(READING));
        while !running.is_empty() {
            tokio::select! {
                Some(message) = self.messages.recv() => self.receive(message),
                _ = running.join_next() => {}
                _ = ticks.tick() => (self.events)(Event::Tick),
                _ = readings.tick() => self.context.processors.read(),
            }
        }
        while let Ok(message) = self.messages.try_recv() {
            self.receive(message);
        }
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Began { id, title } => (self.events)(Event::Began { id, title }),
            Message::Notice(text) => (self.events)(Event::Notice(text)),
            Message::Ended(index, report) => {
                (self.events)(Event::Completed { id: report.id.clone(), outcome: report.outcome });
                self.builder.record(index, *report);
                self.builder.emit_ready(self.policy, self.events);
            }
        }
    }
}

/// Reports a target that died of the first request: the first case fails, the others do not run.
fn report_first_death(
    plan: &CasePlan,
    death: &ProcessDeath,
    mut found: CaseFindings,
    redactor: &Redactor,
    builder: &mut ReportBuilder,
) {
    let is_first = |case: &CaseFacts| case.phase == Phase::First;
    let text = death.to_string();
    let cause = ProcessError::Death(Box::new(death.clone()));
    match plan
        .cases
        .iter()
        .position(|planned| is_first(&planned.case))
        .filter(|index| builder.is_open(*index))
    {
        Some(index) => {
            found.fail_with(Check::process(ProcessEnd::Died, Subject::Target, Some(cause)));
            let report = after_run(&plan.cases[index].case, &found, Duration::ZERO, None, redactor);
            builder.record(index, report);
        }
        None => builder.add_finding(format!("the target died: {text}"), true),
    }
    let first = text.lines().next().unwrap_or_default();
    builder.skip_open(&format!("the target died: {first}"));
}

/// Reports the cases that a limitation concerns as not run.
fn skip_limited(limitation: &Limitation<usize>, builder: &mut ReportBuilder) {
    if !limitation.concerned.iter().any(|index| builder.is_open(*index)) {
        return;
    }
    builder.add_finding(limitation.finding.clone(), false);
    for index in &limitation.concerned {
        if builder.is_open(*index) {
            builder.skip(*index, limitation.because);
        }
    }
}

/// Starts all cases, the slow ones first.
fn start(
    plan: &CasePlan,
    runner: &Arc<dyn AnyRunner>,
    context: &RunnerContext,
    mut open: Vec<usize>,
) -> JoinSet<()> {
    if context.options.shuffle {
        open.shuffle(&mut rand::rngs::ChaCha8Rng::seed_from_u64(context.options.seed));
    }
    open.sort_by_key(|index| Reverse(plan.cases[*index].case.takes));
    let jobs = Arc::new(Semaphore::new(context.options.jobs.max(1)));
    let mut running = JoinSet::new();
    for index in open {
        let (runner, context, jobs) = (Arc::clone(runner), context.clone(), Arc::clone(&jobs));
        let mut run = Box::pin(async move {
            let report = run_repeatedly(&*runner, &context, index, &jobs).await;
            context.send(Message::Ended(index, Box::new(report)));
        });
        // The first poll queues the case. Spawned tasks start in any order.
        if (&mut run).now_or_never().is_none() {
            running.spawn(run);
        }
    }
    running
}

/// Runs a case until it fails, at most as often as the user asked. Yields its last report.
async fn run_repeatedly(
    runner: &dyn AnyRunner,
    context: &RunnerContext,
    case: usize,
    jobs: &Arc<Semaphore>,
) -> CaseReport {
    let rounds = context.options.repeat.max(1);
    let mut round = 1;
    loop {
        let mut report = runner.run_case(context, case, jobs).await;
        if !matches!(report.outcome, Outcome::Pass | Outcome::Observed | Outcome::NotApplicable) {
            if rounds > 1 {
                report.because = format!("round {round} of {rounds}: {}", report.because);
            }
            return report;
        }
        if round == rounds {
            return report;
        }
        round += 1;
    }
}
