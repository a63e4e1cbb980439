use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult,
};
use edgeproof_mock::{ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceOptions, ServiceRequest};
use edgeproof_targets::FaultInjection;

use super::condition::Generated;
use super::outcome::OutcomeClass;
use crate::behaviour::{Answer, Condition, Effect, Engine, History, Memory, Seen, Setup};

/// Counts the exchanges of a run that meet each condition, by outcome. Changes nothing.
#[derive(Debug)]
pub(super) struct Coverage {
    conditions: Vec<Condition>,
    outcomes: &'static [OutcomeClass],
    /// For each condition a count for each outcome.
    counts: Arc<Vec<AtomicU64>>,
}

/// The position of a condition.
#[derive(Debug, Clone, Copy)]
struct Counted(usize);

impl Effect for Counted {
    fn memory(&self) -> Option<Memory> {
        None
    }
}

/// The conditions at one part.
#[derive(Debug)]
struct CountingPart {
    engine: Engine<Counted>,
    outcomes: &'static [OutcomeClass],
    counts: Arc<Vec<AtomicU64>>,
}

impl Coverage {
    pub(super) fn new(conditions: &[Generated], outcomes: &'static [OutcomeClass]) -> Self {
        let counts = (0..conditions.len() * outcomes.len()).map(|_| AtomicU64::default());
        Self {
            conditions: conditions.iter().map(|one| one.when).collect(),
            outcomes,
            counts: Arc::new(counts.collect()),
        }
    }

    /// Number of exchanges with this outcome that met this condition.
    pub(super) fn met(&self, condition: usize, outcome: usize) -> u64 {
        self.counts[condition * self.outcomes.len() + outcome].load(Ordering::Relaxed)
    }

    fn part(&self, setup: Setup) -> CountingPart {
        let conditions = self.conditions.iter().enumerate();
        let effects = conditions.map(|(at, condition)| (*condition, Counted(at))).collect();
        CountingPart {
            engine: Engine::of(Condition::Always, effects, setup),
            outcomes: self.outcomes,
            counts: Arc::clone(&self.counts),
        }
    }
}

impl FaultInjection for Coverage {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::new(self.part(Setup::of_edge(options)));
    }

    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::new(self.part(Setup::default()));
    }
}

impl CountingPart {
    fn count(&self, seen: &Seen<'_>) {
        let mut history = self.engine.history.lock();
        let met = self.engine.effects_after(seen, &history);
        let none = History::default();
        for (at, outcome) in self.outcomes.iter().enumerate() {
            if outcome.when.holds(seen, &none) {
                for Counted(condition) in &met {
                    self.counts[condition * self.outcomes.len() + at].fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        history.conclude(seen);
    }
}

impl EdgeFaultHooks for CountingPart {
    fn decide(&self, request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        let seen = self.engine.seen_by_edge(request);
        self.engine.history.lock().arrive(&seen);
        right
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        let answer = Answer::from(right.clone());
        self.count(&Seen { relayed, answer: Some(&answer), ..self.engine.seen_by_edge(request) });
        EdgeAction::Answer(right)
    }
}

impl ServiceFaultHooks for CountingPart {
    fn at_once(&self, request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        let seen = self.engine.seen_by_service(request);
        self.engine.history.lock().arrive(&seen);
        None
    }

    fn conclude(&self, request: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        let answer = Answer::from(right.clone());
        let stimulus = right.stimulus;
        self.count(&Seen { stimulus, answer: Some(&answer), ..self.engine.seen_by_service(request) });
        ServiceAction::At(Duration::ZERO, right)
    }
}
