use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgeproof_fixtures::collector::tables;
use edgeproof_fixtures::spec::Spec;
use url::Url;

/// The collector under test: an ES module that exports `create(options)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectorModule {
    /// The reference collector behind a module, which imports it from `./collector.js`.
    Reference {
        /// The module.
        module: Arc<str>,
        /// Other files that it imports, each with its name.
        files: &'static [(&'static str, &'static str)],
    },
    /// A file. The page server serves its folder, so that the module can import its neighbours.
    File {
        /// Absolute path of the folder.
        folder: PathBuf,
        /// Name of the file.
        name: String,
        /// The path as it was given.
        given: String,
    },
    /// A URL, which the page imports as it is.
    Url(Url),
}

/// Why a module cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ModuleError {
    /// Not an HTTP URL.
    #[error("cannot use {0:?} as the URL of a module")]
    #[diagnostic(help("give an http:// or https:// URL with a host, or the path of a file"))]
    Url(String),
    /// Not a readable file.
    #[error("cannot read the module {}: {why}", path.display())]
    #[diagnostic(help("name a JavaScript file that exports create(options), or its URL"))]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        why: io::Error,
    },
}

impl CollectorModule {
    /// The reference collector that follows these tables.
    pub fn reference(spec: &Spec) -> Self {
        let tables = tables(spec);
        let module = format!(
            "import {{ create as make }} from \"./collector.js\"\nexport const create = (options) => make(options, {tables})\n"
        );
        Self::Reference { module: module.into(), files: &[] }
    }

    /// The module at this path or URL. Reads no content.
    pub fn parse(text: &str) -> Result<Self, ModuleError> {
        if text.contains("://") {
            let url = Url::parse(text).map_err(|_| ModuleError::Url(text.to_owned()))?;
            let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
            return if is_http { Ok(Self::Url(url)) } else { Err(ModuleError::Url(text.to_owned())) };
        }
        let path = Path::new(text);
        let failed = |why| ModuleError::File { path: path.to_owned(), why };
        let file = path.canonicalize().map_err(failed)?;
        // Opens the file: a folder or an unreadable file fails here, not in the page.
        if !std::fs::File::open(&file).and_then(|file| file.metadata()).map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is not a file")));
        }
        let name = file.file_name().and_then(|name| name.to_str());
        let Some((folder, name)) = file.parent().zip(name) else {
            return Err(failed(io::Error::other("its name is not UTF-8")));
        };
        Ok(Self::File { folder: folder.to_owned(), name: name.to_owned(), given: text.to_owned() })
    }

    /// Name of the collector in reports.
    pub fn name(&self) -> String {
        match self {
            Self::Reference { .. } => "reference collector".into(),
            Self::File { given, .. } => given.clone(),
            Self::Url(url) => url.to_string(),
        }
    }

    /// Whether the module is the reference collector, or one of its mutants.
    pub fn is_reference(&self) -> bool {
        matches!(self, Self::Reference { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_and_file_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my collector.mjs");
        std::fs::write(&path, "").unwrap();
        let parsed = CollectorModule::parse(path.to_str().unwrap()).unwrap();
        assert!(
            matches!(&parsed, CollectorModule::File { name, .. } if name == "my collector.mjs"),
            "{parsed:?}"
        );
        assert!(matches!(CollectorModule::parse("https://a.test/c.js"), Ok(CollectorModule::Url(_))));
        for wrong in ["https://", "ftp://a.test/c.js", "file:///etc/passwd", "https://a b/c.js"] {
            assert!(matches!(CollectorModule::parse(wrong), Err(ModuleError::Url(_))), "{wrong}");
        }
        for wrong in ["nowhere.mjs", folder.path().to_str().unwrap(), ""] {
            assert!(matches!(CollectorModule::parse(wrong), Err(ModuleError::File { .. })), "{wrong}");
        }
    }
}
