use http::{HeaderMap, Method};
use parking_lot::Mutex;

use super::condition::Condition;
use super::history::{History, Memory};
use super::mutant::Behaviour;
use super::seen::{Seen, Setup};

/// What a mutant does.
pub(crate) trait Effect: Copy + 'static {
    /// What it has to be able to recall.
    fn memory(&self) -> Option<Memory>;
}

/// A behaviour in a running part, with the part's history.
#[derive(Debug)]
pub(crate) struct Engine<E: 'static> {
    /// Further condition of all effects.
    after: Condition,
    effects: Vec<(Condition, E)>,
    pub(crate) setup: Setup,
    pub(crate) history: Mutex<History>,
}

impl<E: Effect> Engine<E> {
    /// `after`: a further condition.
    pub(crate) fn new(behaviour: &Behaviour<E>, after: Condition, setup: Setup) -> Self {
        let mut effects = vec![(behaviour.when, behaviour.then)];
        effects.extend_from_slice(behaviour.also);
        Self::of(after, effects, setup)
    }

    /// An engine with these effects, each with its condition.
    pub(crate) fn of(after: Condition, effects: Vec<(Condition, E)>, setup: Setup) -> Self {
        let mut memories = Vec::new();
        after.memories(&mut memories);
        for (when, effect) in &effects {
            when.memories(&mut memories);
            if let Some((same, condition)) = effect.memory() {
                condition.memories(&mut memories);
                memories.push((same, condition));
            }
        }
        Self { after, effects, setup, history: Mutex::new(History::new(memories)) }
    }

    /// The effects on an exchange, as far as it is known.
    pub(crate) fn effects(&self, seen: &Seen<'_>) -> Vec<E> {
        self.effects_after(seen, &self.history.lock())
    }

    /// The effects on an exchange after this history.
    pub(crate) fn effects_after(&self, seen: &Seen<'_>, history: &History) -> Vec<E> {
        if !self.after.holds(seen, history) {
            return Vec::new();
        }
        let effects = self.effects.iter().filter(|(when, _)| when.holds(seen, history));
        effects.map(|(_, effect)| *effect).collect()
    }

    /// The effects at start, before any exchange.
    pub(crate) fn effects_at_start(&self) -> Vec<E> {
        self.effects(&Seen::new(&Method::GET, "", &HeaderMap::new(), &self.setup))
    }
}
