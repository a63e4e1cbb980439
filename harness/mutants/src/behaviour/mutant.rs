use std::marker::PhantomData;

use edgeproof_fixtures::spec::Level;

use super::condition::Condition;

/// Name, title and requirement of a behaviour.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourFacts {
    /// Slug.
    pub name: &'static str,
    /// One sentence that says what the mutant does.
    pub title: &'static str,
    /// Id of the row that it breaks.
    pub row: &'static str,
    /// Id of its cause: the mistake of a developer who writes such an edge or service.
    pub cause: &'static str,
    /// Level of the mutant, if it is lower than the level of the row.
    pub level: Option<Level>,
    /// Row that a second mutant breaks, which behaves correctly at first. None: there is no such mutant.
    pub late_row: Option<&'static str>,
}

/// A mutant that is written by hand. `E`: the effects of its part.
#[derive(Debug)]
pub(crate) struct Behaviour<E: 'static> {
    pub(crate) facts: BehaviourFacts,
    pub(crate) when: Condition,
    pub(crate) then: E,
    /// Further effects, each with a condition of its own.
    pub(crate) also: &'static [(Condition, E)],
}

/// A mutant without an effect, which is none yet.
#[derive(Debug)]
pub(crate) struct Draft<E> {
    facts: BehaviourFacts,
    when: Condition,
    part: PhantomData<fn() -> E>,
}

impl<E: Copy> Draft<E> {
    pub(crate) const fn new(name: &'static str, title: &'static str) -> Self {
        let facts = BehaviourFacts { name, title, row: "", cause: "", level: None, late_row: None };
        Self { facts, when: Condition::Always, part: PhantomData }
    }

    /// Ids of the row that it breaks, and of its cause.
    pub(crate) const fn breaks(mut self, row: &'static str, cause: &'static str) -> Self {
        (self.facts.row, self.facts.cause) = (row, cause);
        self
    }

    /// The cases only have to warn.
    pub(crate) const fn should(mut self) -> Self {
        self.facts.level = Some(Level::Should);
        self
    }

    /// A second mutant behaves correctly at first.
    pub(crate) const fn also_late(self) -> Self {
        let row = self.facts.row;
        self.late_breaks(row)
    }

    /// A second mutant behaves correctly at first, and breaks this row.
    pub(crate) const fn late_breaks(mut self, row: &'static str) -> Self {
        self.facts.late_row = Some(row);
        self
    }

    /// When it behaves wrongly (default: always).
    pub(crate) const fn when(mut self, when: Condition) -> Self {
        self.when = when;
        self
    }

    /// How it behaves wrongly.
    pub(crate) const fn then(self, then: E) -> Behaviour<E> {
        Behaviour { facts: self.facts, when: self.when, then, also: &[] }
    }
}

impl<E: Copy> Behaviour<E> {
    /// Adds effects, each with a condition of its own.
    pub(crate) const fn also(mut self, also: &'static [(Condition, E)]) -> Self {
        self.also = also;
        self
    }
}
