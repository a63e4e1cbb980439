//! A version may lack any row: its cases are left out, and nothing panics.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use edgeproof::cases::{self, Catalog};
use edgeproof_fixtures::spec::{Basis, Endpoint, Spec};
use edgeproof_mock::ReplyShape;
use tempfile::TempDir;

use super::{load, overlay};
use crate::mock_program::edgeproof;

/// Rows of paths that edgeproof itself needs.
const NEEDED: [Endpoint; 4] = [Endpoint::Signals, Endpoint::Health, Endpoint::Verdict, Endpoint::KeySet];

#[test]
fn version_without_a_row_has_no_case_of_it() {
    let folder = TempDir::new().unwrap();
    let before = ids(Spec::current());
    for id in removable() {
        let spec = load(&overlay(&folder, &format!("[[remove]]\nid = \"{id}\"\n")));
        let is_stated = Spec::current().row(id).is_some_and(|row| row.basis == Basis::Interface);
        assert_eq!(spec.digest() != Spec::current().digest(), is_stated, "{id}");
        let shape = ReplyShape::from_profile(spec.profile());
        for case in cases::all(Catalog::new(&spec, &shape, false).explore(true)) {
            let case = case.facts();
            assert!(case.rows.iter().all(|row| spec.row(row).is_some()), "{} without {id}", case.id);
            assert!(before.contains(&case.id) || case.id.starts_with("vary."), "{} is new", case.id);
        }
    }
}

/// Each run lacks a third of the rows, and each row is missing in one run.
#[test]
fn runs_without_rows_end_with_their_cases_judged() {
    let folder = TempDir::new().unwrap();
    for third in 0..3 {
        let mut text = String::new();
        for id in removable().skip(third).step_by(3) {
            _ = write!(text, "[[remove]]\nid = \"{id}\"\n");
        }
        let path = overlay(&folder, &text);
        for part in ["edge", "service", "keys"] {
            let mut command = edgeproof(&["conformance", part, "--spec", path.to_str().unwrap(), "--quick"]);
            let output = command.output().unwrap();
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{part}: {shown}{errors}");
        }
    }
}

fn removable() -> impl Iterator<Item = &'static str> {
    let rows = Spec::current().rows().iter().map(|row| row.id.as_str());
    rows.filter(|id| !NEEDED.iter().any(|endpoint| endpoint.row() == *id))
}

fn ids(spec: &Spec) -> BTreeSet<String> {
    let shape = ReplyShape::from_profile(spec.profile());
    let all = cases::all(Catalog::new(spec, &shape, false).explore(true));
    all.iter().map(|case| case.facts().id.clone()).collect()
}
