use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A version of edgeproof: `0.2.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReleaseVersion {
    major: u32,
    minor: u32,
    patch: u32,
}

/// A text that is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no version: a version is three numbers, such as 0.2.0")]
pub struct VersionError(String);

impl ReleaseVersion {
    /// The next version with new features: `0.3.0` after `0.2.1`.
    #[must_use]
    pub fn next_minor(self) -> Self {
        Self { minor: self.minor + 1, patch: 0, ..self }
    }
}

impl FromStr for ReleaseVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let number = |part: &str| {
            let is_plain = part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse().ok().filter(|_| is_plain)
        };
        let numbers: Option<Vec<u32>> = text.split('.').map(number).collect();
        match numbers.as_deref() {
            Some([major, minor, patch]) => Ok(Self { major: *major, minor: *minor, patch: *patch }),
            _ => Err(VersionError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for ReleaseVersion {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<ReleaseVersion> for String {
    fn from(version: ReleaseVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for ReleaseVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let texts = ["0.1.0", "0.2.0", "0.10.0", "0.10.1", "1.0.0"];
        let versions: Vec<ReleaseVersion> = texts.iter().map(|text| text.parse().unwrap()).collect();
        assert!(versions.is_sorted());
        assert_eq!(versions.iter().map(ToString::to_string).collect::<Vec<_>>(), texts);
        assert_eq!(versions[3].next_minor().to_string(), "0.11.0");
    }

    #[rstest]
    fn other_texts_are_no_versions(
        #[values("", "1", "0.1", "0.1.0.0", "v0.1.0", "0.1.x", "0.1.+1", "0.1.0-dev")] text: &str,
    ) {
        let error = text.parse::<ReleaseVersion>().unwrap_err().to_string();
        assert_eq!(error, format!("{text:?} is no version: a version is three numbers, such as 0.2.0"));
    }
}
