use std::io::{self, Write};
use std::time::Instant;

use super::ending::{Ending, style};
use super::options::TerminalOptions;
use super::progress::{Progress, ProgressLine};
use crate::model::{CaseReport, Event, Outcome, Reader};
use crate::text::escape::{one_line, visible};
use crate::text::styled::{StyledLine, TextStyle, clip, line, paint};

/// Prints a run for people: progress, then causes and result. With `details` also a line for each case that does not
/// pass, and all failures in full.
///
/// Text from outside never reaches the terminal as a control character. Output stops at the first write error,
/// and [`Reader::finish`] returns it.
#[derive(Debug)]
pub struct Terminal<W: Write> {
    out: W,
    options: TerminalOptions,
    progress: Progress,
    progress_line: ProgressLine,
    printed_reasons: Vec<String>,
    after_empty_line: bool,
    failed: Option<io::Error>,
}

impl<W: Write> Terminal<W> {
    /// A report to `out`.
    pub fn new(out: W, options: TerminalOptions) -> Self {
        Self {
            out,
            options,
            progress: Progress::default(),
            progress_line: ProgressLine::default(),
            printed_reasons: Vec::new(),
            after_empty_line: true,
            failed: None,
        }
    }

    fn ended(&mut self, case: &CaseReport) {
        self.progress.complete(&case.id, case.outcome);
        let print = !self.options.quiet && self.gets_a_line(case);
        if print {
            self.print(&clip(case_line(case), self.options.width));
        }
        self.draw(print);
    }

    /// Whether a case gets a line during the run. Cases that did not run for the same reason share one line.
    fn gets_a_line(&mut self, case: &CaseReport) -> bool {
        match case.outcome {
            Outcome::Pass => false,
            Outcome::Observed | Outcome::NotApplicable => self.options.verbose,
            _ if !self.options.details => false,
            Outcome::Fail | Outcome::Warn | Outcome::Known => true,
            Outcome::NotRun => {
                let first = !self.printed_reasons.contains(&case.because);
                if first {
                    self.printed_reasons.push(case.because.clone());
                }
                first
            }
        }
    }

    /// Prints a line above the progress line. Omits empty lines at the top and after an empty line.
    fn print(&mut self, line: &StyledLine) {
        let empty = line.iter().all(|(_, text)| text.is_empty());
        if empty && self.after_empty_line {
            return;
        }
        self.after_empty_line = empty;
        let text = format!("{}{}\n", self.progress_line.clear(), paint(line, self.options.color));
        self.write(&text);
    }

    /// Draws the progress line if it is due, or always with `now`.
    fn draw(&mut self, now: bool) {
        let time = Instant::now();
        if !self.options.live || self.options.quiet || !(self.progress_line.is_due(time) || now) {
            return;
        }
        let line = clip(self.progress.line(time), self.options.width.saturating_sub(1));
        let text = self.progress_line.draw(&paint(&line, self.options.color));
        self.write(&text);
        self.flush();
    }

    fn clear(&mut self) {
        let text = self.progress_line.clear();
        if !text.is_empty() {
            self.write(text);
            self.flush();
        }
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
    }
}

impl<W: Write> Reader for Terminal<W> {
    fn read(&mut self, event: &Event) {
        match event {
            Event::Planned { cases, spec, target, seed, cases_of } => {
                self.progress.planned = *cases;
                if !self.options.quiet {
                    let digest: String = one_line(&spec.digest).chars().take(12).collect();
                    let name = match target.address() {
                        "" => self.options.embedded.into(),
                        address => one_line(address),
                    };
                    let noun = if *cases == 1 { "case" } else { "cases" };
                    let (kind, version) = (target.kind.name(), one_line(&spec.version));
                    let of = cases_of.map_or(String::new(), |of| format!(" of edgeproof {of}"));
                    let facts = format!(" · {kind} · {version} {digest} · {cases} {noun}{of} · seed {seed}");
                    self.print(&vec![
                        (TextStyle::Strong, format!("edgeproof {name}")),
                        (TextStyle::Dim, facts),
                    ]);
                    self.print(&StyledLine::new());
                }
                self.draw(true);
            }
            Event::Began { id, title } => {
                self.progress.begin(id, title, Instant::now());
                self.draw(false);
            }
            Event::Completed { id, outcome } => {
                self.progress.complete(id, *outcome);
                self.draw(false);
            }
            Event::Tick => self.draw(false),
            Event::Ended(case) => self.ended(case),
            Event::Notice(text) => {
                visible(text).split('\n').for_each(|text| self.print(&line(TextStyle::Info, text)));
                self.flush();
                self.draw(true);
            }
            Event::Finished(report) => {
                Ending(report).lines(&self.options).iter().for_each(|line| self.print(line));
                self.flush();
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.clear();
        self.flush();
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl<W: Write> Drop for Terminal<W> {
    /// Removes the progress line, so that no partial line stays before the prompt.
    fn drop(&mut self) {
        self.clear();
    }
}

/// One line for a case that does not pass.
fn case_line(case: &CaseReport) -> StyledLine {
    vec![
        (style(case.outcome), format!("{:<7}  ", case.outcome.label())),
        (TextStyle::Plain, one_line(&case.id).into_owned()),
        (TextStyle::Dim, format!("  {}", one_line(&case.because))),
    ]
}
