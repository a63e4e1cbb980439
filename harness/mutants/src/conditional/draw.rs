use std::sync::Arc;

use edgeproof_edge::EdgeOptions;
use edgeproof_fixtures::spec::PartName;
use edgeproof_mock::ServiceOptions;
use edgeproof_targets::FaultInjection;

use super::condition::Generated;
use super::coverage::Coverage;
use super::effect::{GeneratedEffect, OF_EDGE, OF_SERVICE};
use super::outcome::{OutcomeClass, outcomes};
use crate::behaviour::{Condition, Engine, Setup};
use crate::edge::EdgeEffect;
use crate::service::ServiceEffect;

/// A mutant that can be drawn: a condition that some exchange met, and an effect.
#[derive(Debug)]
pub(super) struct Candidate {
    /// In words.
    pub(super) name: String,
    pub(super) fault: ConditionalFault,
}

/// All mutants of a part that some exchange met.
pub(super) fn candidates(part: PartName, conditions: &[Generated], coverage: &Coverage) -> Vec<Candidate> {
    if part == PartName::Edge {
        of_effects(part, OF_EDGE, conditions, coverage, ConditionalFault::Edge)
    } else {
        of_effects(part, OF_SERVICE, conditions, coverage, ConditionalFault::Service)
    }
}

fn of_effects<E: Copy>(
    part: PartName,
    effects: &'static [GeneratedEffect<E>],
    conditions: &[Generated],
    coverage: &Coverage,
    fault: fn(Condition, E) -> ConditionalFault,
) -> Vec<Candidate> {
    let outcomes = outcomes(part);
    let mut all = Vec::new();
    for (at, condition) in conditions.iter().enumerate() {
        for effect in effects {
            for (class, outcome) in outcomes.iter().enumerate() {
                let is_met = coverage.met(at, class) > 0;
                if is_met && effect.on.is_some_and(|on| on.contains(&outcome.name)) {
                    let name = format!("{}, {}: {}", condition.name, outcome.name, effect.name);
                    all.push(Candidate { name, fault: fault(both(condition.when, outcome), effect.then) });
                }
            }
            // Before the outcome is known, so the condition must not need it.
            let is_met = (0..outcomes.len()).any(|class| coverage.met(at, class) > 0);
            if effect.on.is_none() && is_met && !condition.needs_outcome {
                let name = format!("{}: {}", condition.name, effect.name);
                let when = Condition::All(vec![condition.when, Condition::Collection].leak());
                all.push(Candidate { name, fault: fault(when, effect.then) });
            }
        }
    }
    all
}

/// The condition with an outcome. A program makes some thousand of them, once.
fn both(condition: Condition, outcome: &'static OutcomeClass) -> Condition {
    Condition::All(vec![outcome.when, condition].leak())
}

/// Effect of a condition at a part, in each of its edges or services.
#[derive(Debug)]
pub(super) enum ConditionalFault {
    Edge(Condition, EdgeEffect),
    Service(Condition, ServiceEffect),
}

impl FaultInjection for ConditionalFault {
    fn edge(&self, options: &mut EdgeOptions) {
        if let Self::Edge(when, then) = self {
            let setup = Setup::of_edge(options);
            options.hooks = Arc::new(Engine::of(Condition::Always, vec![(*when, *then)], setup));
        }
    }

    fn service(&self, options: &mut ServiceOptions) {
        if let Self::Service(when, then) = self {
            let effects = vec![(*when, *then)];
            options.hooks = Arc::new(Engine::of(Condition::Always, effects, Setup::default()));
        }
    }
}
