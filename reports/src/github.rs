//! Workflow commands of GitHub Actions: an annotation for each fail and each warn, and one for all
//! that could not run.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::escape::visible;
use crate::{CaseReport, Event, Outcome, Reader, detail};

/// Writes `::error …` and `::warning …` lines while the run goes on.
#[derive(Debug)]
pub struct Github<W: Write> {
    out: W,
    not_run: Option<String>,
    failed: Option<io::Error>,
}

impl<W: Write> Github<W> {
    /// Annotations go to `out`, which should be the standard output: the runner reads no other.
    pub fn new(out: W) -> Self {
        Self { out, not_run: None, failed: None }
    }

    fn put(&mut self, command: &str) {
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
                    self.put(&command);
                }
                if case.outcome == Outcome::NotRun && self.not_run.is_none() {
                    self.not_run = Some(case.because.clone());
                }
            }
            Event::Finding(finding) => self.put(&command("error", "finding", finding)),
            Event::Finished { summary, .. } => {
                if let Some(reason) = self.not_run.take() {
                    let count = summary.not_run;
                    let message =
                        format!("nothing is proven by what could not run; the first reason: {reason}");
                    self.put(&command("error", &format!("{count} not run"), &message));
                }
            }
            Event::Planned { .. } | Event::Began { .. } | Event::Notice(_) => {}
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.out.flush(), Err)
    }
}

/// The workflow command for a case, where it deserves one.
pub fn annotation(case: &CaseReport) -> Option<String> {
    let kind = match case.outcome {
        Outcome::Fail => "error",
        Outcome::Warn => "warning",
        _ => return None,
    };
    let mut message = case.because.clone();
    for mismatch in &case.mismatches {
        let _ = write!(
            message,
            "\n{}: expected {}, actual {}",
            mismatch.what,
            or_nothing(&mismatch.expected),
            or_nothing(&mismatch.actual)
        );
    }
    let _ = write!(message, "\nsection {} · {}", case.section, detail::authority(case));
    if !case.reproduce.is_empty() {
        let _ = write!(message, "\n{}", case.reproduce);
    }
    Some(command(kind, &case.id, &message))
}

fn command(kind: &str, title: &str, message: &str) -> String {
    let data = |text: &str| visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={property}::{}", data(message))
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "(nothing)" } else { text }
}
