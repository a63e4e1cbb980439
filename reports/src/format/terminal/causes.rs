//! Causes at the end of a run, in a limited number of lines.

use super::ending::{heading, indent};
use super::options::TerminalOptions;
use crate::model::{CauseGroup, Outcome, Summary, headline};
use crate::text::cause::{self, CauseDepth};
use crate::text::styled::{StyledLine, TextStyle, line};

/// Columns before the lines below a heading.
const INDENT: usize = 6;
/// Most causes that get only their heading.
const HEADINGS: usize = 10;
/// Depths of the causes that a run is about, the deepest first.
const DEPTHS: [CauseDepth; 3] = [CauseDepth::Full, CauseDepth::Share, CauseDepth::Example];
/// Depths of the causes of warnings beside failures.
const BESIDE_FAILURES: [CauseDepth; 2] = [CauseDepth::Example, CauseDepth::Short];

/// Lines of the causes of all failures, then of all warnings, at most about `budget`.
pub(super) fn lines(
    groups: &[CauseGroup<'_>],
    summary: &Summary,
    options: &TerminalOptions,
    budget: usize,
) -> Vec<StyledLine> {
    let of = |outcome| groups.iter().filter(|group| group.outcome == outcome).collect::<Vec<_>>();
    let (failures, mut warnings) = (of(Outcome::Fail), of(Outcome::Warn));
    if options.quiet {
        warnings.clear();
    }
    let block = |groups: &[&CauseGroup<'_>], depths: &[CauseDepth], outcome, first, budget| {
        CauseList { groups, depths, outcome, first, summary, options }.lines(budget)
    };
    if failures.is_empty() {
        return block(&warnings, &DEPTHS, Outcome::Warn, 1, budget);
    }
    // A heading and one line for each warning, as far as there is room beside the failures.
    let reserved = if warnings.is_empty() { 0 } else { 3 + warnings.len().min(budget / 8) };
    let mut lines = block(&failures, &DEPTHS, Outcome::Fail, 1, budget.saturating_sub(reserved));
    let left = budget.saturating_sub(lines.len());
    lines.extend(block(&warnings, &BESIDE_FAILURES, Outcome::Warn, failures.len() + 1, left));
    lines
}

/// Causes with one outcome.
struct CauseList<'a> {
    groups: &'a [&'a CauseGroup<'a>],
    depths: &'a [CauseDepth],
    outcome: Outcome,
    /// Number of the first cause.
    first: usize,
    summary: &'a Summary,
    options: &'a TerminalOptions,
}

impl CauseList<'_> {
    /// All causes at the greatest depth that fits. Without one, the first causes in lines and the others in a line each.
    fn lines(&self, budget: usize) -> Vec<StyledLine> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let mut lines = Vec::new();
        heading(&headline(self.groups, self.outcome), &mut lines);
        let room = budget.saturating_sub(lines.len());
        let blocks = self.depths.iter().map(|depth| self.blocks(*depth));
        let mut least = Vec::new();
        for blocks in blocks {
            if blocks.iter().map(Vec::len).sum::<usize>() <= room {
                lines.extend(blocks.into_iter().flatten());
                return lines;
            }
            least = blocks;
        }
        lines.extend(self.shortened(least, room));
        lines
    }

    fn blocks(&self, depth: CauseDepth) -> Vec<Vec<StyledLine>> {
        let width = self.options.width.saturating_sub(INDENT);
        let block = |n| {
            let group: &CauseGroup<'_> = self.groups[n];
            let below = cause::lines(group, self.summary, depth, width);
            let below = below.into_iter().map(|line| indent(INDENT, line));
            [StyledLine::new(), self.heading(n)].into_iter().chain(below).collect()
        };
        (0..self.groups.len()).map(block).collect()
    }

    fn heading(&self, n: usize) -> StyledLine {
        cause::heading(self.first + n, self.groups[n], cause::columns(self.groups, self.options.width))
    }

    /// Whole blocks as long as the headings of the others fit as well, then these headings.
    fn shortened(&self, blocks: Vec<Vec<StyledLine>>, room: usize) -> Vec<StyledLine> {
        let all = blocks.len();
        let mut lines = Vec::new();
        let mut whole = 0;
        for block in blocks {
            // An empty line, the headings, and the number of the rest.
            let rest = 2 + HEADINGS.min(all - whole - 1);
            if lines.len() + block.len() + rest > room {
                break;
            }
            lines.extend(block);
            whole += 1;
        }
        lines.push(StyledLine::new());
        let left = room.saturating_sub(lines.len()).clamp(1, HEADINGS + 1);
        let shown = if all - whole <= left { all } else { whole + left - 1 };
        lines.extend((whole..shown).map(|n| self.heading(n)));
        if shown < all {
            lines.push(line(TextStyle::Dim, format!("    … and {} more", all - shown)));
        }
        lines
    }
}
