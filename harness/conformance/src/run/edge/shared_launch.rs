use std::sync::Arc;

use edgeproof_mock::Script;
use edgeproof_reports::{CaseLevel, CaseReport, Outcome};
use tokio::sync::Semaphore;

use super::pool::EdgePool;
use crate::cases::{Case, Edge, SettingForms, Setup, collection, presents_configured};
use crate::run::attempt::run_case;
use crate::run::runner_context::RunnerContext;

impl EdgePool {
    /// Runs a case whose launch also serves other cases. If it does not pass there, its own launch decides: another
    /// value can be to blame.
    pub(super) async fn run_shared(
        &self,
        context: &RunnerContext,
        case: &Case<Edge>,
        alone: Setup,
        jobs: &Arc<Semaphore>,
    ) -> CaseReport {
        // An edge that refuses to start may do so because of another value.
        let mut together = case.clone();
        together.settings.start = CaseLevel::Must;
        let report = run_case(self, context, &together, jobs).await;
        if is_fine(&report) {
            return report;
        }
        let mut own = case.clone();
        own.settings.setup = alone;
        let own = run_case(self, context, &own, jobs).await;
        if !is_fine(&own) || self.is_one_to_blame(context, case.settings.setup, jobs).await {
            return own;
        }
        let because =
            format!("{} ({}; each of them alone passes)", report.because, case.settings.setup.describe());
        CaseReport { because, ..report }
    }

    /// Whether an edge with one of the values alone does not start, accept or relay so, which the interface may leave open.
    async fn is_one_to_blame(&self, context: &RunnerContext, together: Setup, jobs: &Arc<Semaphore>) -> bool {
        let Setup::Forms(forms) = together else { return false };
        for setup in forms.changes().map(|change| Setup::Forms(SettingForms::new(&[change]))) {
            if !self.accepts(context, setup, jobs).await {
                return true;
            }
        }
        false
    }

    /// Whether an edge with these settings starts, accepts a collection, and relays it with its certificate.
    async fn accepts(&self, context: &RunnerContext, setup: Setup, jobs: &Arc<Semaphore>) -> bool {
        let reservation = self.reserve(setup, false).await;
        let _job = jobs.acquire().await.expect("the semaphore is never closed");
        let Ok(lease) = self.lease(reservation).await else { return false };
        let mut edge =
            lease.instance.case_context("settings", CaseLevel::Open, false, context.request_timeout());
        edge.script(Script::accept(&self.options().profile));
        let reply = edge.send(&collection()).await.reply;
        let [arrival] = &edge.relayed().await.complete[..] else { return false };
        edge.is_accepted(&reply) && presents_configured(&edge, arrival).is_none_or(|check| check.ok)
    }
}

fn is_fine(report: &CaseReport) -> bool {
    matches!(report.outcome, Outcome::Pass | Outcome::Observed)
}
