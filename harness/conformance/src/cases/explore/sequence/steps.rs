use std::ops::Range;

/// Steps to play in order on one target. Pure data.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence<A> {
    /// The steps, at least one.
    pub steps: Vec<Step<A>>,
}

/// One step of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<A> {
    /// The request or event.
    pub action: A,
    /// The client's connection.
    pub connection: ConnectionChoice,
    /// The next step starts at the same time.
    pub together: bool,
    /// Pause before the step (ms).
    pub pause_ms: u16,
}

/// The connection of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionChoice {
    /// A connection of its own.
    Fresh,
    /// The kept connection with this number, from 1 to 3.
    Kept(u8),
}

/// Number of kept connections of a sequence.
pub(super) const KEPT_CONNECTIONS: u8 = 3;
/// Longest pause before a step (ms).
pub(super) const LONGEST_PAUSE_MS: u16 = 1000;

impl<A> Step<A> {
    /// A step on a connection of its own, without a pause.
    pub fn plain(action: A) -> Self {
        Self { action, connection: ConnectionChoice::Fresh, together: false, pause_ms: 0 }
    }
}

impl<A: Clone + PartialEq> Sequence<A> {
    /// A sequence of these steps. No step follows the last one, so nothing starts together with it.
    pub fn new(mut steps: Vec<Step<A>>) -> Self {
        if let Some(last) = steps.last_mut() {
            last.together = false;
        }
        Self { steps }
    }

    /// The same steps, those in turn that may not start together with others.
    #[must_use]
    pub fn separated(mut self, is_alone: impl Fn(&A) -> bool) -> Self {
        for index in self.wrongly_together(is_alone) {
            self.steps[index].together = false;
        }
        self
    }

    /// Positions of the steps that start together with the next one, although one of both has to be alone.
    pub fn wrongly_together(&self, is_alone: impl Fn(&A) -> bool) -> Vec<usize> {
        let pairs = self.steps.windows(2).enumerate();
        let wrong =
            pairs.filter(|(_, pair)| pair[0].together && pair.iter().any(|step| is_alone(&step.action)));
        wrong.map(|(index, _)| index).collect()
    }

    /// The steps that start at the same time, as ranges in order.
    pub fn waves(&self) -> Vec<Range<usize>> {
        let mut waves = Vec::new();
        let mut start = 0;
        for (index, step) in self.steps.iter().enumerate() {
            if !step.together {
                waves.push(start..index + 1);
                start = index + 1;
            }
        }
        waves
    }

    /// The sequence without these steps.
    #[must_use]
    pub fn without(&self, removed: &Range<usize>) -> Self {
        Self::new([&self.steps[..removed.start], &self.steps[removed.end..]].concat())
    }

    /// The sequence with another step at this position.
    #[must_use]
    pub fn with(&self, position: usize, step: Step<A>) -> Self {
        let mut steps = self.steps.clone();
        steps[position] = step;
        Self::new(steps)
    }

    /// The same sequence with kept connections numbered in the order of their first step. A connection with one step is a
    /// fresh one.
    #[must_use]
    pub fn renumbered(mut self) -> Self {
        let uses = |steps: &[Step<A>], choice| steps.iter().filter(|step| step.connection == choice).count();
        let mut numbers: Vec<ConnectionChoice> = Vec::new();
        for step in &self.steps {
            let is_kept =
                step.connection != ConnectionChoice::Fresh && uses(&self.steps, step.connection) > 1;
            if is_kept && !numbers.contains(&step.connection) {
                numbers.push(step.connection);
            }
        }
        for step in &mut self.steps {
            let position = numbers.iter().position(|number| *number == step.connection);
            let number = position.and_then(|position| u8::try_from(position + 1).ok());
            step.connection = number.map_or(ConnectionChoice::Fresh, ConnectionChoice::Kept);
        }
        self
    }

    /// Whether both have the same actions, in any order, and the same last one.
    pub fn has_same_actions(&self, other: &Self) -> bool {
        let actions =
            |sequence: &Self| sequence.steps.iter().map(|step| step.action.clone()).collect::<Vec<_>>();
        let (own, mut others) = (actions(self), actions(other));
        own.last() == others.last()
            && own.len() == others.len()
            && own.iter().all(|action| {
                let position = others.iter().position(|other| other == action);
                position.map(|position| others.swap_remove(position)).is_some()
            })
    }

    /// Whether the steps of `other` occur in this sequence, in their order. Pauses may differ.
    pub fn includes(&self, other: &Self) -> bool {
        let same = |one: &Step<A>, other: &Step<A>| one.action == other.action;
        let mut own = self.steps.iter();
        other.steps.iter().all(|step| own.any(|own| same(own, step)))
    }
}
