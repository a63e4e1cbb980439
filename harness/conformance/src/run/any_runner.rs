use std::sync::Arc;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::{AddedLatency, CaseReport};
use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

use super::edge::LeaseError;
use super::runner::{Runner, SanityResult};
use super::runner_context::RunnerContext;
use crate::cases::{Case, Part};
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
