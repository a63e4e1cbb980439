use std::io::{self, Write};
use std::time::Instant;

use super::ending::{End, ink};
use super::live::{Live, progress};
use super::paint::{clip, paint};
use crate::detail::{Ink, Line, line};
use crate::escape::{one_line, visible};
use crate::{CaseReport, Event, Outcome, Reader, Summary, Titles};

/// How the terminal report looks. The caller finds out what it writes to, and whether `NO_COLOR` is set.
#[derive(Debug, Clone)]
pub struct TerminalOptions {
    /// Colours.
    pub color: bool,
    /// A line at the bottom that tells how far the run is; only for what understands `\r` and `ESC [ K`.
    pub live: bool,
    /// Only failures, what could not run, findings, notices and the result.
    pub quiet: bool,
    /// Observations and what does not apply as well; else they are counted.
    pub verbose: bool,
    /// Columns. Prose is wrapped to it; values, commands and exchanges are not, so that they can be copied.
    pub width: usize,
    /// Names of the sections.
    pub titles: Titles,
}

impl Default for TerminalOptions {
    /// Plain, 100 columns.
    fn default() -> Self {
        Self { color: false, live: false, quiet: false, verbose: false, width: 100, titles: Titles::new() }
    }
}

/// Prints a run for people: a line for what is not a pass as it happens, then failures in full, then the result.
///
/// Nothing that came from outside reaches the terminal as a control character. The first error of writing ends the
/// output, and [`Reader::finish`] returns it.
#[derive(Debug)]
pub struct Terminal<W: Write> {
    out: W,
    options: TerminalOptions,
    live: Live,
    planned: usize,
    summary: Summary,
    running: Vec<String>,
    cases: Vec<CaseReport>,
    findings: Vec<String>,
    reasons_told: Vec<String>,
    at_gap: bool,
    failed: Option<io::Error>,
}

impl<W: Write> Terminal<W> {
    /// A report to `out`.
    pub fn new(out: W, options: TerminalOptions) -> Self {
        Self {
            out,
            options,
            live: Live::default(),
            planned: 0,
            summary: Summary::default(),
            running: Vec::new(),
            cases: Vec::new(),
            findings: Vec::new(),
            reasons_told: Vec::new(),
            at_gap: true,
            failed: None,
        }
    }

    fn ended(&mut self, case: &CaseReport) {
        self.summary.count(case.outcome);
        if let Some(at) = self.running.iter().position(|id| *id == case.id) {
            self.running.remove(at);
        }
        let told = !self.options.quiet && self.deserves_a_line(case);
        if told {
            self.print(&clip(news(case), self.options.width));
        }
        let mut case = case.clone();
        if case.outcome != Outcome::Fail {
            case.exchanges.clear();
        }
        self.cases.push(case);
        self.draw(told);
    }

    /// Passes are counted. So is what is counted by design, and the second case that could not run for one reason.
    fn deserves_a_line(&mut self, case: &CaseReport) -> bool {
        match case.outcome {
            Outcome::Pass => false,
            Outcome::Fail | Outcome::Warn | Outcome::Known => true,
            Outcome::Observed | Outcome::NotApplicable => self.options.verbose,
            Outcome::NotRun => {
                let news = !self.reasons_told.contains(&case.because);
                if news {
                    self.reasons_told.push(case.because.clone());
                }
                news
            }
        }
    }

    /// A line above the live one. Never two empty lines in a row, nor one at the top.
    fn print(&mut self, line: &Line) {
        let empty = line.iter().all(|(_, text)| text.is_empty());
        if empty && self.at_gap {
            return;
        }
        self.at_gap = empty;
        let text = format!("{}{}\n", self.live.clear(), paint(line, self.options.color));
        self.put(&text);
    }

    /// The live line: now where it was just cleared, else if it is due.
    fn draw(&mut self, now: bool) {
        if !self.options.live || self.options.quiet || !(self.live.is_due(Instant::now()) || now) {
            return;
        }
        let line = progress(self.planned, &self.summary, self.running.first().map(String::as_str));
        let line = clip(line, self.options.width.saturating_sub(1));
        let text = self.live.draw(&paint(&line, self.options.color));
        self.put(&text);
        self.flush();
    }

    fn clear(&mut self) {
        let text = self.live.clear();
        if !text.is_empty() {
            self.put(text);
            self.flush();
        }
    }

    fn put(&mut self, text: &str) {
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
            Event::Planned { .. } => {
                if let Event::Planned { cases, .. } = event {
                    self.planned = *cases;
                }
                if !self.options.quiet {
                    for line in header(event) {
                        self.print(&line);
                    }
                }
                self.draw(true);
            }
            Event::Began { id } => {
                self.running.push(id.clone());
                self.draw(false);
            }
            Event::Ended(case) => self.ended(case),
            Event::Notice(text) => {
                visible(text).split('\n').for_each(|text| self.print(&line(Ink::Info, text)));
                self.flush();
                self.draw(true);
            }
            Event::Finding(text) => self.findings.push(text.clone()),
            Event::Finished { summary, observations, latency, duration_ms, exit_code } => {
                let end = End {
                    cases: &self.cases,
                    findings: &self.findings,
                    summary,
                    observations,
                    latency: latency.as_ref(),
                    duration_ms: *duration_ms,
                    exit_code: *exit_code,
                };
                end.lines(&self.options).iter().for_each(|line| self.print(line));
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
    /// Whatever ends the run: no half line stays in front of the prompt.
    fn drop(&mut self) {
        self.clear();
    }
}

fn header(event: &Event) -> Vec<Line> {
    let Event::Planned { cases, spec_version, spec_digest, kind, target, seed, .. } = event else {
        return Vec::new();
    };
    let digest: String = one_line(spec_digest).chars().take(12).collect();
    let target = if target.is_empty() { "reference edge".to_owned() } else { one_line(target).into_owned() };
    let noun = if *cases == 1 { "case" } else { "cases" };
    let facts =
        format!(" · {} · {} {digest} · {cases} {noun} · seed {seed}", kind.name(), one_line(spec_version));
    vec![vec![(Ink::Strong, format!("edgeproof {target}")), (Ink::Dim, facts)], Line::new()]
}

/// One line for a case that is not a pass.
fn news(case: &CaseReport) -> Line {
    vec![
        (ink(case.outcome), format!("{:<7}  ", case.outcome.words())),
        (Ink::Plain, one_line(&case.id).into_owned()),
        (Ink::Dim, format!("  {}", one_line(&case.because))),
    ]
}
