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
    /// The sequence to try, and where to go on if it fails.
    candidate: Option<(Sequence<M::Action>, Cursor)>,
    /// The next change to `smallest`.
    cursor: Cursor,
    /// A candidate of this round failed, so that another round may go further.
    changed: bool,
    tried: Vec<Sequence<M::Action>>,
}

/// A change to a sequence.
#[derive(Debug, Clone, Copy)]
enum Cursor {
    /// Removes `size` steps.
    Cut { size: usize, start: usize },
    /// Replaces a step by a plainer one.
    Plainer { step: usize, choice: usize },
}

impl<'m, M: ActionModel> ShrinkTree<'m, M> {
    /// A tree that starts at a failing sequence.
    pub fn new(model: &'m M, failing: Sequence<M::Action>) -> Self {
        let cursor = Cursor::Cut { size: failing.steps.len() / 2, start: 0 };
        Self {
            model,
            tried: vec![failing.clone()],
            smallest: failing,
            candidate: None,
            cursor,
            changed: false,
        }
    }

    /// Moves on to the next untried candidate.
    fn advance(&mut self) -> bool {
        loop {
            let count = self.smallest.steps.len();
            let (candidate, next) = match self.cursor {
                Cursor::Cut { size: 0, .. } => (None, Cursor::Plainer { step: 0, choice: 0 }),
                Cursor::Cut { size, start } if start >= count => {
                    (None, Cursor::Cut { size: size / 2, start: 0 })
                }
                Cursor::Cut { size, start } => {
                    let removed = start..(start + size).min(count);
                    let candidate = (removed.len() < count).then(|| self.smallest.without(&removed));
                    (candidate, Cursor::Cut { size, start: start + size })
                }
                Cursor::Plainer { step, choice } if step < count => {
                    match self.plainer(&self.smallest.steps[step]).into_iter().nth(choice) {
                        Some(plainer) => (
                            Some(self.smallest.with(step, plainer)),
                            Cursor::Plainer { step, choice: choice + 1 },
                        ),
                        None => (None, Cursor::Plainer { step: step + 1, choice: 0 }),
                    }
                }
                Cursor::Plainer { .. } if self.changed => {
                    self.changed = false;
                    (None, Cursor::Cut { size: count / 2, start: 0 })
                }
                Cursor::Plainer { .. } => {
                    self.candidate = None;
                    return false;
                }
            };
            let here = std::mem::replace(&mut self.cursor, next);
            let Some(candidate) = candidate else { continue };
            let candidate = self.model.allowed(candidate).renumbered();
            if !self.tried.contains(&candidate) {
                self.tried.push(candidate.clone());
                self.candidate = Some((candidate, here));
                return true;
            }
        }
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
        for action in self.model.plainer(&step.action) {
            add(&|step| step.action = action.clone());
        }
        plainer
    }
}

impl<M: ActionModel> ValueTree for ShrinkTree<'_, M> {
    type Value = Sequence<M::Action>;

    fn current(&self) -> Self::Value {
        self.candidate.as_ref().map_or(&self.smallest, |(candidate, _)| candidate).clone()
    }

    fn simplify(&mut self) -> bool {
        if let Some((failed, here)) = self.candidate.take() {
            self.smallest = failed;
            self.changed = true;
            self.cursor = match here {
                Cursor::Cut { .. } => here,
                Cursor::Plainer { step, .. } => Cursor::Plainer { step, choice: 0 },
            };
        }
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        self.advance()
    }
}
