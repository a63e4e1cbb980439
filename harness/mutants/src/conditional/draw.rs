use std::sync::Arc;

use edgeproof_edge::EdgeOptions;
use edgeproof_fixtures::spec::PartName;
use edgeproof_mock::{ServiceEndpoint, ServiceOptions};
use edgeproof_targets::FaultInjection;

use super::condition::Generated;
use super::coverage::Coverage;
use super::effect::{GeneratedEffect, OF_EDGE, OF_SERVICE};
use super::outcome::outcomes;
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

/// A request for a verdict.
const VERDICT: Condition = Condition::Endpoint(ServiceEndpoint::Verdict);

/// All mutants of a part that some exchange met.
pub(super) fn candidates(part: PartName, conditions: &[Generated], coverage: &Coverage) -> Vec<Candidate> {
    if part == PartName::Edge {
        of_effects(part, OF_EDGE, &Condition::Collection, conditions, coverage, ConditionalFault::Edge)
    } else {
        of_effects(part, OF_SERVICE, &VERDICT, conditions, coverage, ConditionalFault::Service)
    }
}

fn of_effects<E: Copy>(
    part: PartName,
    effects: &'static [GeneratedEffect<E>],
    before: &Condition,
    conditions: &[Generated],
    coverage: &Coverage,
    fault: fn(Condition, E) -> ConditionalFault,
) -> Vec<Candidate> {
    let outcomes = outcomes(part);
    let mut all = Vec::new();
    for (at, condition) in conditions.iter().enumerate() {
        for effect in effects {
            let on = outcomes
                .iter()
                .enumerate()
                .filter(|(class, outcome)| effect.on.contains(&outcome.name) && coverage.met(at, *class) > 0);
            if effect.is_early {
                // The outcome is not known yet, so the condition must not need it.
                if on.count() > 0 && !condition.needs_outcome {
                    let name = format!("{}: {}", condition.name, effect.name);
                    all.push(Candidate { name, fault: fault(both(condition.when, before), effect.then) });
                }
                continue;
            }
            for (_, outcome) in on {
                let name = format!("{}, {}: {}", condition.name, outcome.name, effect.name);
                let when = both(condition.when, &outcome.when);
                all.push(Candidate { name, fault: fault(when, effect.then) });
            }
        }
    }
    all
}

/// Both conditions. A program makes some thousand of them, once.
fn both(condition: Condition, other: &Condition) -> Condition {
    Condition::All(vec![*other, condition].leak())
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
