use std::fmt;
use std::process::ExitStatus;

/// How an edge ended that nobody asked to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitInfo {
    /// Its exit status.
    pub status: ExitStatus,
    /// The last lines that it wrote, as they are: redact them before they are shown.
    pub last: Vec<String>,
}

impl fmt::Display for ExitInfo {
    /// Its end in words, without its output.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it ended by itself with {}", self.status)
    }
}
