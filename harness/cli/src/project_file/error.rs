use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

/// An error in `edgeproof.toml`: what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("cannot use {place}: {message}")]
pub struct ConfigError {
    #[source_code]
    text: Arc<NamedSource<String>>,
    #[label(primary, "here")]
    span: Option<SourceSpan>,
    place: Box<str>,
    message: Box<str>,
    #[help]
    help: Box<str>,
}

/// Name and text of a file, with its credentials masked, for errors.
#[derive(Debug, Clone)]
pub struct ConfigSource(Arc<NamedSource<String>>);

impl ConfigSource {
    /// A file without credentials in its text.
    pub fn new(name: &str, masked: String) -> Self {
        Self(Arc::new(NamedSource::new(name, masked)))
    }

    /// Its path, as messages show it.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Name and line of a byte.
    pub fn place(&self, byte: usize) -> String {
        let line = self.0.inner().bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1;
        format!("{}:{line}", self.name())
    }

    /// An error at a place.
    pub fn error(
        &self,
        span: &Range<usize>,
        message: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) -> ConfigError {
        // The end of a file has no text to point at.
        let shown = (span.start < self.0.inner().len()).then(|| span.clone().into());
        self.at(shown, self.place(span.start), message, help)
    }

    /// An error about the whole file.
    pub fn whole(&self, message: impl Into<Box<str>>, help: impl Into<Box<str>>) -> ConfigError {
        self.at(None, self.name().to_owned(), message, help)
    }

    fn at(
        &self,
        span: Option<SourceSpan>,
        place: String,
        message: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) -> ConfigError {
        let (message, help) = (message.into(), help.into());
        ConfigError { text: Arc::clone(&self.0), span, place: place.into(), message, help }
    }
}
