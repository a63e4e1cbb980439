use std::cmp::Reverse;
use std::sync::Arc;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::{AddedLatency, CaseReport};
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::Semaphore;

use super::edge::LeaseError;
use super::runner::{Runner, SanityResult};
use super::runner_context::RunnerContext;
use crate::cases::{Case, Part, Phase};
use crate::causes::Fingerprints;

/// A runner with its planned cases, whatever part they test. A case is named by its position in the plan.
pub(super) trait AnyRunner: Send + Sync {
    fn redactor(&self) -> &Arc<Redactor>;
    fn fingerprints(&self) -> &'static Fingerprints;
    fn start(&mut self) -> BoxFuture<'_, Result<(), LeaseError>>;
    fn check_sanity<'r>(&'r self, context: &'r RunnerContext) -> BoxFuture<'r, SanityResult<usize>>;
    fn runs_alone(&self, case: usize) -> bool;
    fn run_case<'r>(
        &'r self,
        context: &'r RunnerContext,
        case: usize,
        jobs: &'r Arc<Semaphore>,
    ) -> BoxFuture<'r, CaseReport>;
    /// Id of a case.
    fn id(&self, case: usize) -> &str;
    /// Whether a case sends requests of its own.
    fn is_playable(&self, case: usize) -> bool;
    /// The cases before this one on the same target, in the order in which a run with one job plays them.
    fn history(&self, case: usize) -> Vec<usize>;
    /// Plays a case after others, of which `jobs` run at the same time, on a new target if edgeproof starts it. None: the
    /// target does not start.
    fn play_again<'r>(
        &'r self,
        context: &'r RunnerContext,
        history: &'r [usize],
        case: usize,
        jobs: usize,
    ) -> BoxFuture<'r, Option<CaseReport>>;
    fn exchanges(&self) -> usize;
    fn end_requests<'r>(&'r self, context: &'r RunnerContext) -> BoxFuture<'r, ()>;
    fn unreported_deaths(&self) -> BoxFuture<'_, Vec<String>>;
    fn added_latency<'r>(&'r self, context: &'r RunnerContext) -> BoxFuture<'r, Option<AddedLatency>>;
    fn end(&self, interrupted: bool) -> BoxFuture<'_, ()>;
}

/// A runner, and the cases that it is planned to run.
pub(super) struct RunnerWithCases<R: Runner> {
    pub(super) runner: R,
    pub(super) cases: Vec<Case<R::Part>>,
}

impl<R: Runner> AnyRunner for RunnerWithCases<R> {
    fn redactor(&self) -> &Arc<Redactor> {
        self.runner.redactor()
    }

    fn fingerprints(&self) -> &'static Fingerprints {
        R::Part::fingerprints()
    }

    fn start(&mut self) -> BoxFuture<'_, Result<(), LeaseError>> {
        Box::pin(self.runner.start())
    }

    fn check_sanity<'r>(&'r self, context: &'r RunnerContext) -> BoxFuture<'r, SanityResult<usize>> {
        Box::pin(async {
            let result = self.runner.check_sanity(context).await;
            let needs_one_of =
                |needs: &[_], case: usize| self.cases[case].needs.iter().any(|need| needs.contains(need));
            result.with(|needs| (0..self.cases.len()).filter(|case| needs_one_of(&needs, *case)).collect())
        })
    }

    fn runs_alone(&self, case: usize) -> bool {
        self.runner.runs_alone(&self.cases[case])
    }

    fn run_case<'r>(
        &'r self,
        context: &'r RunnerContext,
        case: usize,
        jobs: &'r Arc<Semaphore>,
    ) -> BoxFuture<'r, CaseReport> {
        Box::pin(self.runner.run_case(context, &self.cases[case], jobs))
    }

    fn id(&self, case: usize) -> &str {
        &self.cases[case].id
    }

    fn is_playable(&self, case: usize) -> bool {
        self.cases[case].phase != Phase::Monitors
    }

    fn history(&self, case: usize) -> Vec<usize> {
        let start = |case: usize| (self.cases[case].phase, Reverse(self.cases[case].takes), case);
        let ids = self.runner.history(&self.cases[case]);
        let position = |id: &String| self.cases.iter().position(|case| case.id == *id);
        let earlier = ids.iter().filter_map(position).filter(|other| start(*other) < start(case));
        let mut earlier: Vec<usize> = earlier.collect();
        earlier.sort_by_key(|case| start(*case));
        earlier
    }

    fn play_again<'r>(
        &'r self,
        context: &'r RunnerContext,
        history: &'r [usize],
        case: usize,
        jobs: usize,
    ) -> BoxFuture<'r, Option<CaseReport>> {
        Box::pin(async move {
            let mut fresh = self.runner.afresh();
            if let Some(fresh) = &mut fresh {
                fresh.start().await.ok()?;
            }
            let runner = fresh.as_ref().unwrap_or(&self.runner);
            let jobs = Arc::new(Semaphore::new(jobs.max(1)));
            join_all(history.iter().map(|case| runner.run_case(context, &self.cases[*case], &jobs))).await;
            let report = runner.run_case(context, &self.cases[case], &jobs).await;
            if let Some(fresh) = &fresh {
                fresh.end(false).await;
            }
            Some(report)
        })
    }

    fn exchanges(&self) -> usize {
        self.runner.exchanges()
    }

    fn end_requests<'r>(&'r self, context: &'r RunnerContext) -> BoxFuture<'r, ()> {
        Box::pin(self.runner.end_requests(context))
    }

    fn unreported_deaths(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(self.runner.unreported_deaths())
    }

    fn added_latency<'r>(&'r self, context: &'r RunnerContext) -> BoxFuture<'r, Option<AddedLatency>> {
        Box::pin(self.runner.added_latency(context))
    }

    fn end(&self, interrupted: bool) -> BoxFuture<'_, ()> {
        Box::pin(self.runner.end(interrupted))
    }
}
