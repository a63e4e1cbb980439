use std::time::{Duration, Instant};

use crate::Summary;
use crate::detail::{Ink, Line};
use crate::escape::one_line;

/// Redrawn this often at most: often enough to see that it lives, seldom enough to read.
const INTERVAL: Duration = Duration::from_millis(80);

/// The one line at the bottom of a terminal that is drawn over itself.
#[derive(Debug, Default)]
pub(super) struct Live {
    drawn: bool,
    last: Option<Instant>,
}

impl Live {
    /// Whether the line may be drawn again; the first time is always right.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.last.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if due {
            self.last = Some(now);
        }
        due
    }

    /// What draws the painted line over the one before.
    pub(super) fn draw(&mut self, painted: &str) -> String {
        self.drawn = true;
        format!("\r{painted}\x1b[K")
    }

    /// What removes the line, if there is one.
    pub(super) fn clear(&mut self) -> &'static str {
        if std::mem::take(&mut self.drawn) { "\r\x1b[K" } else { "" }
    }
}

/// `  37/212  refusal.401.bad-signature  2 failed`: how far, what it has waited for the longest, what is wrong.
pub(super) fn progress(planned: usize, ended: &Summary, waiting_for: Option<&str>) -> Line {
    let digits = planned.to_string().len();
    let mut line = vec![(Ink::Strong, format!("  {:>digits$}/{planned}", ended.planned))];
    line.push((Ink::Dim, format!("  {}", one_line(waiting_for.unwrap_or_default()))));
    for (count, ink, words) in [
        (ended.fail, Ink::Bad, "failed"),
        (ended.not_run, Ink::Odd, "not run"),
        (ended.warn, Ink::Odd, "warned"),
    ] {
        if count > 0 {
            line.push((ink, format!("  {count} {words}")));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::paint::paint;

    #[test]
    fn tells_how_far_it_is() {
        let ended = Summary { planned: 37, fail: 2, ..Summary::default() };
        let line = progress(212, &ended, Some("refusal.401.expired"));
        assert_eq!(paint(&line, false), "   37/212  refusal.401.expired  2 failed");
    }

    #[test]
    fn is_drawn_in_measure() {
        let (mut live, now) = (Live::default(), Instant::now());
        assert!(live.is_due(now));
        assert!(!live.is_due(now + INTERVAL / 2));
        assert!(live.is_due(now + INTERVAL));
    }

    #[test]
    fn leaves_nothing_behind() {
        let mut live = Live::default();
        assert_eq!(live.clear(), "");
        assert_eq!(live.draw("x"), "\rx\x1b[K");
        assert_eq!((live.clear(), live.clear()), ("\r\x1b[K", ""));
    }
}
