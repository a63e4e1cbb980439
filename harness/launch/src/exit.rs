use std::fmt;
use std::process::ExitStatus;

/// Unexpected end of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitInfo {
    /// Exit status.
    pub status: ExitStatus,
    /// Last lines of its output, unredacted: redact them before showing them.
    pub last: Vec<String>,
}

impl fmt::Display for ExitInfo {
    /// Describes the end, without output.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it exited by itself with {}", self.status)
    }
}
