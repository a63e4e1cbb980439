use std::sync::Arc;
use std::time::Duration;

use edgeproof_mock::{ServiceFaultHooks, SessionFact};

use crate::behaviour::{Behaviour, Change, Draft, Effect, Memory, Page, Seen};

/// What a mutant of a service or its key set does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ServiceEffect {
    /// Answers before it checks anything.
    Instead(Page),
    /// Reads the token from another value of `Authorization`.
    Authorization(fn(&str) -> String),
    AcceptToken,
    RefuseToken,
    /// Finds another session.
    Session(fn(&Seen<'_>) -> SessionFact),
    /// At start: changes the lifetime of verdicts.
    VerdictLasts(fn(Duration) -> Duration),
    /// Continues a long poll after its client left.
    IgnoresDisconnect,
    /// Changes its answer.
    Answering(Change),
    /// Writes other bytes than those of the answer. HTTP/1 only.
    Raw(fn(&str) -> String),
    /// Answers later.
    Delay(Duration),
    /// Fault hooks with a state of their own. They have no condition.
    Whole(fn() -> Arc<dyn ServiceFaultHooks>),
}

impl Effect for ServiceEffect {
    fn memory(&self) -> Option<Memory> {
        match self {
            Self::Answering(change) => change.memory(),
            _ => None,
        }
    }
}

/// A mutant of a service or its key set.
pub(super) const fn mutant(name: &'static str, title: &'static str) -> Draft<ServiceEffect> {
    Draft::new(name, title)
}

impl Draft<ServiceEffect> {
    /// How its answer is wrong.
    pub(super) const fn answers(self, change: Change) -> Behaviour<ServiceEffect> {
        self.then(ServiceEffect::Answering(change))
    }
}
