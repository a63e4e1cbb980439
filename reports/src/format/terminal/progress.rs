use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::model::{Outcome, Summary};
use crate::text::escape::one_line;
use crate::text::styled::{StyledLine, TextStyle};

/// Shortest time between two redraws.
const INTERVAL: Duration = Duration::from_millis(80);
/// Time after which a running case is shown with its title and its seconds.
const SLOW: Duration = Duration::from_secs(3);

/// The progress line at the bottom of a terminal, redrawn in place.
#[derive(Debug, Default)]
pub(super) struct ProgressLine {
    drawn: bool,
    last: Option<Instant>,
}

impl ProgressLine {
    /// Whether a redraw is due; the first one always is.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.last.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if due {
            self.last = Some(now);
        }
        due
    }

    /// Output that draws the painted line over the previous one.
    pub(super) fn draw(&mut self, painted: &str) -> String {
        self.drawn = true;
        format!("\r{painted}\x1b[K")
    }

    /// Output that removes the line; empty if none is drawn.
    pub(super) fn clear(&mut self) -> &'static str {
        if std::mem::take(&mut self.drawn) { "\r\x1b[K" } else { "" }
    }
}

/// Complete and running cases.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) planned: usize,
    counts: Summary,
    complete: HashSet<String>,
    running: Vec<RunningCase>,
}

#[derive(Debug)]
struct RunningCase {
    id: String,
    title: String,
    since: Instant,
}

impl Progress {
    /// Adds a running case. A repeated case keeps its start.
    pub(super) fn begin(&mut self, id: &str, title: &str, since: Instant) {
        if self.running.iter().all(|case| case.id != id) {
            self.running.push(RunningCase { id: id.to_owned(), title: title.to_owned(), since });
        }
    }

    /// Counts a complete case, once.
    pub(super) fn complete(&mut self, id: &str, outcome: Outcome) {
        if self.complete.insert(id.to_owned()) {
            self.counts.count(outcome);
            self.running.retain(|case| case.id != id);
        }
    }

    /// `   37/212  2 failed  8 running  relay.slow 4 s: a late answer is passed on`: complete and planned cases, problems,
    /// running cases, the one that runs longest.
    pub(super) fn line(&self, now: Instant) -> StyledLine {
        let digits = self.planned.to_string().len();
        let mut line =
            vec![(TextStyle::Strong, format!("  {:>digits$}/{}", self.counts.planned, self.planned))];
        for (count, style, label) in [
            (self.counts.fail, TextStyle::Bad, "failed"),
            (self.counts.not_run, TextStyle::Warning, "not run"),
            (self.counts.warn, TextStyle::Warning, "warned"),
            (self.running.len(), TextStyle::Dim, "running"),
        ] {
            if count > 0 {
                line.push((style, format!("  {count} {label}")));
            }
        }
        if let Some(case) = self.running.first() {
            line.push((TextStyle::Dim, format!("  {}", one_line(&case.id))));
            let time = now.duration_since(case.since);
            if time >= SLOW {
                let text = format!(" {} s: {}", time.as_secs(), one_line(&case.title));
                line.push((TextStyle::Dim, text));
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::styled::paint;

    #[test]
    fn progress_names_a_slow_case_with_its_seconds() {
        let start = Instant::now();
        let mut progress = Progress { planned: 212, ..Progress::default() };
        progress.begin("relay.slow", "a late answer is passed on", start);
        progress.begin("refusal.401.expired", "a refusal", start);
        progress.begin("relay.slow", "a late answer is passed on", start + SLOW);
        let shown = |progress: &Progress, after| paint(&progress.line(start + after), false);
        assert_eq!(shown(&progress, Duration::from_millis(2_999)), "    0/212  2 running  relay.slow");
        for _ in 0..2 {
            progress.complete("refusal.401.expired", Outcome::Fail);
        }
        assert_eq!(
            shown(&progress, Duration::from_millis(4_200)),
            "    1/212  1 failed  1 running  relay.slow 4 s: a late answer is passed on"
        );
        progress.complete("relay.slow", Outcome::Pass);
        assert_eq!(shown(&progress, SLOW), "    2/212  1 failed");
    }

    #[test]
    fn redraws_keep_the_interval() {
        let (mut line, now) = (ProgressLine::default(), Instant::now());
        assert!(line.is_due(now));
        assert!(!line.is_due(now + INTERVAL / 2));
        assert!(line.is_due(now + INTERVAL));
    }

    #[test]
    fn clear_removes_a_drawn_line_once() {
        let mut line = ProgressLine::default();
        assert_eq!(line.clear(), "");
        assert_eq!(line.draw("x"), "\rx\x1b[K");
        assert_eq!((line.clear(), line.clear()), ("\r\x1b[K", ""));
    }
}
