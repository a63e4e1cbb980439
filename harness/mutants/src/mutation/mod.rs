//! Mutations: the wrong behaviours that mutants have.

mod answer;
mod behaviour;
mod collector;
mod derive;
mod row;
mod row_cause;
mod sample;
mod setting;
mod variation;

use std::sync::Arc;

use edgeproof_fixtures::spec::PartName;

pub use answer::AnswerMutation;
pub use behaviour::BehaviourMutation;
pub use collector::CollectorMutation;
pub(crate) use derive::{DerivedMutation, derive};
pub use row::RowMutation;
pub(crate) use row::{is_edge_answer, is_service_answer};
pub(crate) use setting::SettingFault;
pub use setting::SettingMutation;
pub(crate) use variation::VariationFault;
pub use variation::VariationMutation;

/// Wrong behaviour of a mutant.
#[derive(Debug, Clone)]
pub enum Mutation {
    /// Changed answer of one row. Derived from the tables.
    Row(Arc<RowMutation>),
    /// Behaviour that no answer of a single row shows. Written by hand.
    Behaviour(BehaviourMutation),
    /// Wrong handling of one value of the model of variation. Derived from the model.
    Variation(Arc<VariationMutation>),
    /// Wrong handling of one form of a setting. Derived from the model.
    Setting(Arc<SettingMutation>),
    /// Wrong behaviour of a collector. Derived from the tables, or written by hand.
    Collector(CollectorMutation),
}

impl Mutation {
    /// Class of the mutation in the summary of a matrix.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Row(_) => "answers",
            Self::Behaviour(mutation) if mutation.is_late => "late",
            Self::Behaviour(_) => "behaviours",
            Self::Variation(mutation) => mutation.class,
            Self::Setting(_) => "settings",
            Self::Collector(_) => "collector",
        }
    }

    /// Whether the mutation is a value of the model of variation or a form of a setting. No plain case meets it.
    pub fn is_of_model(&self) -> bool {
        matches!(self, Self::Variation(_) | Self::Setting(_))
    }

    /// Whether the cases of this part can meet the mutation. Service and key set are one program.
    pub fn affects(&self, part: PartName) -> bool {
        let of_edge = match self {
            Self::Row(mutation) => mutation.is_of_edge(),
            Self::Behaviour(mutation) => mutation.is_of_edge(),
            Self::Variation(_) | Self::Setting(_) => true,
            // It has a matrix of its own.
            Self::Collector(_) => return false,
        };
        of_edge == (part == PartName::Edge)
    }
}
