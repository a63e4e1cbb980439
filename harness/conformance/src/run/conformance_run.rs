use std::future::pending;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::{CaseReport, Event, Report, ReportedSpec, ReportedTarget};

use super::any_runner::{AnyRunner, RunnerWithCases};
use super::confirm::confirm;
use super::edge::LeaseError;
use super::execute::execute;
use super::options::{RunOptions, RunPolicy};
use super::plan::{CasePlan, Selection, SelectionError};
use super::report::ReportBuilder;
use super::runner::{RunTarget, Runner};
use crate::cases::Case;
use crate::causes::{CauseSources, probable_causes};

/// A run that is ready to start: cases, target and options, all valid.
pub struct ConformanceRun {
    /// The cases.
    pub plan: CasePlan,
    /// The target of the cases.
    pub target: RunTarget,
    /// Runs the cases on the target.
    pub runner: PlannedRunner,
    /// How the cases are executed.
    pub options: RunOptions,
    /// What decides the exit code.
    pub policy: RunPolicy,
}

/// The runner of a plan, whatever part it tests.
pub struct PlannedRunner(Box<dyn AnyRunner>);

impl ConformanceRun {
    /// Plans a run with default options.
    pub fn new<R: Runner>(
        cases: Vec<Case<R::Part>>,
        selection: &Selection,
        runner: R,
    ) -> Result<Self, SelectionError> {
        let target = runner.target();
        let (plan, cases) = CasePlan::of(cases, selection, |case| runner.unmet(case))?;
        let runner = PlannedRunner(Box::new(RunnerWithCases { runner, cases }));
        Ok(Self { plan, target, runner, options: RunOptions::default(), policy: RunPolicy::default() })
    }

    /// Redacts all secrets of the run.
    pub fn redactor(&self) -> &Redactor {
        self.runner.0.redactor()
    }

    /// Executes the run without reporting its progress. Fails if a mock service cannot start.
    pub async fn execute(self) -> Result<Report, LeaseError> {
        self.execute_with(&mut |_| (), pending()).await
    }

    /// Executes the run and emits its events. `interrupted` ends it early and yields the exit code. Fails, before the
    /// first event, if a mock service cannot start.
    pub async fn execute_with(
        self,
        events: &mut (dyn FnMut(Event) + Send),
        interrupted: impl Future<Output = u8>,
    ) -> Result<Report, LeaseError> {
        let report = self.started_report();
        let Self { plan, target, runner: PlannedRunner(mut runner), options, policy } = self;
        runner.start().await?;
        let (runner, options): (Arc<dyn AnyRunner>, _) = (Arc::from(runner), Arc::new(options));
        let mut builder =
            ReportBuilder::new(&plan, Arc::clone(&target.spec), Arc::clone(&options), report.clone());
        let Report { spec, target: reported, seed, cases_of, .. } = report;
        events(Event::Planned { cases: plan.cases.len(), spec, target: reported, seed, cases_of });
        let rerun = options.rerun.clone().unwrap_or_default();
        let causes = |cases: &[CaseReport]| {
            let again = |id: &str| {
                let report = cases.iter().find(|report| report.id == id);
                report.map_or_else(|| rerun.of(id), |report| rerun.of_report(report, cases))
            };
            let (known, command) = (runner.fingerprints(), target.name.as_str());
            let explain = |row: &str| rerun.explain(row);
            let sources =
                CauseSources { spec: &target.spec, known, command, rerun: &again, explain: &explain };
            probable_causes(cases, &sources)
        };
        let played = async {
            execute(&plan, &runner, target.kind, &options, &policy, &mut builder, events).await;
            let reports = if options.confirms { builder.reports_with_failures() } else { None };
            if let Some(reports) = reports {
                confirm(&causes(&reports), &runner, target.kind, &options, &policy, &mut builder).await;
            }
        };
        let interrupted = tokio::select! {
            () = played => None,
            exit_code = interrupted => Some(exit_code),
        };
        let exchanges = u64::try_from(runner.exchanges()).unwrap_or(u64::MAX);
        let result = builder.finish(&policy, causes, exchanges, interrupted, events);
        runner.end(interrupted.is_some()).await;
        Ok(result)
    }

    fn started_report(&self) -> Report {
        let RunTarget { spec, kind, name } = &self.target;
        let spec = ReportedSpec { version: spec.version().to_string(), digest: spec.digest().to_owned() };
        let target = ReportedTarget::new(*kind, &self.redactor().redact(name));
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let report = Report::new(spec, target, self.options.seed, started);
        let (selected, all) = (self.plan.cases.len(), self.plan.all_ids.len());
        Report { cases_of: self.plan.cases_of, part_cases: (selected < all).then_some(all), ..report }
    }
}
