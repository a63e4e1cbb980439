//! Workflow commands of GitHub Actions: an annotation for each cause of failures or warnings, for each finding, and one
//! for all cases that could not run.

use std::io::{self, Write};

use crate::model::{CauseGroup, Event, Outcome, Reader, Report, Summary, cause_groups};
use crate::text::cause::{self, CauseDepth};
use crate::text::escape::{one_line, visible};
use crate::text::styled::paint_all;
use crate::text::units::counted;

/// Columns of the values in a message.
const WIDTH: usize = 160;

/// Writes `::error …` and `::warning …` lines at the end of the run. GitHub shows few of them, so the causes come first.
#[derive(Debug)]
pub struct Github<W: Write> {
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> Github<W> {
    /// Annotations to `out`. Use the standard output: the runner reads nothing else.
    pub fn new(out: W) -> Self {
        Self { out, failed: None }
    }

    fn end(&mut self, report: &Report) {
        let groups = cause_groups(&report.causes, &report.cases);
        let mut commands: Vec<String> =
            groups.iter().map(|group| annotation(group, &report.summary)).collect();
        commands.extend(report.findings.iter().map(|finding| command("error", "finding", finding)));
        if let Some(case) = report.cases.iter().find(|case| case.outcome == Outcome::NotRun) {
            let title = format!("{} not run", report.summary.not_run);
            let message = format!("cases that did not run prove nothing; first reason: {}", case.because);
            commands.push(command("error", &title, &message));
        }
        for command in commands {
            if self.failed.is_none() {
                self.failed = writeln!(self.out, "{command}").err();
            }
        }
    }
}

impl<W: Write> Reader for Github<W> {
    fn read(&mut self, event: &Event) {
        if let Event::Finished(report) = event {
            self.end(report);
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.out.flush(), Err)
    }
}

/// The command for a cause. Its message holds an example, the fix and the command that runs the example again.
fn annotation(group: &CauseGroup<'_>, summary: &Summary) -> String {
    let kind = if group.outcome == Outcome::Fail { "error" } else { "warning" };
    let mut message = format!("{}, row {}", counted(group.cases.len(), "case"), group.cause.row);
    if !group.cause.explanation.is_empty() {
        put!(message, "\n{}", group.cause.explanation);
    }
    let lines = cause::lines(group, summary, CauseDepth::Share, WIDTH);
    put!(message, "\n{}", paint_all(&lines, false).trim_end());
    command(kind, &one_line(&group.cause.title), &message)
}

fn command(kind: &str, title: &str, message: &str) -> String {
    let data = |text: &str| visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={property}::{}", data(message))
}
