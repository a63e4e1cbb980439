use crate::json::{Report, SCHEMA, Spec, Target, Tool};
use crate::{CaseReport, Event, Reader, ReportError, Summary};

/// Gathers the events of a run into a [`Report`].
#[derive(Debug, Default)]
pub struct Recorder {
    planned: Option<Event>,
    cases: Vec<CaseReport>,
    findings: Vec<String>,
    finished: Option<Event>,
}

impl Recorder {
    /// The report of the run.
    ///
    /// A run that was not planned or did not finish, or one whose counts disagree with its cases, has none:
    /// `planned` equals the number of cases, always.
    pub fn report(&self) -> Result<Report, ReportError> {
        let incomplete = |why: String| ReportError::Incomplete(why);
        let Some(Event::Planned { cases: planned, spec_version, spec_digest, kind, target, seed, started }) =
            &self.planned
        else {
            return Err(incomplete("the run was never planned".to_owned()));
        };
        let Some(Event::Finished { summary, observations, latency, duration_ms, exit_code }) = &self.finished
        else {
            return Err(incomplete("the run did not finish".to_owned()));
        };
        if *planned != self.cases.len() {
            return Err(incomplete(format!("{planned} cases were planned, and {} ended", self.cases.len())));
        }
        if *summary != Summary::of(self.cases.iter().map(|case| case.outcome)) {
            return Err(incomplete(format!("the counts ({}) are not those of the cases", summary.line())));
        }
        Ok(Report {
            schema: SCHEMA.to_owned(),
            tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned() },
            spec: Spec { version: spec_version.clone(), digest: spec_digest.clone() },
            target: Target::new(*kind, target),
            started: started.clone(),
            duration_ms: *duration_ms,
            seed: *seed,
            exit_code: *exit_code,
            summary: *summary,
            cases: self.cases.clone(),
            observations: observations.clone(),
            latency: *latency,
            findings: self.findings.clone(),
        })
    }
}

impl Reader for Recorder {
    fn read(&mut self, event: &Event) {
        match event {
            Event::Planned { .. } => self.planned = Some(event.clone()),
            Event::Ended(case) => self.cases.push(CaseReport::clone(case)),
            Event::Finding(finding) => self.findings.push(finding.clone()),
            Event::Finished { .. } => self.finished = Some(event.clone()),
            Event::Began { .. } | Event::Notice(_) => {}
        }
    }
}
