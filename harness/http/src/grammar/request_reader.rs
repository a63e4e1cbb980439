use super::framing::{BodyLength, check_chunk_line, check_trailer};
use super::head::{begins_head, check_request_head, head_end, line, name};
use super::{MessageRule, Violation, Violations};

/// Incremental reader of the requests on one HTTP/1 connection. It keeps no bodies. Pure: no socket, no clock.
#[derive(Debug)]
pub(crate) struct RequestReader {
    /// Bytes of an incomplete head or line.
    buffer: Vec<u8>,
    phase: ReadPhase,
    /// Number of complete heads so far.
    requests: usize,
    violations: Violations,
}

/// Part of a request that the next bytes belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadPhase {
    Head,
    Bytes(u64),
    ChunkLine,
    /// Bytes of the chunk that are missing, and its line end.
    Chunk(u64),
    Trailer,
    /// Where the next request begins is unclear.
    Lost,
}

/// Longest head or line (bytes). Longer ones are not checked.
const MAX_BUFFER: usize = 256 * 1024;

impl RequestReader {
    pub(crate) fn new() -> Self {
        Self { buffer: Vec::new(), phase: ReadPhase::Head, requests: 0, violations: Violations::default() }
    }

    /// Reads received bytes. Yields new violations, each with the number of its request on the connection, from 0.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<(usize, Violation)> {
        let mut found = Vec::new();
        if self.phase == ReadPhase::Lost {
            return found;
        }
        let mut own = std::mem::take(&mut self.buffer);
        let mut rest = if own.is_empty() {
            bytes
        } else {
            own.extend_from_slice(bytes);
            &own
        };
        loop {
            let read = self.step(rest);
            let request = self.requests.saturating_sub(1);
            found.extend(self.violations.take().into_iter().map(|violation| (request, violation)));
            let Some(read) = read else { break };
            rest = &rest[read..];
        }
        match self.phase {
            ReadPhase::Lost => {}
            _ if rest.len() > MAX_BUFFER => self.phase = ReadPhase::Lost,
            _ => self.buffer = rest.to_vec(),
        }
        found
    }

    /// Reads one part, and yields its length. None: it needs more bytes, or the reader is lost.
    fn step(&mut self, bytes: &[u8]) -> Option<usize> {
        match self.phase {
            ReadPhase::Lost => None,
            ReadPhase::Head => {
                if self.requests == 0 && is_tls(bytes) {
                    self.phase = ReadPhase::Lost;
                    return None;
                }
                if !begins_head(bytes) {
                    let rule =
                        if self.requests > 0 { MessageRule::BytesAfterEnd } else { MessageRule::FirstLine };
                    self.violations.add(rule, name(bytes));
                    self.phase = ReadPhase::Lost;
                    return None;
                }
                let end = head_end(bytes)?;
                self.requests += 1;
                self.violations.begin_message();
                self.phase = match check_request_head(&bytes[..end], &mut self.violations) {
                    BodyLength::Bytes(0) => ReadPhase::Head,
                    BodyLength::Bytes(length) => ReadPhase::Bytes(length),
                    BodyLength::Chunked => ReadPhase::ChunkLine,
                    BodyLength::Unclear => ReadPhase::Lost,
                };
                Some(end)
            }
            ReadPhase::Bytes(left) => {
                let (read, left) = taken(bytes, left)?;
                self.phase = if left == 0 { ReadPhase::Head } else { ReadPhase::Bytes(left) };
                Some(read)
            }
            ReadPhase::ChunkLine => {
                let (line, read) = line(bytes, &mut self.violations)?;
                self.phase = match check_chunk_line(line, &mut self.violations) {
                    None => ReadPhase::Lost,
                    Some(0) => ReadPhase::Trailer,
                    Some(size) => ReadPhase::Chunk(size),
                };
                Some(read)
            }
            ReadPhase::Chunk(0) => {
                let (line, read) = line(bytes, &mut self.violations)?;
                self.phase = ReadPhase::ChunkLine;
                if !line.is_empty() {
                    self.violations.add(MessageRule::ChunkLine, line);
                    self.phase = ReadPhase::Lost;
                }
                Some(read)
            }
            ReadPhase::Chunk(left) => {
                let (read, left) = taken(bytes, left)?;
                self.phase = ReadPhase::Chunk(left);
                Some(read)
            }
            ReadPhase::Trailer => {
                let (line, read) = line(bytes, &mut self.violations)?;
                if line.is_empty() {
                    self.phase = ReadPhase::Head;
                } else {
                    check_trailer(line, &mut self.violations);
                }
                Some(read)
            }
        }
    }
}

/// Whether these bytes begin a TLS handshake: the client expects another protocol, and this is no HTTP.
fn is_tls(bytes: &[u8]) -> bool {
    bytes.starts_with(&[22, 3]) || bytes == [22]
}

/// Takes up to `left` of these bytes: how many, and how many are missing then. None: there are no bytes.
fn taken(bytes: &[u8], left: u64) -> Option<(usize, u64)> {
    let read = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    (read > 0).then(|| (read, left - read as u64))
}
