//! Forms of settings that share a launch: the value that is to blame fails, and the others pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use edgeproof_edge::EdgeOptions;
use edgeproof_fixtures::credentials::Secret;
use edgeproof_fixtures::spec::PartName;
use edgeproof_mutants::{Mutant, MutantSet, Mutation, SocketResult};
use edgeproof_reports::Outcome;
use edgeproof_targets::FaultInjection;

use crate::support::{block_on, test_bed};

fn mutant(id: &str) -> Mutant {
    let set = MutantSet::new(&test_bed().spec);
    set.mutants.into_iter().find(|mutant| mutant.id == id).expect("a mutant has this id")
}

/// Plays the cases of all forms.
fn play(faults: Option<Arc<dyn FaultInjection>>) -> SocketResult {
    let mut cases = test_bed().cases(PartName::Edge);
    cases.retain(|case| case.id.starts_with("settings."));
    block_on(test_bed().play(PartName::Edge, &cases, faults)).unwrap()
}

fn ids(result: &SocketResult, outcome: Outcome) -> BTreeSet<&str> {
    let reports = result.reports.iter().filter(|report| report.outcome == outcome);
    reports.map(|report| report.id.as_str()).collect()
}

#[test]
fn every_form_passes_on_the_reference_edge() {
    let result = play(None);
    assert_eq!(ids(&result, Outcome::Pass).len(), result.reports.len());
}

#[test]
fn only_the_value_to_blame_fails() {
    for (id, case, outcome) in [
        ("setting/ca-file/crlf/fails", "settings.ca-file.crlf", Outcome::Fail),
        ("setting/paths/space/fails", "settings.paths.space", Outcome::Warn),
        ("setting/key/sec1/accepts-anyway", "settings.key.sec1", Outcome::Fail),
        ("setting/ca-file/empty/trusts-any", "settings.ca-file.empty", Outcome::Fail),
    ] {
        let mutant = mutant(id);
        assert!(matches!(mutant.mutation, Mutation::Setting(_)));
        let result = play(Some(mutant.faults()));
        assert_eq!(ids(&result, outcome), BTreeSet::from([case]));
        assert_eq!(ids(&result, Outcome::Pass).len(), result.reports.len() - 1, "{id}");
    }
}

/// An edge that fails only with two forms at once.
#[derive(Debug)]
struct FailsTogether;

impl FaultInjection for FailsTogether {
    fn edge(&self, options: &mut EdgeOptions) {
        let settings = &mut options.settings;
        let url = settings.service_url.as_deref().unwrap_or_default();
        let license = settings.license.as_ref().map(Secret::expose).unwrap_or_default();
        if url.starts_with("HTTPS") && license.ends_with("==") {
            settings.service_url = Some("https://localhost:1".to_owned());
        }
    }
}

#[test]
fn forms_that_fail_only_together_are_reported() {
    let result = play(Some(Arc::new(FailsTogether)));
    let failed = ids(&result, Outcome::Fail);
    assert!(failed.contains("settings.license.characters"), "{failed:?}");
    let reports = result.reports.iter().filter(|report| failed.contains(report.id.as_str()));
    for report in reports {
        assert!(report.because.contains("each of them alone passes"), "{}", report.because);
    }
}
