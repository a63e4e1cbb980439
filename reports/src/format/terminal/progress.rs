use std::time::{Duration, Instant};

use crate::model::Summary;
use crate::text::escape::one_line;
use crate::text::styled::{StyledLine, TextStyle};

/// Shortest time between two redraws.
const INTERVAL: Duration = Duration::from_millis(80);

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

/// `  37/212  refusal.401.bad-signature  2 failed`: cases done, the longest-running case, problems.
pub(super) fn progress(planned: usize, ended: &Summary, running: Option<&str>) -> StyledLine {
    let digits = planned.to_string().len();
    let mut line = vec![(TextStyle::Strong, format!("  {:>digits$}/{planned}", ended.planned))];
    line.push((TextStyle::Dim, format!("  {}", one_line(running.unwrap_or_default()))));
    for (count, style, label) in [
        (ended.fail, TextStyle::Bad, "failed"),
        (ended.not_run, TextStyle::Warning, "not run"),
        (ended.warn, TextStyle::Warning, "warned"),
    ] {
        if count > 0 {
            line.push((style, format!("  {count} {label}")));
        }
    }
    line
}

/// The first `width` characters of a line, with `…` if it was longer.
pub(super) fn clip(line: StyledLine, width: usize) -> StyledLine {
    let whole: usize = line.iter().map(|(_, text)| text.chars().count()).sum();
    if whole <= width {
        return line;
    }
    let mut left = width.saturating_sub(1);
    let mut clipped = StyledLine::new();
    for (style, text) in line {
        let piece: String = text.chars().take(left).collect();
        left -= piece.chars().count();
        clipped.push((style, piece));
    }
    clipped.push((TextStyle::Dim, "…".to_owned()));
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::styled::{line, paint};

    #[test]
    fn progress_shows_counts_and_running_case() {
        let ended = Summary { planned: 37, fail: 2, ..Summary::default() };
        let line = progress(212, &ended, Some("refusal.401.expired"));
        assert_eq!(paint(&line, false), "   37/212  refusal.401.expired  2 failed");
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

    #[test]
    fn clip_marks_cut_lines() {
        let clipped = clip(vec![(TextStyle::Plain, "abc".into()), (TextStyle::Bad, "defg".into())], 6);
        assert_eq!(paint(&clipped, false), "abcde…");
        assert_eq!(paint(&clip(line(TextStyle::Plain, "abcdef"), 6), false), "abcdef");
    }
}
