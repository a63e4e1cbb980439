//! What stands at the end of a run, as lines. Pure: the reader only prints them.

use std::fmt::Write as _;

use super::reader::TerminalOptions;
use crate::detail::{self, Ink, Line, line};
use crate::escape::one_line;
use crate::{AddedLatency, CaseReport, Observation, Outcome, Summary, figures, sections};

/// Ids that are named where many cases share a reason.
const IDS_SHOWN: usize = 12;

/// How the run ended, as the last event tells it.
pub(super) struct End<'a> {
    pub(super) cases: &'a [CaseReport],
    pub(super) findings: &'a [String],
    pub(super) summary: &'a Summary,
    pub(super) observations: &'a [Observation],
    pub(super) latency: Option<&'a AddedLatency>,
    pub(super) duration_ms: u64,
    pub(super) exit_code: u8,
}

impl End<'_> {
    /// Everything below the last line of progress.
    pub(super) fn lines(&self, options: &TerminalOptions) -> Vec<Line> {
        let mut lines = Vec::new();
        self.cases_in_full(Outcome::Fail, "Failures", Ink::Bad, options, &mut lines);
        if !options.quiet {
            self.cases_in_full(Outcome::Warn, "Warnings", Ink::Odd, options, &mut lines);
            self.known(options, &mut lines);
        }
        self.reasons(Outcome::NotRun, "Not run: nothing is proven by these", options, &mut lines);
        self.findings(options, &mut lines);
        if options.verbose {
            self.reasons(Outcome::NotApplicable, "Not applicable", options, &mut lines);
            self.observations(options, &mut lines);
        }
        if !options.quiet {
            self.table(options, &mut lines);
        }
        self.totals(options, &mut lines);
        lines
    }

    fn ended(&self, outcome: Outcome) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(move |case| case.outcome == outcome)
    }

    fn cases_in_full(
        &self,
        outcome: Outcome,
        heading: &str,
        ink: Ink,
        options: &TerminalOptions,
        lines: &mut Vec<Line>,
    ) {
        let width = options.width.saturating_sub(6).max(40);
        for (n, case) in self.ended(outcome).enumerate() {
            if n == 0 {
                head(heading, lines);
            }
            let name = one_line(&case.id).into_owned();
            lines.push(Line::new());
            lines.push(vec![(ink, format!("{:<6}", outcome.name())), (Ink::Strong, name)]);
            let body = match outcome {
                Outcome::Fail => detail::full(case, &options.titles, width),
                _ => detail::short(case, &options.titles, width),
            };
            lines.extend(body.into_iter().map(|line| indent(6, line)));
        }
    }

    fn known(&self, options: &TerminalOptions, lines: &mut Vec<Line>) {
        for (n, case) in self.ended(Outcome::Known).enumerate() {
            if n == 0 {
                head("Known", lines);
            }
            lines.push(indent(2, line(Ink::Info, one_line(&case.id))));
            lines.extend(prose(&case.because, 6, options));
        }
    }

    fn reasons(&self, outcome: Outcome, heading: &str, options: &TerminalOptions, lines: &mut Vec<Line>) {
        for (n, (reason, cases)) in sections::by_reason(self.ended(outcome)).into_iter().enumerate() {
            if n == 0 {
                head(heading, lines);
            }
            lines.extend(prose(&format!("{} × {reason}", cases.len()), 2, options));
            let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
            let more = if options.verbose { 0 } else { ids.len().saturating_sub(IDS_SHOWN) };
            ids.truncate(ids.len() - more);
            let mut ids = ids.join(" ");
            if more > 0 {
                let _ = write!(ids, " … and {more} more");
            }
            let ids = detail::wrap(&ids, options.width.saturating_sub(6).max(40));
            lines.extend(ids.into_iter().map(|text| indent(6, line(Ink::Dim, text))));
        }
    }

    fn findings(&self, options: &TerminalOptions, lines: &mut Vec<Line>) {
        if !self.findings.is_empty() {
            head("Findings", lines);
            for finding in self.findings {
                for (n, text) in finding.lines().enumerate() {
                    lines.extend(prose(text, if n == 0 { 2 } else { 6 }, options));
                }
            }
        }
    }

    fn observations(&self, options: &TerminalOptions, lines: &mut Vec<Line>) {
        if self.observations.is_empty() {
            return;
        }
        head("Observed at open points", lines);
        let widest =
            self.observations.iter().map(|seen| one_line(&seen.point).chars().count()).max().unwrap_or(0);
        let column = widest.min(options.width / 2);
        for seen in self.observations {
            let point = format!("  {:<column$}  ", one_line(&seen.point));
            lines.push(vec![(Ink::Dim, point), (Ink::Plain, one_line(&seen.saw).into_owned())]);
        }
    }

    fn table(&self, options: &TerminalOptions, lines: &mut Vec<Line>) {
        let sections = sections::by_section(self.cases);
        if sections.is_empty() {
            return;
        }
        let shown: Vec<Outcome> = Outcome::ALL
            .into_iter()
            .filter(|outcome| *outcome == Outcome::Pass || self.summary.get(*outcome) > 0)
            .collect();
        let columns: usize = 9 + shown.iter().map(|outcome| outcome.words().len() + 2).sum::<usize>();
        let name = |number: &str| one_line(&sections::titled(number, &options.titles)).into_owned();
        let widest = sections.iter().map(|section| name(section.number).chars().count()).max().unwrap_or(0);
        let first = widest.max("section".len()).min(options.width.saturating_sub(columns + 2).max(12));

        lines.push(Line::new());
        let mut heads = format!("  {:<first$}  planned", "section");
        for outcome in &shown {
            let _ = write!(heads, "  {}", outcome.words());
        }
        lines.push(line(Ink::Dim, heads));
        for section in sections {
            let counts = section.summary();
            let name: String = name(section.number).chars().take(first).collect();
            let mut row = line(Ink::Plain, format!("  {name:<first$}  {:>7}", counts.planned));
            for outcome in &shown {
                let width = outcome.words().len() + 2;
                row.push(match counts.get(*outcome) {
                    0 => (Ink::Dim, format!("{:>width$}", "·")),
                    count => (ink(*outcome), format!("{count:>width$}")),
                });
            }
            lines.push(row);
        }
    }

    fn totals(&self, options: &TerminalOptions, lines: &mut Vec<Line>) {
        lines.push(Line::new());
        let mut total = vec![(Ink::Strong, format!("{} planned", self.summary.planned))];
        for outcome in Outcome::ALL {
            let count = self.summary.get(outcome);
            if count > 0 || outcome == Outcome::Pass {
                total.push((Ink::Dim, " · ".to_owned()));
                total.push((ink(outcome), format!("{count} {}", outcome.words())));
            }
        }
        lines.push(total);
        let took = figures::took(self.duration_ms);
        let mut facts = format!("took {took}");
        if let Some(latency) = self.latency {
            let _ = write!(facts, " · the edge adds {}", figures::latency(latency));
        }
        if !options.quiet {
            lines.push(line(Ink::Dim, facts));
        }
        let ink = match self.exit_code {
            0 => Ink::Good,
            1 => Ink::Bad,
            _ => Ink::Odd,
        };
        let verdict = figures::verdict(self.exit_code, self.summary, self.findings.len());
        lines.push(vec![(ink, verdict), (Ink::Dim, format!(" (exit {})", self.exit_code))]);
    }
}

/// The colour of an outcome.
pub(super) fn ink(outcome: Outcome) -> Ink {
    match outcome {
        Outcome::Pass => Ink::Good,
        Outcome::Fail => Ink::Bad,
        Outcome::Warn | Outcome::NotRun => Ink::Odd,
        Outcome::Known | Outcome::Observed => Ink::Info,
        Outcome::NotApplicable => Ink::Dim,
    }
}

/// Prose in lines that fit, indented; what follows the first line, by four more.
fn prose(text: &str, by: usize, options: &TerminalOptions) -> Vec<Line> {
    let wrapped = detail::wrap(text, options.width.saturating_sub(by + 4).max(40)).into_iter().enumerate();
    wrapped.map(|(n, text)| indent(if n == 0 { by } else { by + 4 }, line(Ink::Plain, text))).collect()
}

fn head(text: &str, lines: &mut Vec<Line>) {
    lines.push(Line::new());
    lines.push(line(Ink::Strong, text));
}

fn indent(by: usize, mut line: Line) -> Line {
    line.insert(0, (Ink::Plain, " ".repeat(by)));
    line
}
