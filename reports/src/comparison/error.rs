/// Two reports that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// The runs are about different interfaces.
    #[error("cannot compare {old} with {new}: they are about the interfaces {old_spec} and {new_spec}")]
    OtherInterface {
        /// Name of the old report.
        old: String,
        /// Name of the new report.
        new: String,
        /// Version and digest of the old interface.
        old_spec: String,
        /// Version and digest of the new interface.
        new_spec: String,
    },
    /// The runs share no case.
    #[error("cannot compare {old} with {new}: they have no case in common")]
    NothingInCommon {
        /// Name of the old report.
        old: String,
        /// Name of the new report.
        new: String,
    },
}

impl ComparisonError {
    /// What to do.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::OtherInterface { .. } => {
                "compare runs with the same --spec; `edgeproof spec diff` compares versions of the interface"
            }
            Self::NothingInCommon { .. } => {
                "give two reports of one part: of an edge, a service, a key set or a collector"
            }
        }
    }
}
