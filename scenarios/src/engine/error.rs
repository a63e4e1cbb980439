/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum EngineError {
    /// Goose failed.
    #[error("cannot run the users: {0}")]
    #[diagnostic(help("this is an error of goose; check the limits on threads and open files"))]
    Goose(String),
    /// The system has no timer for the pacer.
    #[error("cannot start the pacer: {0}")]
    #[diagnostic(help("raise the limit on open files (ulimit -n)"))]
    Pacer(std::io::Error),
}
