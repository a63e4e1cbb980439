/// How an edge starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli::init) struct Proposal {
    /// Command, as in `--launch`.
    pub(in crate::cli::init) launch: String,
    /// Where it comes from.
    pub(in crate::cli::init) source: String,
    /// Time until the edge answers, if it compiles first.
    pub(in crate::cli::init) ready_timeout: Option<&'static str>,
    /// Steps of a CI job before the edge can start, of the stack in which the command was found.
    pub(in crate::cli::init) steps: Option<String>,
}

impl Proposal {
    /// The command that the user names.
    pub(in crate::cli::init) fn given(launch: &str) -> Self {
        Self::new(launch, "as given")
    }

    /// A command that was found.
    pub(super) fn new(launch: impl Into<String>, source: impl Into<String>) -> Self {
        Self { launch: launch.into(), source: source.into(), ready_timeout: None, steps: None }
    }
}
