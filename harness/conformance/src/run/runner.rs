use std::future::{self, Future};
use std::sync::Arc;

use edgeproof_cli::error_text;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::{AddedLatency, CaseReport};
use miette::Diagnostic;
use tokio::sync::Semaphore;

use super::runner_context::RunnerContext;
use crate::cases::{Case, CaseFindings};

/// Runs cases on one kind of target: a pool of edges, or a service.
pub(super) trait Runner: Send + Sync + 'static {
    /// Checks before the first case whether the target can be judged.
    fn check_sanity(&self, context: &RunnerContext) -> impl Future<Output = SanityResult> + Send;

    /// Redacts all secrets of the run.
    fn redactor(&self) -> &Redactor;

    /// Whether no other case can use the target at the same time as this one.
    fn runs_alone(&self, _case: &Case) -> bool {
        false
    }

    /// Number of requests to the target so far.
    fn exchanges(&self) -> usize;

    /// Runs a case once, as soon as `jobs` has a permit.
    fn run_case(
        &self,
        context: &RunnerContext,
        case: &Arc<Case>,
        jobs: &Semaphore,
    ) -> impl Future<Output = CaseReport> + Send;

    /// Sends the last requests of a run, then stops the target. Afterwards the monitors judge complete logs.
    fn end_requests(&self, _context: &RunnerContext) -> impl Future<Output = ()> + Send {
        future::ready(())
    }

    /// Deaths of the target that no case reports, after the last case.
    fn unreported_deaths(&self) -> impl Future<Output = Vec<String>> + Send {
        future::ready(Vec::new())
    }

    /// Measures the latency that the target adds, where both of its sides can be observed.
    fn added_latency(&self, _context: &RunnerContext) -> impl Future<Output = Option<AddedLatency>> + Send {
        future::ready(None)
    }
}

/// Result of the check that precedes all cases.
#[derive(Debug)]
pub(super) enum SanityResult {
    /// All cases can be judged.
    Usable,
    /// Some cases cannot be judged.
    Limited(Limitation),
    /// The target died of the first request. The text says how. `found`: that request.
    Died {
        /// How the target died.
        text: String,
        /// The request.
        found: Box<CaseFindings>,
    },
    /// No case can be judged. The text says why and what to do.
    Unusable(String),
}

impl SanityResult {
    /// The target does not start or answer. The text holds the error and its advice.
    pub(super) fn unusable_because(why: &(impl Diagnostic + 'static)) -> Self {
        let text = error_text(why);
        Self::Unusable(why.help().map_or(text.clone(), |help| format!("{text}\n{help}")))
    }
}

/// Cases that cannot be judged on this target.
#[derive(Debug)]
pub(super) struct Limitation {
    /// What was found, and what to do.
    pub(super) finding: String,
    /// Whether a case is among them.
    pub(super) concerns: fn(&Case) -> bool,
    /// Reason why each affected case does not run.
    pub(super) because: &'static str,
}
