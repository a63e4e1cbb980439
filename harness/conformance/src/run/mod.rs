//! The run: cases × target → events.

mod baseline;
mod edge_pool;
mod edge_sanity;
mod latency;
mod outcome;
mod pins;
mod plan;
mod play;
mod reason_probe;
mod runner;
mod service_runner;
mod service_sanity;
mod tally;
mod transcript;

pub use baseline::{Baseline, BaselineError};
pub use edge_pool::{EdgePool, EdgePoolOptions, EdgeUpstream, LeaseError};
pub use edge_sanity::{Gap, SanityResult};
pub use outcome::ended;
pub use pins::{PinError, Pins};
pub use plan::needs_plain_reasons;
pub use plan::{Applicability, Capabilities, Plan, PlanError, Selection};
pub use play::{Player, RunOptions};
pub use reason_probe::{hides_reason, reason_probes};
pub use runner::Runner;
pub use service_runner::{
    ServiceLocation, ServicePart, ServiceRunner, ServiceRunnerError, ServiceRunnerOptions,
};
pub use tally::{RunPolicy, Tally};

use std::sync::Arc;

use edgeproof_reports::{Event, Outcome};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::cases::{Case, CaseFindings, Phase};
use play::Message;

/// Plays the plan and tells what happens. The tally holds all that came of it, also when this is dropped half way:
/// [`Tally::finish`] tells the rest.
pub async fn run<A: Runner>(
    plan: &Plan,
    runner: &Arc<A>,
    options: &Arc<RunOptions>,
    verdict: &RunPolicy,
    tally: &mut Tally,
    events: &mut (dyn FnMut(Event) + Send),
) {
    let (sender, mut messages) = mpsc::unbounded_channel();
    let player = Player { runner: Arc::clone(runner), options: Arc::clone(options), messages: sender };
    for phase in [Phase::First, Phase::Main, Phase::Last] {
        let mut waiting: Vec<(usize, Arc<Case>)> = Vec::new();
        for (index, (case, _)) in plan.cases.iter().enumerate() {
            if case.phase == phase && tally.is_open(index) {
                waiting.push((index, Arc::clone(case)));
            }
        }
        if phase == Phase::First && options.probes_sanity {
            match A::sanity(&player).await {
                SanityResult::Sound => {}
                SanityResult::Partial(Gap { finding, concerns, because }) => {
                    tally.find(finding, false);
                    for (index, (case, _)) in plan.cases.iter().enumerate() {
                        if tally.is_open(index) && concerns(case) {
                            tally.put(index, outcome::unplayed(case, Outcome::NotRun, because));
                        }
                    }
                }
                SanityResult::Unusable(why) => {
                    let first = why.lines().next().unwrap_or_default();
                    tally.give_up(&format!("nothing can be proven: {first}"));
                    tally.find(why, false);
                    tally.tell(verdict, events);
                    return;
                }
            }
            waiting.retain(|(index, _)| tally.is_open(*index));
        }
        let mut playing = start(&player, waiting);
        while !playing.is_empty() {
            tokio::select! {
                Some(message) = messages.recv() => take(message, verdict, tally, events),
                _ = playing.join_next() => {}
            }
        }
        while let Ok(message) = messages.try_recv() {
            take(message, verdict, tally, events);
        }
    }
    // With filters, a point that was not seen says nothing.
    if plan.cases.len() == plan.all.len() {
        for point in player.options.pins.unseen(&tally.observations()) {
            tally.find(
                format!("pinned point {point} was not seen: mend its name, or delete it from the file"),
                true,
            );
        }
    }
    tally.tell(verdict, events);
    if options.latency
        && let Some(latency) = A::added_latency(&player).await
    {
        tally.measured(latency);
    }
}

/// Starts all of them, those that take long first.
fn start<A: Runner>(player: &Player<A>, mut waiting: Vec<(usize, Arc<Case>)>) -> JoinSet<()> {
    if let Some(seed) = player.options.shuffle {
        waiting.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(seed));
    }
    waiting.sort_by_key(|(_, case)| std::cmp::Reverse(case.takes));
    let jobs = Arc::new(Semaphore::new(player.options.jobs.max(1)));
    let mut playing = JoinSet::new();
    for (index, case) in waiting {
        let (player, jobs) = (player.clone(), Arc::clone(&jobs));
        playing.spawn(async move { player.play(index, case, &jobs).await });
    }
    playing
}

fn take(message: Message, verdict: &RunPolicy, tally: &mut Tally, events: &mut (dyn FnMut(Event) + Send)) {
    match message {
        Message::Began(id) => events(Event::Began { id }),
        Message::Notice(text) => events(Event::Notice(text)),
        Message::Ended(index, report) => {
            tally.put(index, *report);
            tally.tell(verdict, events);
        }
    }
}

/// What a conversation that is not a case found.
type SanityProbe = Result<CaseFindings, LeaseError>;
