//! Wrong behaviours of a collector that are written by hand, by topic.

mod answers;
mod behaviour;
mod options;
mod page;
mod post;

use behaviour::CollectorBehaviour;

/// All behaviours.
pub(super) fn mutants() -> impl Iterator<Item = CollectorBehaviour> {
    [options::ALL, post::ALL, answers::ALL, page::ALL].concat().into_iter().flatten().copied()
}
