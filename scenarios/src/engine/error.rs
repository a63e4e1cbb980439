/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum EngineError {
    /// Goose failed.
    #[error("cannot run the users: {0}")]
    #[diagnostic(help(
        "this is an error of goose; check --goose-report, and the limits on threads and open files"
    ))]
    Goose(String),
    /// The system cannot start a pacer thread.
    #[error("cannot start the pacer: {0}")]
    #[diagnostic(help("check the limits on threads"))]
    Pacer(std::io::Error),
}
