/// Why a run could not be played.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum EngineError {
    /// Goose refused or broke off.
    #[error("run the users: {0}")]
    #[diagnostic(help(
        "this is goose's own word; check --goose-report, and the limits on threads and open files"
    ))]
    Goose(String),
    /// The system starts no thread for a pacer.
    #[error("start the pacer: {0}")]
    #[diagnostic(help("check the limits on threads"))]
    Pacer(std::io::Error),
}
