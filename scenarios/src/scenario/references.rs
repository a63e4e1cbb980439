use std::str::FromStr;
use std::sync::Arc;

/// Session references that a backend asks for.
#[derive(Clone)]
pub enum References {
    /// Made up for the run. Where the service is ours, each is made known to it before it is asked for.
    Generated(Option<RegisterSession>),
    /// From a file; each is asked for in turn.
    Listed(Vec<Reference>),
}

/// Lets a service know a reference that it is about to be asked for.
pub type RegisterSession = Arc<dyn Fn(&str, SessionState) + Send + Sync>;

/// How a reference stands with the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Its verdict comes.
    GetsVerdict,
    /// Nobody knows it.
    Unknown,
    /// Its verdict is too old.
    TooOld,
    /// It is another license's.
    OtherLicense,
}

/// A reference, and what is to come of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The reference.
    pub reference: String,
    /// A verdict comes; otherwise none ever does: it is wrong, too old, or another license's.
    pub comes: bool,
}

/// A line of a file of references that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("read line {line} of the references: {text:?} is none")]
#[diagnostic(help(
    "write one on each line; add `none` behind one whose verdict never comes: wrong, too old, another license's"
))]
pub struct ParseReferencesError {
    line: usize,
    text: String,
}

impl FromStr for References {
    type Err = ParseReferencesError;

    /// One a line; `#` comments.
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
    fn a_file_of_them() {
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
