use clap::ValueEnum;

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputForm {
    /// For a terminal.
    Text,
    /// For a pull request.
    Markdown,
    /// For scripts.
    Json,
}
