use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

use super::{LogTail, Stream};

/// Maximum line length (bytes); the rest of a line is dropped.
const LINE: usize = 16 * 1024;
/// Read buffer size (bytes).
const CHUNK: usize = 16 * 1024;

/// Reads a pipe until its end or until `close`. The edge never blocks on its output, and memory use does not depend on
/// the amount of output.
pub(super) async fn pump(
    mut pipe: impl AsyncRead + Unpin,
    stream: Stream,
    log: LogTail,
    mut close: watch::Receiver<bool>,
) {
    let mut lines = LineCutter::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = tokio::select! {
            read = pipe.read(&mut chunk) => read,
            // An error means that the sender is gone, so nobody waits for more.
            _ = close.wait_for(|closed| *closed) => break,
        };
        match read {
            Ok(0) | Err(_) => break,
            Ok(length) => lines.feed(&chunk[..length], |line| log.push(stream, line)),
        }
    }
    if let Some(line) = lines.finish() {
        log.push(stream, line);
    }
}

/// Splitter of bytes into lines.
#[derive(Debug, Default)]
struct LineCutter {
    begun: Vec<u8>,
}

impl LineCutter {
    fn feed(&mut self, mut bytes: &[u8], mut emit: impl FnMut(String)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.keep(&bytes[..end]);
            bytes = &bytes[end + 1..];
            emit(self.take());
        }
        self.keep(bytes);
    }

    /// Bytes after the last line end.
    fn finish(mut self) -> Option<String> {
        (!self.begun.is_empty()).then(|| self.take())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LINE - self.begun.len();
        self.begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take(&mut self) -> String {
        let line = String::from_utf8_lossy(&self.begun);
        let text = line.strip_suffix('\r').unwrap_or(&line).to_owned();
        self.begun.clear();
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<String> {
        let mut cutter = LineCutter::default();
        let mut lines = Vec::new();
        for piece in pieces {
            cutter.feed(piece, |line| lines.push(line));
        }
        lines.extend(cutter.finish());
        lines
    }

    #[rstest]
    #[case(b"one\ntwo\n", &["one", "two"])]
    #[case(b"on|e\n|two", &["one", "two"])]
    #[case(b"one\r\n\r\ntwo\r", &["one", "", "two"])]
    #[case(b"a\xffb\n", &["a\u{fffd}b"])]
    #[case(b"", &[])]
    fn output_that_comes_in_pieces_is_cut_into_lines(#[case] pieces: &[u8], #[case] lines: &[&str]) {
        let pieces: Vec<&[u8]> = pieces.split(|byte| *byte == b'|').collect();
        assert_eq!(cut(&pieces), lines);
    }

    #[test]
    fn long_line_is_cut_and_the_next_is_complete() {
        let long = vec![b'x'; 3 * LINE];
        assert_eq!(cut(&[&long, &long, b"\nnext\n"]), ["x".repeat(LINE), "next".into()]);
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_arrive(bytes: Vec<u8>, at: prop::sample::Index) {
            let at = at.index(bytes.len() + 1);
            prop_assert_eq!(cut(&[&bytes]), cut(&[&bytes[..at], &bytes[at..]]));
        }
    }
}
