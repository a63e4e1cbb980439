use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Instant;

use edgeproof_cli::error_text;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Spec;
use edgeproof_launch::TimeLimit;
use edgeproof_reports::difference::ProcessDeath;
use edgeproof_reports::{AddedLatency, CaseLevel, CaseReport, EdgeNotes, TargetKind};
use miette::Diagnostic;
use tokio::sync::Semaphore;

use super::attempt::run_case;
use super::edge::LeaseError;
use super::liveness::{Attempt, CaseEnd};
use super::plan::UnmetNeed;
use super::runner_context::RunnerContext;
use crate::cases::{Case, CaseContext, CaseFindings, Part};
use crate::judge::Check;

/// Runs the cases of a part on one target. What all parts share is in `attempt.rs`.
pub trait Runner: Send + Sync + Sized + 'static {
    /// The tested part.
    type Part: Part;
    /// What an attempt of a case holds of the target.
    type Lease: Send;

    /// The target in reports.
    fn target(&self) -> RunTarget;

    /// Redacts all secrets of the run.
    fn redactor(&self) -> &Arc<Redactor>;

    /// All needs of a case that the target does not meet; empty if the case applies.
    fn unmet(&self, case: &Case<Self::Part>) -> Vec<UnmetNeed>;

    /// Starts what has to run before the first event.
    fn start(&mut self) -> impl Future<Output = Result<(), LeaseError>> + Send {
        ready(Ok(()))
    }

    /// Checks before the first case whether the target can be judged.
    fn check_sanity(
        &self,
        _context: &RunnerContext,
    ) -> impl Future<Output = SanityResult<<Self::Part as Part>::Need>> + Send {
        ready(SanityResult::Usable)
    }

    /// A runner with a new target of the same kind. None: the target is not started by edgeproof.
    fn afresh(&self) -> Option<Self> {
        None
    }

    /// Ids of the cases whose requests the target got before those of this case, in the order of their first request.
    fn history(&self, _case: &Case<Self::Part>) -> Vec<String> {
        Vec::new()
    }

    /// Whether no other case can use the target at the same time as this one.
    fn runs_alone(&self, _case: &Case<Self::Part>) -> bool {
        false
    }

    /// Runs a case once, as soon as `jobs` has a permit.
    fn run_case(
        &self,
        context: &RunnerContext,
        case: &Case<Self::Part>,
        jobs: &Arc<Semaphore>,
    ) -> impl Future<Output = CaseReport> + Send {
        run_case(self, context, case, jobs)
    }

    /// Leases the target for one attempt of a case, as soon as `jobs` has a permit. `alone`: no other case may use it at
    /// the same time. The error is the end of the attempt.
    fn lease(
        &self,
        context: &RunnerContext,
        case: &Case<Self::Part>,
        alone: bool,
        jobs: &Arc<Semaphore>,
    ) -> impl Future<Output = Result<Leased<Self>, Attempt>> + Send;

    /// How to reach the target before a held case (`--hold`), in lines that begin with a line break.
    fn hold_text(&self, _case: &Case<Self::Part>, _leased: &mut Leased<Self>) -> String {
        String::new()
    }

    /// Plays a case. Yields whether it ended in time.
    fn play(&self, case: &Case<Self::Part>, leased: &mut Leased<Self>) -> impl Future<Output = bool> + Send {
        case.play(&mut leased.context, &leased.limit)
    }

    /// Adds the check of a case that exceeded its timeout.
    fn time_out(leased: &mut Leased<Self>, check: Check) {
        leased.context.check(check);
    }

    /// Ends an attempt: returns the target, and finds out whether it survived.
    fn release(
        &self,
        context: &RunnerContext,
        case: &Case<Self::Part>,
        leased: Leased<Self>,
    ) -> impl Future<Output = Released> + Send;

    /// Number of requests to the target so far.
    fn exchanges(&self) -> usize;

    /// Sends the last requests of a run, then stops the target. Afterwards the monitors judge complete logs.
    fn end_requests(&self, _context: &RunnerContext) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Whether the target died and did not come back.
    fn is_gone(&self) -> bool {
        false
    }

    /// Judges the whole run by one invariant. The error says why it cannot be judged.
    fn judge(
        &self,
        context: &RunnerContext,
        monitor: <Self::Part as Part>::Monitor,
        level: CaseLevel,
    ) -> impl Future<Output = Result<CaseFindings, String>> + Send;

    /// Deaths of the target that no case reports, after the last case.
    fn unreported_deaths(&self) -> impl Future<Output = Vec<String>> + Send {
        ready(Vec::new())
    }

    /// Measures the latency that the target adds, where both of its sides can be observed.
    fn added_latency(&self, _context: &RunnerContext) -> impl Future<Output = Option<AddedLatency>> + Send {
        ready(None)
    }

    /// Ends the target. `interrupted`: cases may still use it.
    fn end(&self, _interrupted: bool) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

/// The target of a run in reports.
#[derive(Debug, Clone)]
pub struct RunTarget {
    /// The interface that the target is compared with.
    pub spec: Arc<Spec>,
    /// Kind of the target.
    pub kind: TargetKind,
    /// A command, a URL, or what edgeproof provides itself.
    pub name: String,
}

/// A target that is leased for one attempt of a case.
pub struct Leased<R: Runner> {
    /// What the attempt holds of the target.
    pub lease: R::Lease,
    /// The context of the case.
    pub context: CaseContext<<R::Part as Part>::Target>,
    /// When the attempt began.
    pub began: Instant,
    /// Timeout of the case.
    pub limit: TimeLimit,
}

/// The end of an attempt.
pub struct Released {
    /// The findings of the case.
    pub found: CaseFindings,
    /// Relation of the case to the death of its target.
    pub end: CaseEnd,
    /// What a report of a failure shows of the target.
    pub notes: Option<EdgeNotes>,
}

/// Result of the check that precedes all cases. `C`: what says which cases are limited.
#[derive(Debug)]
pub enum SanityResult<C> {
    /// All cases can be judged.
    Usable,
    /// Some cases cannot be judged.
    Limited(Limitation<C>),
    /// The target died of the first request. `found`: that request.
    Died {
        /// How the target died.
        death: Box<ProcessDeath>,
        /// The request.
        found: Box<CaseFindings>,
    },
    /// No case can be judged. The text says why and what to do.
    Unusable(String),
}

/// Cases that cannot be judged on this target.
#[derive(Debug)]
pub struct Limitation<C> {
    /// What was found, and what to do.
    pub finding: String,
    /// What these cases need, or the cases themselves.
    pub concerned: Vec<C>,
    /// Reason why each affected case does not run.
    pub because: &'static str,
}

impl<C> SanityResult<C> {
    /// The target does not start or answer. The text holds the error and its advice.
    pub(super) fn unusable_because(why: &(impl Diagnostic + 'static)) -> Self {
        let text = error_text(why);
        Self::Unusable(why.help().map_or(text.clone(), |help| format!("{text}\n{help}")))
    }

    /// The same result, with the cases in place of what says which they are.
    pub(super) fn with<D>(self, concerned: impl FnOnce(Vec<C>) -> Vec<D>) -> SanityResult<D> {
        match self {
            Self::Usable => SanityResult::Usable,
            Self::Limited(Limitation { finding, concerned: which, because }) => {
                SanityResult::Limited(Limitation { finding, concerned: concerned(which), because })
            }
            Self::Died { death, found } => SanityResult::Died { death, found },
            Self::Unusable(why) => SanityResult::Unusable(why),
        }
    }
}
