//! A comparison for a terminal.

use super::case_change::CaseChange;
use super::model::{ComparedCase, ComparedRun, RunComparison};
use crate::model::Outcome;
use crate::text::escape::one_line;
use crate::text::styled::{StyledLine, TextStyle, clip, line, paint_all};
use crate::text::units::counted;

/// Cases of one change that the text shows.
const SHOWN: usize = 20;
/// Characters of a line.
const WIDTH: usize = 160;

impl RunComparison {
    /// Lines for a terminal: both runs, the changed cases by change, and the counts.
    pub fn to_text(&self) -> String {
        let mut lines = vec![run("old", &self.old), run("new", &self.new)];
        lines.extend(self.other_tables().map(|text| line(TextStyle::Plain, one_line(&text))));
        for (heading, cases) in self.lists(&one_line(&self.old.report), &one_line(&self.old.tool.version)) {
            lines.extend([StyledLine::new(), line(TextStyle::Strong, heading)]);
            lines.extend(cases.iter().take(SHOWN).map(|case| clip(of_case(case), WIDTH)));
            if let more @ 1.. = cases.len().saturating_sub(SHOWN) {
                lines.push(line(TextStyle::Dim, format!("  … and {more} more; --format json has all")));
            }
        }
        if !self.observations.is_empty() {
            lines.extend([StyledLine::new(), line(TextStyle::Strong, "changed observations")]);
        }
        for changed in &self.observations {
            let [old, new] = [&changed.old, &changed.new].map(|seen| seen.join(" or "));
            let text = format!("  {}  {} → {}", one_line(&changed.point), one_line(&old), one_line(&new));
            lines.push(clip(line(TextStyle::Plain, text), WIDTH));
        }
        lines.extend([StyledLine::new(), line(TextStyle::Strong, self.line())]);
        paint_all(&lines, false)
    }
}

fn run(which: &str, run: &ComparedRun) -> StyledLine {
    let ComparedRun { report, tool, target, started, exit_code, planned } = run;
    let text = format!(
        "{which}  {}: edgeproof {}, {}, {}, {}, exit {exit_code}",
        one_line(report),
        one_line(&tool.version),
        one_line(&target.to_string()),
        one_line(started),
        counted(*planned, "case"),
    );
    line(TextStyle::Plain, text)
}

/// Both outcomes, id, version and reason.
fn of_case(case: &ComparedCase) -> StyledLine {
    let mut text = format!("  {}  {}", case.outcomes(), one_line(&case.id));
    if let Some(since) = case.since.filter(|_| case.change == CaseChange::NewCheck) {
        put!(text, "  since {since}");
    }
    if let Some(cause) = &case.cause {
        put!(text, "  {}", one_line(cause));
    }
    if !case.because.is_empty() {
        put!(text, "  {}", one_line(&case.because));
    }
    line(TextStyle::Plain, text)
}

impl ComparedCase {
    /// `pass → fail`, or the only outcome.
    pub(super) fn outcomes(&self) -> String {
        let known: Vec<&str> = [self.old, self.new].into_iter().flatten().map(Outcome::label).collect();
        known.join(" → ")
    }
}
