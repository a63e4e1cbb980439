use std::collections::HashMap;
use std::sync::LazyLock;

use edgeproof_reports::ReleaseVersion;
use serde::Deserialize;

/// The table of this build.
static BUILTIN: LazyLock<Releases> = LazyLock::new(|| {
    Releases::parse(include_str!("releases.toml")).expect("a test reads the table of releases")
});

/// Released versions of edgeproof, oldest first. A case that no version names has the version under development.
#[derive(Debug, Clone)]
pub struct Releases {
    /// The versions, each with the cases that it added.
    pub released: Vec<Release>,
    /// Cases that a later version no longer has.
    pub removed: Vec<RemovedCase>,
    since: HashMap<String, ReleaseVersion>,
}

/// A released version.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The version.
    pub version: ReleaseVersion,
    /// Ids of the cases that it added, sorted.
    pub cases: Vec<String>,
}

/// A case that a later version no longer has.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedCase {
    /// Its id, which no other case gets.
    pub id: String,
    /// The first version without it.
    pub version: ReleaseVersion,
    /// Why it is gone, and which case replaces it.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    release: Vec<Release>,
    #[serde(default)]
    removed: Vec<RemovedCase>,
}

impl Releases {
    /// The releases before this build, and this one if it is released.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// Reads a table in TOML.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let Table { release: released, removed } = toml::from_str(text)?;
        let of_release = |release: &Release| {
            let version = release.version;
            release.cases.clone().into_iter().map(move |id| (id, version)).collect::<Vec<_>>()
        };
        Ok(Self { since: released.iter().flat_map(of_release).collect(), released, removed })
    }

    /// Version that added a case, if it is released.
    pub fn released_in(&self, id: &str) -> Option<ReleaseVersion> {
        self.since.get(id).copied()
    }

    /// Versions whose cases this build can play, oldest first: the released ones and its own.
    pub fn versions(&self) -> Vec<ReleaseVersion> {
        let mut versions: Vec<_> = self.released.iter().map(|release| release.version).collect();
        versions.push(this_build());
        versions.dedup();
        versions
    }

    /// Version that cases without a release get.
    pub fn unreleased(&self) -> ReleaseVersion {
        match self.released.last() {
            Some(last) if last.version >= this_build() => last.version.next_minor(),
            _ => this_build(),
        }
    }

    /// Whether a version has more cases than the first one.
    pub fn is_later(&self, version: ReleaseVersion) -> bool {
        self.released.first().is_some_and(|first| first.version < version)
    }

    /// Why edgeproof no longer has a case, if it had it.
    pub fn removal(&self, id: &str) -> Option<String> {
        let removed = self.removed.iter().find(|removed| removed.id == id)?;
        Some(format!("removed in {}: {}", removed.version, removed.why))
    }
}

/// The version of this build.
fn this_build() -> ReleaseVersion {
    env!("CARGO_PKG_VERSION").parse().expect("a test reads the version of the package")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
        [[release]]
        version = "0.0.1"
        cases = ["a", "b"]
        [[release]]
        version = "99.1.5"
        cases = ["c"]
        [[removed]]
        id = "b"
        version = "99.1.5"
        why = "`c` checks the same"
    "#;

    #[test]
    fn case_without_a_release_has_the_version_under_development() {
        let releases = Releases::parse(TABLE).unwrap();
        let since = ["a", "c", "d"].map(|id| releases.released_in(id).map(|since| since.to_string()));
        assert_eq!(since, [Some("0.0.1".to_owned()), Some("99.1.5".to_owned()), None]);
        // The last release is newer than this build, so the next one follows it.
        assert_eq!(releases.unreleased().to_string(), "99.2.0");
        let none = Releases::parse("release = []").unwrap();
        assert_eq!(none.unreleased(), this_build());
        assert_eq!(none.versions(), [this_build()]);
    }

    #[test]
    fn removed_case_keeps_its_reason() {
        let releases = Releases::parse(TABLE).unwrap();
        assert_eq!(releases.removal("b").as_deref(), Some("removed in 99.1.5: `c` checks the same"));
        assert_eq!(releases.removal("a"), None);
    }

    #[test]
    fn table_of_this_build_is_valid() {
        let releases = Releases::builtin();
        assert!(releases.versions().is_sorted() && releases.versions().contains(&this_build()));
        assert!(releases.unreleased() >= this_build());
    }
}
