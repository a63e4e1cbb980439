use std::fmt::Debug;

use proptest::strategy::BoxedStrategy;

use super::steps::{ConnectionChoice, Sequence};

/// The actions of a target: how they are generated, simplified, named and saved.
pub trait ActionModel: Send + Sync + 'static {
    /// One request or event.
    type Action: Clone + Debug + PartialEq + Send + Sync + 'static;

    /// Name of the target in a saved file: `edge` or `service`.
    const TARGET: &'static str;
    /// Keys of an action in a saved file.
    const KEYS: &'static [&'static str];

    /// Generates actions that the model allows.
    fn strategy(&self) -> BoxedStrategy<Self::Action>;

    /// Plainer actions, the plainest first. Repeated steps towards them end.
    fn plainer(&self, action: &Self::Action) -> Vec<Self::Action>;

    /// Whether no other step may start together with this one.
    fn is_alone(&self, _action: &Self::Action) -> bool {
        false
    }

    /// Whether the answer to this action is judged.
    fn is_judged(&self, _action: &Self::Action) -> bool {
        true
    }

    /// Whether the step opens a connection that no other step uses.
    fn has_own_connection(&self, _action: &Self::Action) -> bool {
        false
    }

    /// The sequence with steps in turn, and on connections of their own, where their actions need it.
    fn allowed(&self, sequence: Sequence<Self::Action>) -> Sequence<Self::Action> {
        let mut sequence = sequence.separated(|action| self.is_alone(action));
        for step in &mut sequence.steps {
            if self.has_own_connection(&step.action) {
                step.connection = ConnectionChoice::Fresh;
            }
        }
        sequence
    }

    /// The action in words.
    fn describe(&self, action: &Self::Action) -> String;

    /// The action as fields of a saved file.
    fn save(&self, action: &Self::Action) -> SavedFields;

    /// The action of these fields. The error names the wrong key and what to write instead.
    fn parse(&self, fields: &SavedFields) -> Result<Self::Action, SavedFieldError>;
}

/// Fields of an action in a saved file: keys with their values.
pub type SavedFields = Vec<(&'static str, Vec<String>)>;

/// A wrong field of a saved action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedFieldError {
    /// The key. None: the whole step.
    pub key: Option<&'static str>,
    /// What is wrong.
    pub why: String,
    /// What to do.
    pub advice: String,
}

impl SavedFieldError {
    /// A wrong value of a key.
    pub(super) fn of(key: &'static str, why: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { key: Some(key), why: why.into(), advice: advice.into() }
    }
}

/// The only value of a key, if the key is given.
pub(super) fn value<'f>(fields: &'f SavedFields, key: &str) -> Option<&'f str> {
    let (_, values) = fields.iter().find(|(name, _)| *name == key)?;
    values.first().map(String::as_str)
}
