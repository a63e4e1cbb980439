use std::future::pending;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::{CaseReport, Event, TargetKind};
use edgeproof_targets::Target;

use super::case_plan::CasePlan;
use super::collector::CollectorRunner;
use super::edge::{EdgePool, EdgePoolOptions, LeaseError};
use super::execute::execute;
use super::options::{RunOptions, RunPolicy};
use super::report_collector::{ConformanceResult, ReportCollector};
use super::runner::Runner;
use super::selection::{Selection, SelectionError};
use super::service::ServiceRunner;
use crate::cases::Case;
use crate::causes::{CauseSources, Fingerprints, probable_causes};

/// A run that is ready to start: cases, target and options, all valid.
pub struct ConformanceRun {
    /// The cases.
    pub plan: CasePlan,
    /// The target of the cases.
    pub target: RunTarget,
    /// How the cases are executed.
    pub options: RunOptions,
    /// What decides the exit code.
    pub policy: RunPolicy,
}

/// The target of a run.
pub enum RunTarget {
    /// Edges, with mock services behind them.
    Edges(Box<EdgePoolOptions>),
    /// A service or a key set.
    Service(Box<ServiceRunner>),
    /// A collector in a browser.
    Collector(Box<CollectorRunner>),
}

impl ConformanceRun {
    /// Plans a run of edge cases with default options.
    pub fn of_edges(
        cases: Vec<Case>,
        selection: &Selection,
        edges: EdgePoolOptions,
    ) -> Result<Self, SelectionError> {
        let plan = CasePlan::new(cases, selection, &edges.capabilities())?;
        Ok(Self::new(plan, RunTarget::Edges(Box::new(edges))))
    }

    /// Plans a run of service or key set cases with default options.
    pub fn of_service(
        cases: Vec<Case>,
        selection: &Selection,
        service: ServiceRunner,
    ) -> Result<Self, SelectionError> {
        let plan = CasePlan::new(cases, selection, service.options())?;
        Ok(Self::new(plan, RunTarget::Service(Box::new(service))))
    }

    /// Plans a run of collector cases with default options.
    pub fn of_collector(
        cases: Vec<Case>,
        selection: &Selection,
        collector: CollectorRunner,
    ) -> Result<Self, SelectionError> {
        let plan = CasePlan::new(cases, selection, collector.options())?;
        Ok(Self::new(plan, RunTarget::Collector(Box::new(collector))))
    }

    fn new(plan: CasePlan, target: RunTarget) -> Self {
        Self { plan, target, options: RunOptions::default(), policy: RunPolicy::default() }
    }

    /// Executes the run without reporting its progress. Fails if a mock service cannot start.
    pub async fn execute(self) -> Result<ConformanceResult, LeaseError> {
        self.execute_with(&mut |_| (), pending()).await
    }

    /// Executes the run and emits its events. `interrupted` ends it early and yields the exit code. Fails, before the
    /// first event, if a mock service cannot start.
    pub async fn execute_with(
        self,
        events: &mut (dyn FnMut(Event) + Send),
        interrupted: impl Future<Output = u8>,
    ) -> Result<ConformanceResult, LeaseError> {
        let Self { plan, target, options, policy } = self;
        let planned = target.planned_event(&plan, &options);
        let spec = Arc::clone(target.spec());
        let command = target.name();
        let known = target.fingerprints();
        let run = Execution { spec, command, known, plan, options: Arc::new(options), policy, interrupted };
        match target {
            RunTarget::Edges(edges) => {
                // An embedded edge holds nothing that is worth waiting for: dropping it is enough.
                let stops = !matches!(edges.target, Target::Embedded(_));
                let pool = Arc::new(EdgePool::new(*edges).await?);
                let (result, ended) = run.execute(&pool, planned, events).await;
                if !ended {
                    pool.end().await;
                } else if stops {
                    pool.stop().await;
                }
                Ok(result)
            }
            RunTarget::Service(service) => {
                let (result, _) = run.execute(&Arc::new(*service), planned, events).await;
                Ok(result)
            }
            RunTarget::Collector(collector) => {
                let runner = Arc::new(*collector);
                let (result, _) = run.execute(&runner, planned, events).await;
                runner.end().await;
                Ok(result)
            }
        }
    }
}

impl RunTarget {
    /// The interface that the target is compared with.
    pub fn spec(&self) -> &Arc<Spec> {
        match self {
            Self::Edges(edges) => &edges.spec,
            Self::Service(service) => &service.options().spec,
            Self::Collector(collector) => &collector.options().edges.spec,
        }
    }

    /// Redacts all secrets of the run.
    pub fn redactor(&self) -> &Arc<Redactor> {
        match self {
            Self::Edges(edges) => &edges.redactor,
            Self::Service(service) => &service.options().redactor,
            Self::Collector(collector) => &collector.options().redactor,
        }
    }

    /// Kind of the target in reports.
    pub fn kind(&self) -> TargetKind {
        match self {
            Self::Edges(edges) => edges.target.kind(),
            Self::Service(service) => service.options().kind(),
            Self::Collector(collector) => collector.options().kind(),
        }
    }

    /// Name of the target in reports: a command, a URL, or what edgeproof provides itself.
    pub fn name(&self) -> String {
        match self {
            Self::Edges(edges) => edges.target.name().to_owned(),
            Self::Service(service) => service.options().name(),
            Self::Collector(collector) => collector.options().module.name(),
        }
    }

    fn fingerprints(&self) -> &'static Fingerprints {
        match self {
            Self::Edges(_) | Self::Service(_) => Fingerprints::builtin(),
            Self::Collector(_) => Fingerprints::of_collectors(),
        }
    }

    fn planned_event(&self, plan: &CasePlan, options: &RunOptions) -> Event {
        let spec = self.spec();
        Event::Planned {
            cases: plan.cases.len(),
            spec_version: spec.version().to_string(),
            spec_digest: spec.digest().to_owned(),
            kind: self.kind(),
            target: self.redactor().redact(&self.name()).into_owned(),
            seed: options.seed,
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        }
    }
}

/// The parts of a run that do not depend on its target.
struct Execution<I> {
    spec: Arc<Spec>,
    /// Name of the target: a command, if it is launched.
    command: String,
    /// Fingerprints of the causes that the target can have.
    known: &'static Fingerprints,
    plan: CasePlan,
    options: Arc<RunOptions>,
    policy: RunPolicy,
    interrupted: I,
}

impl<I: Future<Output = u8>> Execution<I> {
    /// Yields the result, and whether the run ended without interruption.
    async fn execute<R: Runner>(
        self,
        runner: &Arc<R>,
        planned: Event,
        events: &mut (dyn FnMut(Event) + Send),
    ) -> (ConformanceResult, bool) {
        let mut collector = ReportCollector::new(&self.plan, Arc::clone(&self.spec));
        events(planned);
        let interrupted = tokio::select! {
            () = execute(&self.plan, runner, &self.options, &self.policy, &mut collector, events) => None,
            exit_code = self.interrupted => Some(exit_code),
        };
        let exchanges = u64::try_from(runner.exchanges()).unwrap_or(u64::MAX);
        let rerun = self.options.rerun.clone().unwrap_or_default();
        let causes = |cases: &[CaseReport]| {
            let again = |id: &str| {
                let report = cases.iter().find(|report| report.id == id);
                report.map_or_else(|| rerun.of(id), |report| rerun.of_report(report, cases))
            };
            let (spec, known, command) = (&*self.spec, self.known, self.command.as_str());
            probable_causes(cases, &CauseSources { spec, known, command, rerun: &again })
        };
        (collector.finish(&self.policy, causes, exchanges, interrupted, events), interrupted.is_none())
    }
}
