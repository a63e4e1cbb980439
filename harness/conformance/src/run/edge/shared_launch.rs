use std::sync::Arc;

use edgeproof_mock::Script;
use edgeproof_reports::{CaseLevel, CaseReport, Outcome};
use tokio::sync::Semaphore;

use super::pool::EdgePool;
use crate::cases::{Case, SettingForms, Setup, collection};
use crate::run::liveness::run_until_judged;
use crate::run::runner_context::RunnerContext;

impl EdgePool {
    /// Runs a case whose launch also serves other cases. If it does not pass there, its own launch decides: another
    /// value can be to blame.
    pub(super) async fn run_shared(
        &self,
        context: &RunnerContext,
        case: &Arc<Case>,
        alone: Setup,
        jobs: &Semaphore,
    ) -> CaseReport {
        // An edge that refuses to start may do so because of another value.
        let together = Case { start: CaseLevel::Must, ..Case::clone(case) };
        let report = self.play(context, &together, jobs).await;
        if is_fine(&report) {
            return report;
        }
        let own = Case { setup: alone, ..Case::clone(case) };
        let own = self.play(context, &own, jobs).await;
        if !is_fine(&own) || self.is_one_to_blame(context, case.setup, jobs).await {
            return own;
        }
        let because = format!("{} ({}; each of them alone passes)", report.because, case.setup.describe());
        CaseReport { because, ..report }
    }

    async fn play(&self, context: &RunnerContext, case: &Case, jobs: &Semaphore) -> CaseReport {
        run_until_judged(|alone| self.attempt(context, case, alone || case.exclusive, jobs)).await
    }

    /// Whether an edge with one of the values alone does not start, accept or relay, which the interface may leave open.
    async fn is_one_to_blame(&self, context: &RunnerContext, together: Setup, jobs: &Semaphore) -> bool {
        let Setup::Forms(forms) = together else { return false };
        for setup in forms.changes().map(|change| Setup::Forms(SettingForms::new(&[change]))) {
            if !self.accepts(context, setup, jobs).await {
                return true;
            }
        }
        false
    }

    /// Whether an edge with these settings starts, accepts a collection, and relays it.
    async fn accepts(&self, context: &RunnerContext, setup: Setup, jobs: &Semaphore) -> bool {
        let reservation = self.reserve(setup, false).await;
        let _job = jobs.acquire().await.expect("the semaphore is never closed");
        let Ok(lease) = self.lease(reservation).await else { return false };
        let mut edge =
            lease.instance.case_context("settings", CaseLevel::Must, false, context.request_timeout());
        edge.script(Script::accept(&self.options().profile));
        let accepts = edge.send(&collection()).await.reply.is_ok_and(|answer| answer.status == 200);
        accepts && edge.relayed().await.complete.len() == 1
    }
}

fn is_fine(report: &CaseReport) -> bool {
    matches!(report.outcome, Outcome::Pass | Outcome::Observed)
}
