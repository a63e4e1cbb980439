use super::case::CaseReport;
use super::event::{Event, Reader, RunEnd};
use super::report::{Report, ReportedSpec, SCHEMA, Tool};
use super::summary::Summary;
use super::target::ReportedTarget;

/// The events do not describe a complete run, so no report can be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a report: {0}")]
pub struct IncompleteRun(String);

/// Collects the events of a run into a [`Report`].
#[derive(Debug, Default)]
pub struct ReportRecorder {
    planned: Option<Event>,
    cases: Vec<CaseReport>,
    findings: Vec<String>,
    end: Option<RunEnd>,
}

impl ReportRecorder {
    /// The report of the run.
    ///
    /// Fails if the run was not planned or did not finish, or if the counts disagree with the cases.
    pub fn report(&self) -> Result<Report, IncompleteRun> {
        let incomplete = |why: String| Err(IncompleteRun(why));
        let Some(Event::Planned { cases: planned, spec_version, spec_digest, kind, target, seed, started }) =
            &self.planned
        else {
            return incomplete("the run has no plan".to_owned());
        };
        let Some(end) = &self.end else {
            return incomplete("the run did not finish".to_owned());
        };
        if *planned != self.cases.len() {
            return incomplete(format!("{planned} cases were planned, but {} ended", self.cases.len()));
        }
        if end.summary != Summary::of(self.cases.iter().map(|case| case.outcome)) {
            return incomplete(format!("the summary ({}) does not match the cases", end.summary.line()));
        }
        Ok(Report {
            schema: SCHEMA.to_owned(),
            tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned() },
            spec: ReportedSpec { version: spec_version.clone(), digest: spec_digest.clone() },
            target: ReportedTarget::new(*kind, target),
            started: started.clone(),
            duration_ms: end.duration_ms,
            seed: *seed,
            exit_code: end.exit_code,
            summary: end.summary,
            exchange_count: end.exchange_count,
            cases: self.cases.clone(),
            causes: end.causes.clone(),
            observations: end.observations.clone(),
            missing_inputs: end.missing_inputs.clone(),
            latency: end.latency,
            findings: self.findings.clone(),
        })
    }
}

impl Reader for ReportRecorder {
    fn read(&mut self, event: &Event) {
        match event {
            Event::Planned { .. } => self.planned = Some(event.clone()),
            Event::Ended(case) => self.cases.push(CaseReport::clone(case)),
            Event::Finding(finding) => self.findings.push(finding.clone()),
            Event::Finished(end) => self.end = Some(RunEnd::clone(end)),
            Event::Began { .. } | Event::Completed { .. } | Event::Tick | Event::Notice(_) => {}
        }
    }
}
