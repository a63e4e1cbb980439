//! Lines at the end of a run.

use super::causes;
use super::options::{EarlierRun, TerminalOptions};
use crate::comparison::{CaseChange, RunComparison};
use crate::model::{CaseReport, Cause, Outcome, Report, by_reason, by_section, cause_groups, titled};
use crate::text::case::{full, short};
use crate::text::escape::one_line;
use crate::text::open_points;
use crate::text::styled::{StyledLine, TextStyle, line, wrap};
use crate::text::units;
use crate::text::verdict::verdict;

/// Most case ids shown for one reason.
const IDS_SHOWN: usize = 12;
/// Most lines of a failing run without `--details` and `--verbose`.
const LINES: usize = 60;
/// Most lines of a list before the causes.
const LIST_LINES: usize = 6;
/// Lines of the head of the output.
const HEAD_LINES: usize = 2;

/// The end of a run with this report.
pub(super) struct Ending<'a>(pub(super) &'a Report);

impl Ending<'_> {
    /// All lines below the progress line. The result comes last, after the causes.
    pub(super) fn lines(&self, options: &TerminalOptions) -> Vec<StyledLine> {
        let mut groups = cause_groups(&self.0.causes, &self.0.cases);
        // The details show every case already.
        groups.retain(|group| group.is_named() || !options.details);
        let in_full = options.details || groups.is_empty();
        let mut lines = if options.details { self.all_details(options) } else { Vec::new() };
        for mut list in self.lists(options) {
            let more = list.len().saturating_sub(LIST_LINES - 1);
            if !in_full && !options.verbose && more > 1 {
                list.truncate(LIST_LINES - 1);
                list.push(line(TextStyle::Dim, format!("  … and {more} more lines with --details")));
            }
            lines.extend(list);
        }
        let table = if options.quiet { Vec::new() } else { self.sections(options) };
        let totals = self.totals(options);
        let advice = if in_full || options.quiet { Vec::new() } else { advice(&self.0.causes, options) };
        let taken = HEAD_LINES + lines.len() + advice.len() + totals.len();
        let budget =
            if options.details || options.verbose { usize::MAX } else { LINES.saturating_sub(taken) };
        let causes = causes::lines(&groups, &self.0.summary, options, budget);
        if in_full || table.len() + causes.len() <= budget {
            lines.extend(table);
        }
        [lines, causes, advice, totals].concat()
    }

    fn all_details(&self, options: &TerminalOptions) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        self.details(Outcome::Fail, "Failures", options, &mut lines);
        if !options.quiet {
            self.details(Outcome::Warn, "Warnings", options, &mut lines);
        }
        lines
    }

    /// Lists with their headings.
    fn lists(&self, options: &TerminalOptions) -> [Vec<StyledLine>; 5] {
        let mut lists = <[Vec<StyledLine>; 5]>::default();
        if !options.quiet {
            self.known(options, &mut lists[0]);
        }
        self.reasons(Outcome::NotRun, "Not run (these cases prove nothing)", options, &mut lists[1]);
        self.findings(options, &mut lists[2]);
        self.reasons(Outcome::NotApplicable, "Not applicable", options, &mut lists[3]);
        if options.verbose {
            self.observations(options, &mut lists[4]);
        }
        lists
    }

    fn ended(&self, outcome: Outcome) -> impl Iterator<Item = &CaseReport> {
        self.0.cases.iter().filter(move |case| case.outcome == outcome)
    }

    fn details(&self, outcome: Outcome, title: &str, options: &TerminalOptions, lines: &mut Vec<StyledLine>) {
        let width = fitting(options.width, 6);
        for (n, case) in self.ended(outcome).enumerate() {
            if n == 0 {
                heading(title, lines);
            }
            lines.push(StyledLine::new());
            lines.push(vec![
                (style(outcome), format!("{:<6}", outcome.name())),
                (TextStyle::Strong, one_line(&case.id).into_owned()),
            ]);
            let body = match outcome {
                Outcome::Fail => full(case, &options.titles, width),
                _ => short(case, &options.titles, width),
            };
            lines.extend(body.into_iter().map(|line| indent(6, line)));
        }
    }

    fn known(&self, options: &TerminalOptions, lines: &mut Vec<StyledLine>) {
        for (n, case) in self.ended(Outcome::Known).enumerate() {
            if n == 0 {
                heading("Known", lines);
            }
            lines.push(indent(2, line(TextStyle::Info, one_line(&case.id))));
            lines.extend(prose(&case.because, 6, options));
        }
    }

    fn reasons(&self, outcome: Outcome, title: &str, options: &TerminalOptions, lines: &mut Vec<StyledLine>) {
        for (n, (reason, cases)) in by_reason(self.ended(outcome)).into_iter().enumerate() {
            if n == 0 {
                heading(title, lines);
            }
            lines.extend(prose(&format!("{} × {reason}", cases.len()), 2, options));
            if outcome == Outcome::NotApplicable && !options.verbose {
                continue;
            }
            let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
            let more = if options.verbose { 0 } else { ids.len().saturating_sub(IDS_SHOWN) };
            ids.truncate(ids.len() - more);
            let mut ids = ids.join(" ");
            if more > 0 {
                put!(ids, " … and {more} more");
            }
            let ids = wrap(&ids, fitting(options.width, 6));
            lines.extend(ids.into_iter().map(|text| indent(6, line(TextStyle::Dim, text))));
        }
    }

    fn findings(&self, options: &TerminalOptions, lines: &mut Vec<StyledLine>) {
        if !self.0.findings.is_empty() {
            heading("Findings", lines);
            for finding in &self.0.findings {
                for (n, text) in finding.lines().enumerate() {
                    lines.extend(prose(text, if n == 0 { 2 } else { 6 }, options));
                }
            }
        }
    }

    fn observations(&self, options: &TerminalOptions, lines: &mut Vec<StyledLine>) {
        if self.0.observations.is_empty() {
            return;
        }
        heading("Observed at open points", lines);
        let widths = self.0.observations.iter().map(|observed| one_line(&observed.point).chars().count());
        let column = widths.max().unwrap_or(0).min(options.width / 2);
        for observed in &self.0.observations {
            let point = format!("  {:<column$}  ", one_line(&observed.point));
            lines.push(vec![
                (TextStyle::Dim, point),
                (TextStyle::Plain, one_line(&observed.observed).into_owned()),
            ]);
        }
    }

    fn sections(&self, options: &TerminalOptions) -> Vec<StyledLine> {
        let sections = by_section(&self.0.cases);
        if sections.is_empty() {
            return Vec::new();
        }
        let outcomes: Vec<Outcome> = self.0.summary.shown().map(|(outcome, _)| outcome).collect();
        let columns: usize = 9 + outcomes.iter().map(|outcome| outcome.label().len() + 2).sum::<usize>();
        let name = |number: &str| one_line(&titled(number, &options.titles)).into_owned();
        let widest = sections.iter().map(|section| name(section.number).chars().count()).max().unwrap_or(0);
        let first = widest.max("section".len()).min(options.width.saturating_sub(columns + 2).max(12));

        let mut heads = format!("  {:<first$}  planned", "section");
        for outcome in &outcomes {
            put!(heads, "  {}", outcome.label());
        }
        let mut lines = vec![StyledLine::new(), line(TextStyle::Dim, heads)];
        for section in sections {
            let counts = section.summary();
            let name: String = name(section.number).chars().take(first).collect();
            let mut row = line(TextStyle::Plain, format!("  {name:<first$}  {:>7}", counts.planned));
            for outcome in &outcomes {
                let width = outcome.label().len() + 2;
                row.push(match counts.get(*outcome) {
                    0 => (TextStyle::Dim, format!("{:>width$}", "·")),
                    count => (style(*outcome), format!("{count:>width$}")),
                });
            }
            lines.push(row);
        }
        lines
    }

    /// The difference to an earlier run, of which this one may play a part. Empty: the runs cannot be compared.
    fn compared(&self, EarlierRun { name, report }: &EarlierRun) -> Vec<StyledLine> {
        let Ok(compared) = RunComparison::new((name, report), ("this run", self.0), &|_| None) else {
            return Vec::new();
        };
        let is_absent =
            |change: &CaseChange| matches!(change, CaseChange::LostResult | CaseChange::RemovedCheck);
        let changes: Vec<CaseChange> =
            CaseChange::ALL.iter().copied().filter(|change| !is_absent(change)).collect();
        let counts = format!("against {}: {}", one_line(name), compared.counts(&changes));
        let tables = compared.other_tables().map(|text| one_line(&text).into_owned());
        [counts].into_iter().chain(tables).map(|text| line(TextStyle::Plain, text)).collect()
    }

    fn totals(&self, options: &TerminalOptions) -> Vec<StyledLine> {
        let mut total = vec![(TextStyle::Strong, format!("{} planned", self.0.summary.planned))];
        for (outcome, count) in self.0.summary.shown() {
            total.push((TextStyle::Dim, " · ".to_owned()));
            total.push((style(outcome), format!("{count} {}", outcome.label())));
        }
        let mut lines = vec![StyledLine::new(), total];
        lines.extend(options.earlier.iter().flat_map(|earlier| self.compared(earlier)));
        if !options.quiet {
            let mut facts = format!(
                "{} exchanges in {}",
                units::count(self.0.exchange_count),
                units::duration(self.0.duration_ms)
            );
            if let Some(latency) = self.0.latency {
                put!(facts, " · edge-added latency {}", units::latency(&latency));
            }
            lines.push(line(TextStyle::Dim, facts));
            lines.extend(open_points::observed(self.0).map(|text| line(TextStyle::Dim, text)));
        }
        // These limit the result, so they stay with --quiet.
        for text in open_points::doubtful(self.0) {
            let wrapped = prose(&format!("often a mistake: {text}"), 2, options).into_iter();
            lines.extend(wrapped.map(|line| restyled(line, TextStyle::Warning)));
        }
        if let Some(text) = open_points::unchecked_pins(self.0) {
            lines.extend(prose(&text, 0, options).into_iter().map(|line| restyled(line, TextStyle::Warning)));
        }
        let style = match self.0.exit_code {
            0 => TextStyle::Good,
            1 => TextStyle::Bad,
            _ => TextStyle::Warning,
        };
        let mut result = line(style, verdict(self.0));
        // A partial success ends with what to do.
        if self.0.exit_code != 0 || self.0.missing_inputs.is_empty() {
            result.push((TextStyle::Dim, format!(" (exit {})", self.0.exit_code)));
        }
        lines.push(result);
        lines
    }
}

/// Where causes and failing cases are shown in full.
fn advice(causes: &[Cause], options: &TerminalOptions) -> Vec<StyledLine> {
    let known = causes.iter().find(|cause| !cause.explanation.is_empty());
    let explain = known.map(|cause| {
        format!("more on a cause: edgeproof explain {}{}", one_line(&cause.id), options.interface_options)
    });
    let text = format!("every case in full: {}", options.in_full);
    let lines = explain.into_iter().chain([text]).map(|text| line(TextStyle::Dim, text));
    std::iter::once(StyledLine::new()).chain(lines).collect()
}

/// Style of an outcome.
pub(super) fn style(outcome: Outcome) -> TextStyle {
    match outcome {
        Outcome::Pass => TextStyle::Good,
        Outcome::Fail => TextStyle::Bad,
        Outcome::Warn | Outcome::NotRun => TextStyle::Warning,
        Outcome::Known | Outcome::Observed => TextStyle::Info,
        Outcome::NotApplicable => TextStyle::Dim,
    }
}

/// Wrapped prose, indented; all lines but the first by four more.
fn prose(text: &str, by: usize, options: &TerminalOptions) -> Vec<StyledLine> {
    let wrapped = wrap(text, fitting(options.width, by + 4)).into_iter().enumerate();
    wrapped.map(|(n, text)| indent(if n == 0 { by } else { by + 4 }, line(TextStyle::Plain, text))).collect()
}

/// The line in another style.
fn restyled(line: StyledLine, style: TextStyle) -> StyledLine {
    line.into_iter().map(|(_, text)| (style, text)).collect()
}

/// Width that an indentation leaves, at least 40.
fn fitting(width: usize, indentation: usize) -> usize {
    width.saturating_sub(indentation).max(40)
}

/// An empty line, then a heading.
pub(super) fn heading(text: &str, lines: &mut Vec<StyledLine>) {
    lines.extend([StyledLine::new(), line(TextStyle::Strong, text)]);
}

/// The line after `by` spaces.
pub(super) fn indent(by: usize, mut line: StyledLine) -> StyledLine {
    line.insert(0, (TextStyle::Plain, " ".repeat(by)));
    line
}
