use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use super::LIMIT;

/// An output of a program. A thread reads it, so that each wait for a line has a limit.
pub(crate) struct ProgramOutput {
    lines: Receiver<String>,
    seen: String,
}

impl ProgramOutput {
    pub(crate) fn of(output: impl Read + Send + 'static) -> Self {
        let (line_tx, lines) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            while output.read_line(&mut line).unwrap() > 0 && line_tx.send(std::mem::take(&mut line)).is_ok()
            {
            }
        });
        Self { lines, seen: String::new() }
    }

    /// Waits for a line with this text.
    pub(crate) fn line_with(&mut self, text: &str) -> &str {
        let from = self.read_until(|line| line.contains(text));
        let from = from.unwrap_or_else(|| panic!("no line with {text:?} in {:?}", self.seen));
        self.seen[from..].trim_end()
    }

    /// Waits for the end. Returns everything.
    pub(crate) fn all(&mut self) -> &str {
        self.read_until(|_| false);
        &self.seen
    }

    /// Reads until a line is the wanted one, and returns where it begins; `None` at the end.
    fn read_until(&mut self, is_wanted: impl Fn(&str) -> bool) -> Option<usize> {
        let limit = Instant::now() + LIMIT;
        loop {
            match self.lines.recv_timeout(limit.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen.push_str(&line);
                    if is_wanted(&line) {
                        return Some(self.seen.len() - line.len());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the program is not done after {LIMIT:?}: {}", self.seen)
                }
            }
        }
    }
}
