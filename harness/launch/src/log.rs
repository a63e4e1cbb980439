use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use anstream::adapter::strip_str;
use edgeproof_reports::escape::visible;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Maximum number of kept lines. Older lines are dropped.
const KEPT: usize = 20_000;
/// Maximum number of kept bytes.
const KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Live log of an edge, line by line. Clones share the lines.
#[derive(Debug, Clone, Default)]
pub struct LogTail {
    buffer: Arc<LogBuffer>,
}

/// One line of an edge's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Line number, from 0.
    pub number: usize,
    /// Output stream.
    pub stream: Stream,
    /// Text without line end. Invalid UTF-8 is replaced, and a long line is cut.
    pub text: String,
}

/// Output stream of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl LogLine {
    /// Its text with hidden characters escaped.
    pub fn visible(&self) -> Cow<'_, str> {
        visible(&self.text)
    }
}

#[derive(Debug, Default)]
struct LogBuffer {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<LogLine>,
    bytes: usize,
    next: usize,
    ended: bool,
}

impl LogTail {
    /// Adds a line. Colours and other control sequences are no part of its text.
    pub fn push(&self, stream: Stream, text: String) {
        let text = if text.contains('\u{1b}') { strip_str(&text).to_string() } else { text };
        {
            let mut state = self.state();
            let number = state.next;
            state.next += 1;
            state.bytes += text.len();
            while state.lines.len() == KEPT || state.bytes > KEPT_BYTES {
                let Some(oldest) = state.lines.pop_front() else { break };
                state.bytes -= oldest.text.len();
            }
            state.lines.push_back(LogLine { number, stream, text });
        }
        self.buffer.changed.notify_waiters();
    }

    /// Marks the log as complete.
    pub fn end(&self) {
        self.state().ended = true;
        self.buffer.changed.notify_waiters();
    }

    /// Number of the next line: what [`Self::since`] takes.
    pub fn mark(&self) -> usize {
        self.state().next
    }

    /// Kept lines from a mark on.
    pub fn since(&self, mark: usize) -> Vec<LogLine> {
        self.state().lines.iter().filter(|line| line.number >= mark).cloned().collect()
    }

    /// The last `count` lines.
    pub fn last(&self, count: usize) -> Vec<LogLine> {
        let state = self.state();
        state.lines.iter().skip(state.lines.len().saturating_sub(count)).cloned().collect()
    }

    /// Waits until `enough` holds for the lines from `mark` on, until the log is complete, or until `limit`. Yields
    /// the lines from `mark` on.
    pub async fn wait(
        &self,
        mark: usize,
        limit: Duration,
        enough: impl Fn(&[LogLine]) -> bool,
    ) -> Vec<LogLine> {
        let watch = async {
            loop {
                let changed = self.buffer.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let lines = self.since(mark);
                if enough(&lines) || self.state().ended {
                    return;
                }
                changed.await;
            }
        };
        // A timeout is no error: the caller judges the lines so far.
        let _ = timeout(limit, watch).await;
        self.since(mark)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.buffer.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[LogLine]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn since_and_last_select_lines() {
        let log = LogTail::default();
        log.push(Stream::Out, "one".into());
        let mark = log.mark();
        log.push(Stream::Err, "two".into());
        log.push(Stream::Out, "three".into());
        assert_eq!(texts(&log.since(mark)), ["two", "three"]);
        assert_eq!(texts(&log.last(1)), ["three"]);
        assert_eq!(texts(&log.last(9)), ["one", "two", "three"]);
        assert_eq!(log.since(mark)[0], LogLine { number: 1, stream: Stream::Err, text: "two".into() });
    }

    #[test]
    fn old_lines_are_dropped_and_numbering_continues() {
        let log = LogTail::default();
        for number in 0..KEPT + 10 {
            log.push(Stream::Out, number.to_string());
        }
        assert_eq!(log.since(0).len(), KEPT);
        assert_eq!(log.since(0)[0].number, 10);
        assert_eq!(log.mark(), KEPT + 10);
    }

    #[test]
    fn kept_bytes_stay_within_the_limit() {
        let log = LogTail::default();
        for _ in 0..10 {
            log.push(Stream::Out, "x".repeat(KEPT_BYTES / 4));
        }
        assert_eq!(log.since(0).len(), 4);
        log.push(Stream::Out, "x".repeat(KEPT_BYTES + 1));
        log.push(Stream::Out, "y".into());
        assert_eq!(texts(&log.since(0)), ["y"]);
    }

    #[tokio::test]
    async fn wait_ends_on_match_on_completion_and_on_timeout() {
        let log = LogTail::default();
        let is_there = |lines: &[LogLine]| lines.iter().any(|line| line.text == "there");
        assert!(log.wait(0, Duration::ZERO, is_there).await.is_empty());

        let limit = Duration::from_secs(20);
        let found = log.wait(0, limit, is_there);
        let writing = async {
            log.push(Stream::Out, "not yet".into());
            tokio::task::yield_now().await;
            log.push(Stream::Out, "there".into());
        };
        assert_eq!(texts(&tokio::join!(found, writing).0), ["not yet", "there"]);

        let ended = log.wait(log.mark(), limit, is_there);
        assert!(tokio::join!(ended, async { log.end() }).0.is_empty());
    }
}
