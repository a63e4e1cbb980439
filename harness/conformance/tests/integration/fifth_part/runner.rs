use std::sync::Arc;
use std::time::Instant;

use edgeproof::cases::{Case, CaseFindings};
use edgeproof::judge::exact;
use edgeproof::run::{Attempt, CaseEnd, Leased, Released, RunTarget, Runner, RunnerContext, UnmetNeed};
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::{CaseLevel, TargetKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::echo::{Echo, EchoTarget, SameToTheEnd, context, echoed};

/// Runs cases on one echo.
pub(crate) struct EchoRunner {
    pub(crate) has_second: bool,
    pub(crate) spec: Arc<Spec>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) target: Arc<EchoTarget>,
}

impl Runner for EchoRunner {
    type Part = Echo;
    type Lease = OwnedSemaphorePermit;

    fn target(&self) -> RunTarget {
        RunTarget { spec: Arc::clone(&self.spec), kind: TargetKind::Attached, name: "an echo".into() }
    }

    fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    fn unmet(&self, case: &Case<Echo>) -> Vec<UnmetNeed> {
        let unmet = UnmetNeed::Input { name: "a second echo", advice: "start one" };
        case.needs.iter().filter(|_| !self.has_second).map(|_| unmet).collect()
    }

    async fn lease(
        &self,
        run: &RunnerContext,
        case: &Case<Echo>,
        _alone: bool,
        jobs: &Arc<Semaphore>,
    ) -> Result<Leased<Self>, Attempt> {
        let lease = Arc::clone(jobs).acquire_owned().await.unwrap();
        let context = context(&self.target, case, run.request_timeout());
        Ok(Leased { lease, context, began: Instant::now(), limit: run.case_timeout(case) })
    }

    async fn release(&self, _: &RunnerContext, _: &Case<Echo>, leased: Leased<Self>) -> Released {
        Released { found: leased.context.found, end: CaseEnd::Survived, notes: None }
    }

    fn exchanges(&self) -> usize {
        self.target.exchanges.lock().len()
    }

    async fn judge(
        &self,
        _: &RunnerContext,
        _: SameToTheEnd,
        level: CaseLevel,
    ) -> Result<CaseFindings, String> {
        let mut found = CaseFindings::default();
        for (said, reply) in &*self.target.exchanges.lock() {
            for check in exact(&echoed(said), reply) {
                found.check(check, level);
            }
        }
        Ok(found)
    }
}
