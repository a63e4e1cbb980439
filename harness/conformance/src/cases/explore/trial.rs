/// A value of a dimension, by their positions in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChangeIndex {
    /// Position of the dimension.
    pub dimension: usize,
    /// Position of the value in its dimension.
    pub value: usize,
}

/// A row with the changes to its plain exchange, at most one for each dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trial {
    /// Position of the row in the model.
    pub row: usize,
    /// The changes, in the order of their dimensions.
    pub changes: Vec<ChangeIndex>,
}

impl Trial {
    /// The same row with other changes.
    pub(super) fn with(&self, changes: Vec<ChangeIndex>) -> Self {
        Self { row: self.row, changes }
    }

    /// Whether this trial has all changes of `other`, and its row unless `any_row`.
    pub(super) fn includes(&self, other: &Self, any_row: bool) -> bool {
        (any_row || self.row == other.row) && other.changes.iter().all(|change| self.changes.contains(change))
    }
}
