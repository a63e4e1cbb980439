//! Workflow commands of GitHub Actions: an annotation for each fail, warn and finding, and one for all cases
//! that could not run.

use std::io::{self, Write};

use crate::model::{CaseReport, Event, Outcome, Reader, Titles};
use crate::text::case::{condition, facts, or_nothing};
use crate::text::escape::visible;

/// Writes `::error …` and `::warning …` lines during the run.
#[derive(Debug)]
pub struct Github<W: Write> {
    out: W,
    not_run: Option<String>,
    failed: Option<io::Error>,
}

impl<W: Write> Github<W> {
    /// Annotations to `out`. Use the standard output: the runner reads nothing else.
    pub fn new(out: W) -> Self {
        Self { out, not_run: None, failed: None }
    }

    fn write(&mut self, command: &str) {
        if self.failed.is_none() {
            self.failed = writeln!(self.out, "{command}").err();
        }
    }
}

impl<W: Write> Reader for Github<W> {
    fn read(&mut self, event: &Event) {
        match event {
            Event::Ended(case) => {
                if let Some(command) = annotation(case) {
                    self.write(&command);
                }
                if case.outcome == Outcome::NotRun && self.not_run.is_none() {
                    self.not_run = Some(case.because.clone());
                }
            }
            Event::Finding(finding) => self.write(&command("error", "finding", finding)),
            Event::Finished(end) => {
                if let Some(reason) = self.not_run.take() {
                    let title = format!("{} not run", end.summary.not_run);
                    let message = format!("cases that did not run prove nothing; first reason: {reason}");
                    self.write(&command("error", &title, &message));
                }
            }
            Event::Planned { .. } | Event::Began { .. } | Event::Notice(_) => {}
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.out.flush(), Err)
    }
}

/// The command for a `fail` or `warn`.
fn annotation(case: &CaseReport) -> Option<String> {
    let kind = match case.outcome {
        Outcome::Fail => "error",
        Outcome::Warn => "warning",
        _ => return None,
    };
    let mut message = case.because.clone();
    for mismatch in &case.mismatches {
        put!(
            message,
            "\n{}: expected {}, actual {}",
            mismatch.what,
            or_nothing(&mismatch.expected),
            or_nothing(&mismatch.actual)
        );
    }
    put!(message, "\n{}", facts(case, &Titles::new()));
    if !case.reproduce.is_empty() {
        if let Some(condition) = condition(case) {
            put!(message, "\nreproduce, {condition}:");
        }
        put!(message, "\n{}", case.reproduce);
    }
    Some(command(kind, &case.id, &message))
}

fn command(kind: &str, title: &str, message: &str) -> String {
    let data = |text: &str| visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={property}::{}", data(message))
}
