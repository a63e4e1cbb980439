use proptest::strategy::ValueTree;

use super::action_model::ActionModel;
use super::steps::{ConnectionChoice, Sequence, Step};

/// Shrinks a failing sequence: removes steps, many at once first, then makes the remaining ones plainer.
///
/// Call [`simplify`](ValueTree::simplify) while the current sequence fails, and [`complicate`](ValueTree::complicate)
/// when it passes. No candidate occurs twice. In contrast to the trees of generated values, a tree grows from any
/// sequence, such as a saved one.
#[derive(Debug)]
pub struct ShrinkTree<'m, M: ActionModel> {
    model: &'m M,
    /// The smallest sequence that is known to fail.
    smallest: Sequence<M::Action>,
    /// The sequence to try.
    candidate: Option<Sequence<M::Action>>,
    /// Position of the next candidate among those of `smallest`.
    position: usize,
    tried: Vec<Sequence<M::Action>>,
}

impl<'m, M: ActionModel> ShrinkTree<'m, M> {
    /// A tree that starts at a failing sequence.
    pub fn new(model: &'m M, failing: Sequence<M::Action>) -> Self {
        Self { model, tried: vec![failing.clone()], smallest: failing, candidate: None, position: 0 }
    }

    /// Moves on to the next untried candidate.
    fn advance(&mut self) -> bool {
        while let Some(candidate) = self.nth(self.position) {
            self.position += 1;
            let candidate = candidate.separated(|action| self.model.is_alone(action));
            if !self.tried.contains(&candidate) {
                self.tried.push(candidate.clone());
                self.candidate = Some(candidate);
                return true;
            }
        }
        self.candidate = None;
        false
    }

    /// A candidate by its position. Each is smaller or plainer than the smallest failing sequence.
    fn nth(&self, mut position: usize) -> Option<Sequence<M::Action>> {
        let count = self.smallest.steps.len();
        let mut size = count / 2;
        while size > 0 {
            let cuts = count.div_ceil(size);
            if position < cuts {
                let start = position * size;
                return Some(self.smallest.without(&(start..(start + size).min(count))));
            }
            position -= cuts;
            size /= 2;
        }
        for (index, step) in self.smallest.steps.iter().enumerate() {
            let plainer = self.plainer(step);
            if let Some(step) = plainer.get(position) {
                return Some(self.smallest.with(index, step.clone()));
            }
            position -= plainer.len();
        }
        None
    }

    /// Plainer forms of a step.
    fn plainer(&self, step: &Step<M::Action>) -> Vec<Step<M::Action>> {
        let mut plainer = Vec::new();
        let mut add = |change: &dyn Fn(&mut Step<M::Action>)| {
            let mut changed = step.clone();
            change(&mut changed);
            if changed != *step {
                plainer.push(changed);
            }
        };
        add(&|step| step.pause_ms = 0);
        add(&|step| step.together = false);
        add(&|step| step.connection = ConnectionChoice::Fresh);
        if step.connection > ConnectionChoice::Kept(1) {
            add(&|step| step.connection = ConnectionChoice::Kept(1));
        }
        for action in self.model.plainer(&step.action) {
            add(&|step| step.action = action.clone());
        }
        plainer
    }
}

impl<M: ActionModel> ValueTree for ShrinkTree<'_, M> {
    type Value = Sequence<M::Action>;

    fn current(&self) -> Self::Value {
        self.candidate.as_ref().unwrap_or(&self.smallest).clone()
    }

    fn simplify(&mut self) -> bool {
        if let Some(failed) = self.candidate.take() {
            self.smallest = failed;
            self.position = 0;
        }
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        self.advance()
    }
}
