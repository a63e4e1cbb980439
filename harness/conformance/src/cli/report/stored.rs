//! Reports that earlier runs wrote.

use std::path::Path;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_reports::{Report, ReportedSpec};

/// Reads a JSON report.
pub(super) fn load(path: &Path) -> Result<Report, Failure> {
    Report::load(path).map_err(|why| Failure::of(&why, "give a JSON report that `--report json=PATH` wrote"))
}

/// The built-in tables of the version that a report names. None: the run had other tables.
pub(super) fn built_in(spec: &ReportedSpec) -> Option<Spec> {
    spec.version.parse::<Version>().ok().map(Spec::builtin)
}
