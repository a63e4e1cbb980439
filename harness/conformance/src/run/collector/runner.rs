use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use edgeproof_browser::PageRequest;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::{CaseReport, Outcome};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

use super::options::CollectorRunnerOptions;
use super::sanity::{self, FirstSession};
use crate::cases::{
    Case, CollectorCaseContext, CollectorMonitor, CollectorTarget, CollectorTraffic, Procedure, SealUse,
    next_marker,
};
use crate::collector::PageServer;
use crate::monitor::judge_collector;
use crate::run::case_report::{self, timeout_check};
use crate::run::runner::{Runner, SanityResult};
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

    /// Options of the runner.
    pub fn options(&self) -> &CollectorRunnerOptions {
        &self.options
    }

    /// Ends the browser, unless another run shares it.
    pub(in crate::run) async fn end(&self) {
        if let Some(target) = self.target.get() {
            target.idle.lock().clear();
        }
        // The runner and its target hold it.
        if Arc::strong_count(&self.options.browser) <= 2 {
            self.options.browser.close().await;
        }
    }

    /// The target with pages. The error says why there is none, and what to do.
    async fn target(&self, limit: Duration) -> Result<Arc<CollectorTarget>, String> {
        let target = self.target.get_or_try_init(|| async { self.open(limit).await.map(Arc::new) }).await?;
        Ok(Arc::clone(target))
    }

    async fn open(&self, limit: Duration) -> Result<CollectorTarget, String> {
        let CollectorRunnerOptions { module, name, browser, edges, seal, .. } = &self.options;
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

    /// Judges all pages of the run by one invariant.
    async fn run_monitor(&self, case: &Case, monitor: CollectorMonitor, limit: Duration) -> CaseReport {
        let began = Instant::now();
        let pages = match self.target(limit).await {
            Ok(target) => Arc::clone(&target.pages),
            Err(why) => return case_report::without_run(case, Outcome::NotRun, &why),
        };
        let serves = |request: &PageRequest| request.method == "GET" && pages.serves(&request.url);
        let mut found = self.traffic.judge(|traces| judge_collector(monitor, traces, &serves, case.level));
        if self.traffic.is_empty() {
            found.not_run = Some("no case opened a page".into());
        }
        case_report::after_run(case, &found, began.elapsed(), None, &self.options.redactor)
    }
}

impl Runner for CollectorRunner {
    async fn check_sanity(&self, context: &RunnerContext) -> SanityResult {
        if let Err(why) = self.options.browser.start().await {
            return SanityResult::unusable_because(&why);
        }
        match self.target(context.request_timeout()).await {
            Ok(_) => SanityResult::Usable,
            Err(why) => SanityResult::Unusable(self.options.redactor.redact(&why).into_owned()),
        }
    }

    fn redactor(&self) -> &Redactor {
        &self.options.redactor
    }

    fn exchanges(&self) -> usize {
        self.traffic.count()
    }

    async fn run_case(&self, context: &RunnerContext, case: &Arc<Case>, jobs: &Semaphore) -> CaseReport {
        let limit = context.request_timeout();
        if let Procedure::CollectorMonitor(monitor) = case.procedure {
            context.begin(case);
            return self.run_monitor(case, monitor, limit).await;
        }
        let _job = jobs.acquire().await.expect("the semaphore is never closed");
        let target = match self.target(limit).await {
            Ok(target) => target,
            Err(why) => return case_report::without_run(case, Outcome::NotRun, &why),
        };
        context.begin(case);
        let began = Instant::now();
        let is_stuck = self.is_stuck.load(Ordering::Relaxed);
        let slowness = if is_stuck { 1 } else { self.slowness.load(Ordering::Relaxed).max(PATIENCE) };
        let limit = if is_stuck { limit.min(IMPATIENT) } else { limit * slowness.min(SLOWER) };
        let slower = slowness * if target.is_independent { 1 } else { SLOWER };
        let mut page = CollectorCaseContext::new(target, &case.id, next_marker(), case.level, limit);
        if let Procedure::CollectorSteps(steps) = &case.procedure {
            let limit = context.case_timeout(case) * slower;
            if timeout(limit, steps(&mut page)).await.is_err() {
                page.check(timeout_check(limit));
            }
        } else {
            page.found.not_run = Some("applies to another part, and this is a collector".into());
        }
        let took = began.elapsed();
        let mut found = page.finish().await;
        context.options.pins.check(&mut found);
        case_report::after_run(case, &found, took, None, &self.options.redactor)
    }
}

impl fmt::Debug for CollectorRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectorRunner").field("module", &self.options.module).finish_non_exhaustive()
    }
}
