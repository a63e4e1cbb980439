use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;

use crate::cases::{self, Case, Catalog};

/// A case, and the target that it tests.
pub(in crate::cli) struct KnownCase {
    /// The case.
    pub(in crate::cli) case: Case,
    /// Name of the target on the command line, with a space before it; empty for the default target.
    pub(super) target: &'static str,
}

impl KnownCase {
    /// All cases of all targets.
    pub(in crate::cli) fn all(spec: &Spec) -> Vec<Self> {
        let shape = ReplyShape::from_profile(spec.profile());
        let catalog = || Catalog::new(spec, &shape, false).explore(true);
        let of = |target, cases: Vec<Case>| cases.into_iter().map(move |case| Self { case, target });
        let edge = of("", cases::edge(catalog()));
        edge.chain(of(" service", cases::service(catalog())))
            .chain(of(" keys", cases::keys(catalog())))
            .chain(of(" collector", cases::collector(catalog())))
            .collect()
    }
}
