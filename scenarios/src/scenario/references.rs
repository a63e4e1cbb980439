use std::str::FromStr;
use std::sync::Arc;

/// Session references to poll for.
#[derive(Clone)]
pub enum References {
    /// Generated. With the built-in mock, each is registered before its first poll.
    Generated(Option<RegisterSession>),
    /// From a file, polled in turn.
    Listed(Vec<Reference>),
}

/// Registers a session at the mock service.
pub type RegisterSession = Arc<dyn Fn(&str, SessionState) + Send + Sync>;

/// The state of a session at the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// The verdict becomes ready.
    GetsVerdict,
    /// The service does not know the session.
    Unknown,
    /// The verdict is too old.
    TooOld,
    /// The session belongs to another license.
    OtherLicense,
}

/// A reference and its expected result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The reference.
    pub reference: String,
    /// Whether a verdict comes; `false` for a wrong, too old or foreign reference.
    pub comes: bool,
}

/// A line of the references file is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text:?} is not a reference")]
pub struct ParseReferencesError {
    line: usize,
    text: String,
}

impl FromStr for References {
    type Err = ParseReferencesError;

    /// Parses one reference per line; `#` starts a comment.
    fn from_str(text: &str) -> Result<Self, ParseReferencesError> {
        let mut references = Vec::new();
        for (place, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = content.split_whitespace().collect();
            let (reference, comes) = match words[..] {
                [] => continue,
                [reference] => (reference, true),
                [reference, "none"] => (reference, false),
                _ => return Err(ParseReferencesError { line: place + 1, text: line.to_owned() }),
            };
            references.push(Reference { reference: reference.to_owned(), comes });
        }
        if references.is_empty() {
            return Err(ParseReferencesError {
                line: 1,
                text: text.lines().next().unwrap_or_default().to_owned(),
            });
        }
        Ok(Self::Listed(references))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_file_is_parsed() {
        let References::Listed(read) = "# all\nabc\n\nold-1 none # too old\n".parse().unwrap() else {
            panic!()
        };
        assert_eq!(
            read.iter().map(|r| (r.reference.as_str(), r.comes)).collect::<Vec<_>>(),
            [("abc", true), ("old-1", false)]
        );
        assert!("".parse::<References>().is_err());
        assert!("a b\n".parse::<References>().err().unwrap().to_string().contains("line 1"));
    }
}
