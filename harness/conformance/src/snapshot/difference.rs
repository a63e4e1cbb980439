use std::fmt;

use similar::TextDiff;

/// A file of a folder that differs from a fresh snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDifference {
    /// Path of the file.
    pub path: String,
    /// Its text in the folder. None: the folder lacks it.
    pub found: Option<String>,
    /// Its text in the snapshot. None: its row is gone.
    pub fresh: Option<String>,
}

/// Name of no file in a unified diff.
const NOTHING: &str = "/dev/null";

impl fmt::Display for FileDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, found, fresh } = self;
        let state = match (found, fresh) {
            (None, _) => "missing",
            (_, None) => "stale",
            _ => "changed",
        };
        writeln!(f, "{state}: {path}")?;
        let (before, after) = (found.as_deref().unwrap_or_default(), fresh.as_deref().unwrap_or_default());
        let name = |text: &Option<String>, name: &str| match text {
            Some(_) => name.to_owned(),
            None => NOTHING.to_owned(),
        };
        let diff = TextDiff::from_lines(before, after);
        let (old, new) = (name(found, path), name(fresh, &format!("{path} (now)")));
        write!(f, "{}", diff.unified_diff().context_radius(3).header(&old, &new))
    }
}
