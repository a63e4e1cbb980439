use std::sync::Arc;

use edgeproof_fixtures::spec::{Level, Spec};
use edgeproof_targets::FaultInjection;

use crate::hooks::MutationInjection;
use crate::mutation::{BehaviourMutation, DerivedMutation, Mutation, SettingMutation, VariationMutation};

/// Reference edge, mock service, key set or collector with one mutation.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// Stable slug.
    pub id: String,
    /// What it does wrong, in one line.
    pub title: String,
    /// Id of the row that it breaks.
    pub row: String,
    /// Id of its cause in [`Spec::causes`].
    pub cause: String,
    /// Level of the broken requirement.
    pub level: Level,
    /// Its mutation.
    pub mutation: Mutation,
}

impl Mutant {
    /// A mutant derived from a row.
    pub(crate) fn from_row(spec: &Spec, derived: DerivedMutation) -> Self {
        let DerivedMutation { mutation, breaks, level: lower, .. } = derived;
        let (slug, title) = mutation.answer.slug_and_title();
        Self {
            id: format!("{}/{slug}", mutation.row.id),
            title: format!("{}: {title}", mutation.row.id),
            level: lower.unwrap_or_else(|| level(spec, &breaks)),
            row: breaks,
            cause: mutation.cause().to_owned(),
            mutation: Mutation::Row(Arc::new(mutation)),
        }
    }

    /// A mutant with this behaviour.
    pub(crate) fn from_behaviour(spec: &Spec, mutation: BehaviourMutation) -> Self {
        let (facts, row) = (mutation.facts(), mutation.row());
        let (prefix, lower) = if mutation.is_late { ("late in a run: ", None) } else { ("", facts.level) };
        Self {
            id: mutation.id(),
            title: format!("{prefix}{}", facts.title),
            row: row.to_owned(),
            cause: facts.cause.to_owned(),
            level: lower.unwrap_or_else(|| level(spec, row)),
            mutation: Mutation::Behaviour(mutation),
        }
    }

    /// The mutants of the model of variation.
    pub(crate) fn from_variation(spec: &Spec) -> impl Iterator<Item = Self> {
        VariationMutation::all(spec).into_iter().map(|mutation| Self {
            id: format!("vary/{}", mutation.name),
            title: format!("mishandles {}", mutation.values.join(" with ")),
            row: mutation.row.clone(),
            cause: mutation.cause.clone(),
            level: mutation.level,
            mutation: Mutation::Variation(Arc::new(mutation)),
        })
    }

    /// The mutants of the forms of settings.
    pub(crate) fn from_settings(spec: &Spec) -> impl Iterator<Item = Self> {
        SettingMutation::all(spec).into_iter().map(|mutation| Self {
            id: format!("setting/{}", mutation.name()),
            title: format!("handles {} wrongly", mutation.change.name()),
            row: mutation.row.clone(),
            cause: mutation.cause.clone(),
            level: mutation.level,
            mutation: Mutation::Setting(Arc::new(mutation)),
        })
    }

    /// Injects the mutation into the edges and mock services of one run.
    pub fn faults(&self) -> Arc<dyn FaultInjection> {
        Arc::new(MutationInjection::new(self.mutation.clone()))
    }
}

fn level(spec: &Spec, row: &str) -> Level {
    spec.row(row).map_or(Level::Must, |row| row.level)
}
