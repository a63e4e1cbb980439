//! Each case has the version that added it, and each version keeps its cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use edgeproof::cases::explore::sequence::SequencePlan;
use edgeproof::cases::{self, CaseFacts, Catalog, Release, Releases};
use edgeproof::causes::Fingerprints;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::ReleaseVersion;
use rstest::rstest;

const TABLE: &str = "src/cases/releases/releases.toml";
/// First line of the change log's list.
const HEADING: &str = "### New checks\n";

/// The cases of all versions of the interface with all options.
fn all_cases() -> BTreeMap<String, CaseFacts> {
    let mut all = BTreeMap::new();
    for version in Version::ALL {
        let spec = Spec::builtin(*version);
        let shape = ReplyShape::from_profile(spec.profile());
        for waits in [true, false] {
            let catalog = Catalog::new(&spec, &shape, waits).fuzz(1, 0).explore(true);
            let sequences = || SequencePlan { count: 1, ..SequencePlan::default() };
            let edge = cases::edge_with_sequences(catalog, sequences()).into_iter().map(|case| case.facts);
            let service =
                cases::service_with_sequences(catalog, sequences()).into_iter().map(|case| case.facts);
            let others = cases::all(catalog).into_iter().map(|case| case.facts().clone());
            all.extend(edge.chain(service).chain(others).map(|case| (case.id.clone(), case)));
        }
    }
    all
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// `just release-cases` writes the list of the version in `Cargo.toml`: the cases that no earlier version has.
#[test]
fn each_release_names_cases_that_exist_or_says_why_they_are_gone() {
    let (all, releases) = (all_cases(), Releases::builtin());
    if std::env::var_os("UPDATE_RELEASES").is_some() {
        fs::write(file(TABLE), table(releases, all.keys())).unwrap();
        return;
    }
    let mut named = BTreeSet::new();
    for Release { version, cases } in &releases.released {
        assert!(cases.is_sorted() && !cases.is_empty(), "{version}");
        for id in cases {
            assert!(named.insert(id), "{id} is named twice");
            assert!(
                all.contains_key(id) || releases.removal(id).is_some(),
                "{id} of {version} is gone: add a [[removed]] with its id and the reason to {TABLE}, or run \
                 `just release-cases` if {version} is not published yet"
            );
        }
    }
    for removed in &releases.removed {
        let since = releases.released_in(&removed.id);
        assert!(since.is_some_and(|since| since < removed.version), "no release before has {}", removed.id);
        assert!(!all.contains_key(&removed.id), "{} is there", removed.id);
    }
}

/// The table in which the version in `Cargo.toml` has all cases that no earlier one has.
fn table<'c>(releases: &Releases, all: impl Iterator<Item = &'c String>) -> String {
    let this: ReleaseVersion = env!("CARGO_PKG_VERSION").parse().unwrap();
    let is_earlier = |id: &&String| releases.released_in(id).is_some_and(|version| version < this);
    let new: Vec<&String> = all.filter(|id| !is_earlier(id)).collect();
    let start = fs::read_to_string(file(TABLE)).unwrap();
    let mut text: String = start
        .lines()
        .take_while(|line| line.starts_with('#'))
        .fold(String::new(), |text, line| text + line + "\n");
    let mut add = |version: &dyn std::fmt::Display, cases: &[&String]| {
        let cases: String = cases.iter().fold(String::new(), |text, id| text + &format!("  \"{id}\",\n"));
        if !cases.is_empty() {
            write!(text, "\n[[release]]\nversion = \"{version}\"\ncases = [\n{cases}]\n").unwrap();
        }
    };
    for Release { version, cases } in releases.released.iter().filter(|release| release.version < this) {
        add(version, &cases.iter().collect::<Vec<_>>());
    }
    add(&this, &new);
    for removed in &releases.removed {
        let why = toml::Value::from(removed.why.as_str());
        write!(
            text,
            "\n[[removed]]\nid = \"{}\"\nversion = \"{}\"\nwhy = {why}\n",
            removed.id, removed.version
        )
        .unwrap();
    }
    text
}

#[test]
fn cases_of_the_built_in_tables_have_a_version_and_those_of_other_tables_have_none() {
    let releases = Releases::builtin();
    for case in all_cases().values() {
        let since = case.since.unwrap_or_else(|| panic!("{} has no version", case.id));
        assert_eq!(
            since,
            releases.released_in(&case.id).unwrap_or_else(|| releases.unreleased()),
            "{}",
            case.id
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let overlay = folder.path().join("next.toml");
    fs::write(
        &overlay,
        "[[add]]\nid = \"relay.418.teapot\"\nsection = \"7.3\"\nstatus = 418\ncode = \"teapot\"\n\
        condition = \"A teapot.\"\nstimuli = [\"scripted\"]\n",
    )
    .unwrap();
    let spec = Spec::load(&overlay).unwrap();
    let shape = ReplyShape::from_profile(spec.profile());
    let own: Vec<CaseFacts> =
        cases::edge(Catalog::new(&spec, &shape, false)).into_iter().map(|case| case.facts).collect();
    let since = |id: &str| own.iter().find(|case| case.id == id).unwrap().since;
    assert_eq!((since("refusal.418.teapot"), since("cors.readable.418")), (None, None));
    assert_eq!(since("accept.exact-body"), releases.released_in("accept.exact-body"));
}

/// `just changelog` writes the list.
#[test]
fn change_log_lists_new_checks_by_cause() {
    let all = all_cases();
    let new = all.values().filter(|case| Releases::builtin().released_in(&case.id).is_none());
    let list = new_checks(Spec::current(), new);
    let path = file("../../CHANGELOG.md");
    let text = fs::read_to_string(&path).unwrap();
    let updated = with_list(&text, &list);
    if std::env::var_os("UPDATE_CHANGELOG").is_some() {
        fs::write(path, updated).unwrap();
    } else {
        // The test does not judge blank lines between other parts.
        let is_current = lines(&text).eq(lines(&updated));
        assert!(is_current, "the list of new checks is out of date: run `just changelog`");
    }
}

#[rstest]
#[case::added("### Changed\n- a\n", "### New checks\n\n- c\n\n### Changed\n- a\n")]
#[case::replaced(
    "### New checks\n\n- b\n\n### Changed\n- a\n",
    "### New checks\n\n- c\n\n### Changed\n- a\n"
)]
#[case::moved("### Changed\n- a\n\n### New checks\n\n- b\n", "### New checks\n\n- c\n\n### Changed\n- a\n")]
fn list_is_written_into_the_unreleased_part(#[case] before: &str, #[case] expected: &str) {
    let whole =
        |part: &str| format!("# Changelog\n\n## Unreleased\n\n{part}\n## 0.1.0\n\n### New checks\n\n- x\n");
    let updated = with_list(&whole(before), "### New checks\n\n- c\n");
    assert_eq!(updated, whole(expected));
    assert_eq!(with_list(&updated, "### New checks\n\n- c\n"), updated);
    assert_eq!(with_list(&updated, ""), whole("### Changed\n- a\n"));
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

/// The change log with this list in its first part.
fn with_list(text: &str, list: &str) -> String {
    let (before, rest) = text.split_once("## Unreleased\n").expect("the change log has this part");
    let end = rest.find("\n## ").map_or(rest.len(), |end| end + 1);
    let (unreleased, after) = rest.split_at(end);
    let mut parts: Vec<&str> =
        unreleased.split("\n### ").map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.retain(|part| !part.starts_with(HEADING.trim_start_matches("### ").trim()));
    if !list.is_empty() {
        parts.insert(0, list.trim_start_matches("### ").trim());
    }
    let parts: String = parts.iter().fold(String::new(), |text, part| text + "\n### " + part + "\n");
    let gap = if after.is_empty() { "" } else { "\n" };
    format!("{before}## Unreleased\n{parts}{gap}{after}")
}

#[test]
fn new_checks_are_named_by_their_cause_or_their_row() {
    let all = all_cases();
    let case = |id: &str, of: &str| CaseFacts { id: id.into(), ..all[of].clone() };
    let known = ["relay.body.large-numbers", "relay.body.compact"].map(|id| all[id].clone());
    let unknown = [case("accept.new", "accept.exact-body"), case("accept.newer", "accept.exact-body")];
    insta::assert_snapshot!(new_checks(Spec::current(), known.iter().chain(&unknown)));
    assert_eq!(new_checks(Spec::current(), []), "");
}

/// The list: a line for each cause, in the order of its table, then for each row of cases without one.
fn new_checks<'c>(spec: &Spec, cases: impl IntoIterator<Item = &'c CaseFacts>) -> String {
    let mut lines: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    for case in cases {
        // The cause that the case shows best: of its cases, this one comes first.
        let rank =
            |cause: &&str| Fingerprints::known_cases_of_cause(cause).iter().position(|id| *id == case.id);
        let cause = Fingerprints::known_causes_of_case(&case.id).into_iter().min_by_key(rank);
        let known = cause.and_then(|id| spec.causes().iter().position(|cause| cause.id == id));
        let line = match known {
            Some(at) => (at, format!("{} (`{}`)", spec.causes()[at].title, spec.causes()[at].id)),
            None => (usize::MAX, format!("`{}`", case.rows[0])),
        };
        lines.entry(line).or_default().push(format!("`{}`", case.id));
    }
    let lines: Vec<String> =
        lines.into_iter().map(|((_, what), ids)| format!("- {what}: {}\n", ids.join(", "))).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "{HEADING}A target that passed before can fail these. `--cases-of` leaves them out.\n\n{}",
        lines.concat()
    )
}
