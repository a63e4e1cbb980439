//! Coverage: cases prove every row, and every case proves rows.

mod cases;
mod names;
mod rows;

use std::sync::LazyLock;

use edgeproof::cases::{self as all, Case, Catalog};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::ReplyShape;

static CURRENT: LazyLock<(Spec, Vec<Case>)> = LazyLock::new(|| build(Version::Current));
static PRE_SEAL: LazyLock<(Spec, Vec<Case>)> = LazyLock::new(|| build(Version::PreSeal));

/// A version of the interface with all its cases of edges, services and key sets.
pub(crate) fn catalog(version: Version) -> &'static (Spec, Vec<Case>) {
    match version {
        Version::Current => &CURRENT,
        Version::PreSeal => &PRE_SEAL,
    }
}

fn build(version: Version) -> (Spec, Vec<Case>) {
    let spec = Spec::builtin(version);
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = all::all(|| Catalog::new(&spec, &shape, false).explore(true));
    (spec, cases)
}
