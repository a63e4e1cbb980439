use std::ops::Range;

use miette::{Diagnostic, NamedSource, SourceSpan};

/// An error in `edgeproof.toml`: what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("cannot use {place}: {message}")]
pub(crate) struct ConfigError {
    #[source_code]
    text: NamedSource<String>,
    #[label(primary, "here")]
    span: Option<SourceSpan>,
    place: String,
    message: String,
    #[help]
    help: String,
}

/// Name and text of a file, with its credentials masked, for errors.
#[derive(Debug, Clone)]
pub(super) struct ConfigSource {
    name: String,
    text: String,
}

impl ConfigSource {
    /// A file without credentials in its text.
    pub(super) fn new(name: impl Into<String>, masked: String) -> Self {
        Self { name: name.into(), text: masked }
    }

    /// Its path, as messages show it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Name and line of a byte.
    pub(super) fn place(&self, byte: usize) -> String {
        let line = self.text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1;
        format!("{}:{line}", self.name)
    }

    /// An error at a place.
    pub(super) fn error(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ConfigError {
        ConfigError {
            text: NamedSource::new(&self.name, self.text.clone()),
            // The end of a file has no text to point at.
            span: (span.start < self.text.len()).then(|| span.clone().into()),
            place: self.place(span.start),
            message: message.into(),
            help: help.into(),
        }
    }

    /// An error about the whole file.
    pub(super) fn whole(&self, message: impl Into<String>, help: impl Into<String>) -> ConfigError {
        ConfigError {
            text: NamedSource::new(&self.name, self.text.clone()),
            span: None,
            place: self.name.clone(),
            message: message.into(),
            help: help.into(),
        }
    }
}
