use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use edgeproof::cases::{AnyCase, Case, CaseFacts, Part};
use edgeproof::run::ConformanceRun;
use edgeproof_edge::EdgeFaultHooks;
use edgeproof_fixtures::spec::PartName;
use edgeproof_targets::FaultInjection;

use super::pure_result::PureResult;
use super::test_bed::{TestBed, TestBedError};

/// Faults of the target of a run, if it has any.
pub(crate) type OptionalInjection = Option<Arc<dyn FaultInjection>>;

/// A part with mutants of its built-in target.
pub(crate) trait MutatedPart: Part {
    /// Cases whose requests are data are played without sockets.
    const PLAYS_PURE: bool = false;

    /// Plans runs of cases on the built-in target with these faults. Cases that need another target get a run of their
    /// own.
    fn runs(
        bed: &TestBed,
        cases: Vec<Case<Self>>,
        faults: OptionalInjection,
    ) -> Result<Vec<ConformanceRun>, TestBedError>;

    /// Plays a case without sockets. None: it needs them.
    fn play_pure(
        _bed: &TestBed,
        _case: &Case<Self>,
        _hooks: &dyn EdgeFaultHooks,
        _reads_reasons: bool,
    ) -> Option<PureResult> {
        None
    }
}

/// The cases of a part, whatever part it is.
pub(super) trait BedPart: Debug + Send + Sync {
    /// Name of the part in the tables.
    fn name(&self) -> PartName;

    /// What each case says of itself.
    fn facts(&self) -> Vec<CaseFacts>;

    /// Whether a case may be played without sockets.
    fn plays_pure(&self, id: &str) -> bool;

    /// See [`MutatedPart::runs`].
    fn runs(
        &self,
        bed: &TestBed,
        ids: &[&str],
        faults: OptionalInjection,
    ) -> Result<Vec<ConformanceRun>, TestBedError>;

    /// See [`MutatedPart::play_pure`].
    fn play_pure(
        &self,
        bed: &TestBed,
        id: &str,
        hooks: &dyn EdgeFaultHooks,
        reads_reasons: bool,
    ) -> Option<PureResult>;
}

/// The cases of one part.
#[derive(Debug)]
pub(super) struct PartCases<P: Part> {
    name: PartName,
    cases: Vec<Case<P>>,
    positions: BTreeMap<String, usize>,
}

impl<P: MutatedPart + Debug> PartCases<P> {
    /// The cases of the part with this name in the tables.
    pub(super) fn boxed(name: PartName, cases: Vec<Case<P>>) -> Box<dyn BedPart> {
        let positions = cases.iter().enumerate().map(|(position, case)| (case.id.clone(), position));
        Box::new(Self { name, positions: positions.collect(), cases })
    }

    fn case(&self, id: &str) -> Option<&Case<P>> {
        self.positions.get(id).map(|position| &self.cases[*position])
    }
}

impl<P: MutatedPart + Debug> BedPart for PartCases<P> {
    fn name(&self) -> PartName {
        self.name
    }

    fn facts(&self) -> Vec<CaseFacts> {
        self.cases.iter().map(|case| case.facts.clone()).collect()
    }

    fn plays_pure(&self, id: &str) -> bool {
        P::PLAYS_PURE && self.case(id).is_some_and(AnyCase::is_data)
    }

    fn runs(
        &self,
        bed: &TestBed,
        ids: &[&str],
        faults: OptionalInjection,
    ) -> Result<Vec<ConformanceRun>, TestBedError> {
        P::runs(bed, ids.iter().filter_map(|id| self.case(id)).cloned().collect(), faults)
    }

    fn play_pure(
        &self,
        bed: &TestBed,
        id: &str,
        hooks: &dyn EdgeFaultHooks,
        reads_reasons: bool,
    ) -> Option<PureResult> {
        P::play_pure(bed, self.case(id)?, hooks, reads_reasons)
    }
}
