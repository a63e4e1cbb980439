//! Wrong behaviours of a collector that are written by hand, by topic.

mod answers;
mod options;
mod page;
mod post;

use edgeproof_fixtures::spec::Level;

/// A mutant written by hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct CollectorBehaviour {
    /// Slug.
    pub(super) name: &'static str,
    /// What it does wrong.
    pub(super) title: &'static str,
    /// Id of the row that it breaks.
    pub(super) row: &'static str,
    /// Level of the mutation, if it is lower than that of the row.
    pub(super) level: Option<Level>,
    /// Script for the wrapper.
    pub(super) script: &'static str,
}

/// All behaviours.
pub(super) fn mutants() -> impl Iterator<Item = CollectorBehaviour> {
    [options::ALL, post::ALL, answers::ALL, page::ALL].concat().into_iter().flatten().copied()
}

const fn must(
    name: &'static str,
    title: &'static str,
    row: &'static str,
    script: &'static str,
) -> CollectorBehaviour {
    CollectorBehaviour { name, title, row, level: None, script }
}

const fn should(
    name: &'static str,
    title: &'static str,
    row: &'static str,
    script: &'static str,
) -> CollectorBehaviour {
    CollectorBehaviour { name, title, row, level: Some(Level::Should), script }
}
