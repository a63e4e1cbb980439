//! Coverage: cases prove every row, and every case proves rows.

mod cases;
mod names;
mod points;
mod releases;
mod rows;

use std::sync::LazyLock;

use edgeproof::cases::{self as all, Case, CaseFacts, Catalog, Edge};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::ReplyShape;

static CURRENT: LazyLock<AllCases> = LazyLock::new(|| build(Version::Current));
static PRE_SEAL: LazyLock<AllCases> = LazyLock::new(|| build(Version::PreSeal));

type AllCases = (Spec, Vec<CaseFacts>, Vec<Case<Edge>>);

/// A version of the interface, all cases of all parts, and those of edges with what only they have.
pub(crate) fn catalog(version: Version) -> &'static AllCases {
    match version {
        Version::Current => &CURRENT,
        Version::PreSeal => &PRE_SEAL,
    }
}

fn build(version: Version) -> AllCases {
    let spec = Spec::builtin(version);
    let shape = ReplyShape::from_profile(spec.profile());
    let catalog = Catalog::new(&spec, &shape, false).explore(true);
    let cases = all::all(catalog).iter().map(|case| case.facts().clone()).collect();
    let edge = all::edge(catalog);
    (spec, cases, edge)
}
