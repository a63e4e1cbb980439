//! Targets without sockets: a predicate decides whether a step fails, from the steps before it.

use std::time::{Duration, Instant};

use edgeproof::cases::Catalog;
use edgeproof::cases::explore::sequence::{
    ActionModel, EdgeAction, EdgeModel, Failure, Played, Sequence, SequencePlayer, ShrinkTree, Step,
};
use edgeproof::judge::Check;
use edgeproof_fixtures::spec::{Family, Spec, Version};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::difference::Counted;
use proptest::strategy::ValueTree;

/// Whether the last of these steps fails.
pub(crate) type Fails = fn(&EdgeModel, &[Step<EdgeAction>]) -> bool;

/// A target that fails after certain steps.
pub(crate) struct FakeTarget<'m> {
    pub(crate) model: &'m EdgeModel,
    pub(crate) fails: Fails,
    /// Whether it can start again.
    pub(crate) restarts: bool,
    /// It remembers the steps of earlier sequences.
    pub(crate) remembers: bool,
    /// What it played since its start.
    pub(crate) history: Vec<Step<EdgeAction>>,
    /// Number of sequences played.
    pub(crate) plays: usize,
}

/// The steps of an edge.
pub(crate) fn edge_model() -> EdgeModel {
    let spec = Spec::builtin(Version::Current);
    let shape = ReplyShape::from_profile(spec.profile());
    EdgeModel::new(&Catalog::new(&spec, &shape, false))
}

impl<'m> FakeTarget<'m> {
    pub(crate) fn new(model: &'m EdgeModel, fails: Fails) -> Self {
        Self { model, fails, restarts: true, remembers: false, history: Vec::new(), plays: 0 }
    }
}

impl SequencePlayer for FakeTarget<'_> {
    type Action = EdgeAction;

    fn now(&self) -> Instant {
        Instant::now()
    }

    async fn play(&mut self, sequence: &Sequence<EdgeAction>, _limit: Duration) -> Played {
        self.plays += 1;
        if !self.remembers {
            self.history.clear();
        }
        for (index, step) in sequence.steps.iter().enumerate() {
            self.history.push(step.clone());
            if (self.fails)(self.model, &self.history) {
                let check = Check::counted(Counted::Copies, 0, 1);
                return Played {
                    failure: Failure::of(index, &[check]),
                    steps: index + 1,
                    exchanges: Vec::new(),
                };
            }
        }
        Played { steps: sequence.steps.len(), ..Played::default() }
    }

    async fn restart(&mut self) -> bool {
        if self.restarts {
            self.history.clear();
        }
        self.restarts
    }
}

/// Whether a step is a collection that the service refuses for a reason.
pub(crate) fn is_refusal(model: &EdgeModel, step: &Step<EdgeAction>) -> bool {
    family(model, step) == Some(Family::Refusals)
}

/// The family of a step's exchange.
pub(crate) fn family(model: &EdgeModel, step: &Step<EdgeAction>) -> Option<Family> {
    let EdgeAction::Exchange(trial) = &step.action else { return None };
    Some(model.variation().rows[trial.row].family)
}

/// Whether a sequence fails at any step.
pub(crate) fn fails(model: &EdgeModel, sequence: &Sequence<EdgeAction>, fails: Fails) -> bool {
    (1..=sequence.steps.len()).any(|end| fails(model, &sequence.steps[..end]))
}

/// Shrinks a failing sequence. Yields the smallest one and the number of candidates.
pub(crate) fn shrink<M: ActionModel>(
    model: &M,
    failing: Sequence<M::Action>,
    fails: impl Fn(&Sequence<M::Action>) -> bool,
) -> (Sequence<M::Action>, usize) {
    let mut tree = ShrinkTree::new(model, failing.clone());
    let (mut smallest, mut candidates) = (failing, 0);
    let mut moved = tree.simplify();
    while moved {
        candidates += 1;
        let candidate = tree.current();
        moved = if fails(&candidate) {
            smallest = candidate;
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    assert_eq!(tree.current(), smallest);
    (smallest, candidates)
}
