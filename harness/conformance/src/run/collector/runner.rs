use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use edgeproof_browser::PageRequest;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::CaseLevel;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use super::options::CollectorRunnerOptions;
use super::sanity::{self, FirstSession};
use crate::cases::{
    Case, CaseFindings, Collector, CollectorCaseContext, CollectorMonitor, CollectorTarget, CollectorTraffic,
    SealUse, Sender, next_marker,
};
use crate::collector::PageServer;
use crate::monitor::judge_collector;
use crate::run::liveness::{Attempt, CaseEnd};
use crate::run::plan::UnmetNeed;
use crate::run::runner::{Leased, Released, RunTarget, Runner, SanityResult};
use crate::run::runner_context::RunnerContext;

/// Timeout of a call to a collector whose first session did not end.
const IMPATIENT: Duration = Duration::from_secs(1);

/// How much longer than the timeout a call may take at least: a machine can become busy during a run.
const PATIENCE: u32 = 2;

/// How much longer a case takes that opens a page for each session.
const SLOWER: u32 = 4;

/// Runs cases on a collector in a browser. Each case has pages and edges of its own.
pub struct CollectorRunner {
    options: CollectorRunnerOptions,
    target: OnceCell<Arc<CollectorTarget>>,
    traffic: Arc<CollectorTraffic>,
    /// The first session did not end, so others hardly will.
    is_stuck: AtomicBool,
    /// How much longer than usual the first session took.
    slowness: AtomicU32,
}

impl CollectorRunner {
    /// A runner that has started nothing yet.
    pub fn new(options: CollectorRunnerOptions) -> Self {
        Self {
            options,
            target: OnceCell::new(),
            traffic: Arc::default(),
            is_stuck: AtomicBool::new(false),
            slowness: AtomicU32::new(1),
        }
    }

    /// The target with pages. The error says why there is none, and what to do.
    async fn pages(&self, limit: Duration) -> Result<Arc<CollectorTarget>, String> {
        let target = self.target.get_or_try_init(|| async { self.open(limit).await.map(Arc::new) }).await?;
        Ok(Arc::clone(target))
    }

    async fn open(&self, limit: Duration) -> Result<CollectorTarget, String> {
        let CollectorRunnerOptions { module, name, browser, edges, seal, opener, .. } = &self.options;
        let pages = PageServer::start(&edges.credentials, module.clone())
            .await
            .map_err(|why| format!("cannot serve the pages: {why}"))?;
        let target = CollectorTarget {
            module: module.clone(),
            name: name.clone(),
            browser: Arc::clone(browser),
            pages: Arc::new(pages),
            edges: Arc::clone(edges),
            traffic: Arc::clone(&self.traffic),
            seal: seal.unwrap_or(SealUse::Broken),
            opener: opener.clone(),
            is_independent: seal.is_some(),
            stopped: None,
            idle: Arc::default(),
        };
        if seal.is_some() {
            return Ok(target);
        }
        let FirstSession { seal, is_stuck, is_independent, slowness, stopped } =
            sanity::first_session(target.clone(), limit).await?;
        self.is_stuck.store(is_stuck, Ordering::Relaxed);
        self.slowness.store(slowness, Ordering::Relaxed);
        if !is_independent {
            target.idle.lock().clear();
        }
        Ok(CollectorTarget { seal, is_independent, stopped, ..target })
    }
}

impl Runner for CollectorRunner {
    type Part = Collector;
    type Lease = OwnedSemaphorePermit;

    fn target(&self) -> RunTarget {
        let CollectorRunnerOptions { edges, module, .. } = &self.options;
        RunTarget { spec: Arc::clone(&edges.spec), kind: self.options.kind(), name: module.name() }
    }

    fn redactor(&self) -> &Arc<Redactor> {
        &self.options.redactor
    }

    fn unmet(&self, _: &Case<Collector>) -> Vec<UnmetNeed> {
        Vec::new()
    }

    async fn check_sanity(&self, context: &RunnerContext) -> SanityResult<Infallible> {
        if let Err(why) = self.options.browser.start().await {
            return SanityResult::unusable_because(&why);
        }
        match self.pages(context.request_timeout()).await {
            Ok(_) => SanityResult::Usable,
            Err(why) => SanityResult::Unusable(self.options.redactor.redact(&why).into_owned()),
        }
    }

    async fn lease(
        &self,
        context: &RunnerContext,
        case: &Case<Collector>,
        _alone: bool,
        jobs: &Arc<Semaphore>,
    ) -> Result<Leased<Self>, Attempt> {
        let lease = Arc::clone(jobs).acquire_owned().await.expect("the semaphore is never closed");
        let call = context.request_timeout();
        let target = self.pages(call).await.map_err(|why| Attempt::not_run(case, &why))?;
        let is_stuck = self.is_stuck.load(Ordering::Relaxed);
        let slowness = if is_stuck { 1 } else { self.slowness.load(Ordering::Relaxed).max(PATIENCE) };
        let call = if is_stuck { call.min(IMPATIENT) } else { call * slowness.min(SLOWER) };
        let slower = slowness * if target.is_independent { 1 } else { SLOWER };
        let sender = Sender { case: case.id.clone(), level: case.level, marker: next_marker() };
        let page = CollectorCaseContext::new(target, sender, call);
        let limit = context.case_timeout(case).times(slower);
        Ok(Leased { lease, context: page, began: Instant::now(), limit })
    }

    async fn release(&self, _: &RunnerContext, _: &Case<Collector>, leased: Leased<Self>) -> Released {
        // Another case can begin when the pages are recorded.
        let Leased { context, lease: _job, .. } = leased;
        Released { found: context.finish().await, end: CaseEnd::Survived, notes: None }
    }

    fn exchanges(&self) -> usize {
        self.traffic.count()
    }

    async fn judge(
        &self,
        context: &RunnerContext,
        monitor: CollectorMonitor,
        level: CaseLevel,
    ) -> Result<CaseFindings, String> {
        let target = self.pages(context.request_timeout()).await?;
        let serves = |request: &PageRequest| request.method == "GET" && target.pages.serves(&request.url);
        let mut found = self
            .traffic
            .judge(|traces| judge_collector(monitor, traces, &serves, &self.options.edges.spec, level));
        if self.traffic.is_empty() {
            found.not_run = Some("no case opened a page".into());
        }
        Ok(found)
    }

    /// Ends the browser, unless another run shares it.
    async fn end(&self, _interrupted: bool) {
        if let Some(target) = self.target.get() {
            target.idle.lock().clear();
        }
        // The runner and its target hold it.
        if Arc::strong_count(&self.options.browser) <= 2 {
            self.options.browser.close().await;
        }
    }
}
