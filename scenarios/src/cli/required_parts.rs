/// The parts that a scenario needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequiredParts {
    pub(super) edge: bool,
    pub(super) verdicts: bool,
}
