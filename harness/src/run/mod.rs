//! The run: cases × target → events.

mod baseline;
mod fleet;
mod ground;
mod latency;
mod outcome;
mod pins;
mod plan;
mod play;
mod tally;
mod transcript;

pub use baseline::{Baseline, BaselineError};
pub use fleet::{Behind, Fleet, LeaseError, Props};
pub(crate) use outcome::ended;
pub use pins::{PinError, Pins};
pub(crate) use plan::needs_plain_reasons;
pub use plan::{Circumstances, Plan, PlanError, Selection};
pub use play::Options;
pub use tally::{Tally, Verdict};

use std::sync::Arc;

use miette::Diagnostic;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use reports::{Event, Outcome};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::cases::{Case, Found, Phase};
use crate::target::Setup;
use ground::Ground;
use play::{Message, Player};

/// Plays the plan and tells what happens. The tally holds all that came of it, also when this is dropped half way:
/// [`Tally::finish`] tells the rest.
pub async fn run(
    plan: &Plan,
    fleet: &Arc<Fleet>,
    options: &Arc<Options>,
    verdict: &Verdict,
    tally: &mut Tally,
    events: &mut (dyn FnMut(Event) + Send),
) {
    let (sender, mut messages) = mpsc::unbounded_channel();
    let player = Player { fleet: Arc::clone(fleet), options: Arc::clone(options), messages: sender };
    for phase in [Phase::First, Phase::Main, Phase::Last] {
        let mut waiting: Vec<(usize, Arc<Case>)> = Vec::new();
        for (index, (case, _)) in plan.cases.iter().enumerate() {
            if case.phase == phase && tally.is_open(index) {
                waiting.push((index, Arc::clone(case)));
            }
        }
        if phase == Phase::First {
            match first(&player).await {
                Ground::Firm => {}
                Ground::None(why) => {
                    let first = why.lines().next().unwrap_or_default();
                    tally.give_up(&format!("nothing can be proven: {first}"));
                    tally.find(why, false);
                    tally.tell(verdict, events);
                    return;
                }
            }
            if let Some(why) = reads_no_reason(&player).await {
                tally.find(why, false);
                for (index, (case, _)) in plan.cases.iter().enumerate() {
                    if tally.is_open(index) && needs_plain_reasons(case) {
                        let because = "the edge reads no reason of the mock service: see the finding";
                        tally.put(index, outcome::unplayed(case, Outcome::NotRun, because));
                    }
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
    tally.tell(verdict, events);
    if options.latency
        && let Some(latency) = latency::measure(&player).await
    {
        tally.measured(latency);
    }
}

/// The ground is judged whatever was filtered, by a conversation of its own where `sanity.first` is not planned.
async fn first(player: &Player) -> Ground {
    if let Behind::Nothing(_, wanted) = player.fleet.props().behind {
        return without_service(player, wanted).await;
    }
    match player.sound().await {
        Ok(found) => ground::judge(&player.fleet.props().spec, &found, player.fleet.starts_edges()),
        Err(why) => Ground::None(told(&why)),
    }
}

/// Why there is no edge: with what it wrote last, and what to do.
fn told(why: &LeaseError) -> String {
    let text = format!("failed to {}", crate::error_text(why));
    why.help().map_or(text.clone(), |help| format!("{text}\n{help}"))
}

/// An edge that is there, and that nothing of ours stands behind.
async fn without_service(player: &Player, wanted: bool) -> Ground {
    let place = player.fleet.reserve(Setup::Standard, false).await;
    match player.fleet.lease(place).await {
        Err(why) => Ground::None(told(&why)),
        Ok(_) if wanted => Ground::Firm,
        Ok(_) => Ground::None(
            "nothing of edgeproof stands behind this edge. Start it with settings from `edgeproof mint edge-settings --out DIR` \
             and add --settings DIR; or add --no-service to prove only what needs no service"
                .into(),
        ),
    }
}

/// Every refusal comes back as unknown: one finding, not one for each reason.
async fn reads_no_reason(player: &Player) -> Option<String> {
    let saw = player.reasons().await?;
    Some(format!(
        "the edge turns every reason of the mock service into `unknown`: it expects replies of another shape than {saw}. \
         Describe the shape that your service has with --reply-shape FILE, such as {{\"code\":\"{{reason}}\"}}"
    ))
}

/// Starts all of them, those that take long first.
fn start(player: &Player, mut waiting: Vec<(usize, Arc<Case>)>) -> JoinSet<()> {
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

fn take(message: Message, verdict: &Verdict, tally: &mut Tally, events: &mut (dyn FnMut(Event) + Send)) {
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
type Sounding = Result<Found, LeaseError>;
