use edgeproof_fixtures::spec::Level;

/// A mutant written by hand.
#[derive(Debug, Clone, Copy)]
pub(in crate::collector) struct CollectorBehaviour {
    /// Slug.
    pub(in crate::collector) name: &'static str,
    /// What it does wrong.
    pub(in crate::collector) title: &'static str,
    /// Id of the row that it breaks.
    pub(in crate::collector) row: &'static str,
    /// Id of its cause.
    pub(in crate::collector) cause: &'static str,
    /// Level of the mutation, if it is lower than that of the row.
    pub(in crate::collector) level: Option<Level>,
    /// Script for the wrapper.
    pub(in crate::collector) script: &'static str,
}

pub(super) const fn must(
    name: &'static str,
    title: &'static str,
    row: &'static str,
    cause: &'static str,
    script: &'static str,
) -> CollectorBehaviour {
    CollectorBehaviour { name, title, row, cause, level: None, script }
}

pub(super) const fn should(
    name: &'static str,
    title: &'static str,
    row: &'static str,
    cause: &'static str,
    script: &'static str,
) -> CollectorBehaviour {
    CollectorBehaviour { name, title, row, cause, level: Some(Level::Should), script }
}
