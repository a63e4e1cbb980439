use std::mem::MaybeUninit;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Version};

use super::Answer;

/// Maximum head size (bytes).
const MAX_HEAD: usize = 64 * 1024;
/// Maximum number of header fields.
const MAX_HEADERS: usize = 256;
/// Maximum body size (bytes). Bodies of the interface have a few hundred.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// Maximum number of interim answers and trailer lines together. More means an endless answer.
const MAX_LINES: usize = 256;
/// Maximum length of a chunk-size line (bytes).
const MAX_CHUNK_LINE: usize = 4 * 1024;

/// Incremental reader of one HTTP/1.1 answer. Pure: no socket, no clock.
#[derive(Debug)]
pub struct AnswerReader {
    buffer: BytesMut,
    /// The request method was `HEAD`: the answer has no body, whatever its head says.
    headless: bool,
    state: State,
    /// An interim `100` arrived.
    continued: bool,
    /// Number of interim answers and trailer lines so far.
    lines: usize,
    most: Most,
}

/// Limit on the part of a body that is kept.
#[derive(Debug, Clone, Copy)]
enum Most {
    /// The whole body; a body over the maximum is an error.
    All,
    /// This number of bytes; the rest is read and dropped.
    First(usize),
}

/// State of the answer after the bytes so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// The answer needs more bytes.
    More,
    /// The answer is complete.
    Done(Answer),
    /// The bytes are invalid HTTP or exceed a limit; the text names the fault.
    Broken(String),
}

#[derive(Debug)]
enum State {
    Head,
    Sized { answer: Answer, body: BytesMut, left: u64 },
    ChunkLine { answer: Answer, body: BytesMut },
    Chunk { answer: Answer, body: BytesMut, left: u64 },
    Trailers { answer: Answer, body: BytesMut },
    UntilEnd { answer: Answer, body: BytesMut },
    Over,
}

enum Framing {
    Nothing,
    Sized(u64),
    Chunked,
    UntilEnd,
}

impl AnswerReader {
    /// Creates a reader for the answer to a request with `method`.
    pub fn new(method: &str) -> Self {
        Self {
            buffer: BytesMut::new(),
            headless: method == "HEAD",
            state: State::Head,
            continued: false,
            lines: 0,
            most: Most::All,
        }
    }

    /// Limits the body to its first `bytes` bytes and drops the rest, of any length.
    #[must_use]
    pub fn keeping(self, most: usize) -> Self {
        Self { most: Most::First(most), ..self }
    }

    /// Whether an interim `100` arrived.
    pub fn continued(&self) -> bool {
        self.continued
    }

    /// Whether any byte of an answer arrived.
    pub fn began(&self) -> bool {
        !matches!(self.state, State::Head) || !self.buffer.is_empty()
    }

    /// Whether bytes are buffered that belong to no answer, or that follow a complete one.
    pub fn has_rest(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Creates a reader for the next answer on the same connection. It begins with the bytes that followed this answer.
    pub(super) fn next(self, method: &str) -> Self {
        Self { buffer: self.buffer, ..Self::new(method) }
    }

    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Progress {
        self.buffer.extend_from_slice(bytes);
        loop {
            match self.step() {
                Ok(Some(answer)) => return Progress::Done(answer),
                Ok(None) => return Progress::More,
                Err(Step::Again) => {}
                Err(Step::Broken(why)) => return Progress::Broken(why),
            }
        }
    }

    /// Ends the stream: yields the incomplete answer if its head is complete.
    pub fn end(self) -> Option<Answer> {
        match self.state {
            State::Head | State::Over => None,
            State::UntilEnd { mut answer, body } => {
                answer.body = body.freeze();
                answer.complete = true;
                Some(answer)
            }
            State::Sized { mut answer, body, .. }
            | State::ChunkLine { mut answer, body }
            | State::Chunk { mut answer, body, .. }
            | State::Trailers { mut answer, body } => {
                answer.body = body.freeze();
                Some(answer)
            }
        }
    }

    fn step(&mut self) -> Result<Option<Answer>, Step> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Head => self.head(),
            State::Sized { answer, mut body, left } => {
                let left = self.take(&mut body, left);
                if left == 0 {
                    return Ok(Some(finish(answer, body)));
                }
                self.state = State::Sized { answer, body, left };
                Ok(None)
            }
            State::ChunkLine { answer, body } => {
                let Some(line) = self.line()? else {
                    self.state = State::ChunkLine { answer, body };
                    return Ok(None);
                };
                let left = chunk_size(&line)?;
                self.most.allow(body.len(), left)?;
                self.state = if left == 0 {
                    State::Trailers { answer, body }
                } else {
                    State::Chunk { answer, body, left }
                };
                Err(Step::Again)
            }
            State::Chunk { answer, mut body, left } => {
                let left = self.take(&mut body, left);
                if left > 0 || self.buffer.len() < 2 {
                    self.state = State::Chunk { answer, body, left };
                    return Ok(None);
                }
                if self.buffer.split_to(2).as_ref() != b"\r\n" {
                    return Err(broken("a chunk is longer than its size line says"));
                }
                self.state = State::ChunkLine { answer, body };
                Err(Step::Again)
            }
            State::Trailers { answer, body } => match self.line()? {
                None => {
                    self.state = State::Trailers { answer, body };
                    Ok(None)
                }
                Some(line) if line.is_empty() => Ok(Some(finish(answer, body))),
                Some(_) => {
                    self.count_line()?;
                    self.state = State::Trailers { answer, body };
                    Err(Step::Again)
                }
            },
            State::UntilEnd { answer, mut body } => {
                self.most.allow(body.len(), self.buffer.len() as u64)?;
                let here = self.buffer.split();
                body.extend_from_slice(&here[..self.most.room(&body).min(here.len())]);
                self.state = State::UntilEnd { answer, body };
                Ok(None)
            }
            State::Over => Err(broken("extra bytes after the answer")),
        }
    }

    fn head(&mut self) -> Result<Option<Answer>, Step> {
        // Uninitialised on purpose: initialising the fields takes longer than parsing.
        let mut fields = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut []);
        let config = httparse::ParserConfig::default();
        let length = match config.parse_response_with_uninit_headers(&mut parsed, &self.buffer, &mut fields) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if self.buffer.len() > MAX_HEAD => {
                return Err(broken(&format!("head longer than {MAX_HEAD} bytes")));
            }
            Ok(httparse::Status::Partial) => {
                self.state = State::Head;
                return Ok(None);
            }
            Err(httparse::Error::TooManyHeaders) => {
                return Err(broken(&format!("more than {MAX_HEADERS} header fields")));
            }
            Err(why) => return Err(broken(&why.to_string())),
        };
        let status = parsed.code.unwrap_or_default();
        let version = if parsed.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
        let headers = header_map(parsed.headers)?;
        let _ = self.buffer.split_to(length);
        if (100..200).contains(&status) && status != 101 {
            self.count_line()?;
            self.continued |= status == 100;
            self.state = State::Head;
            return Err(Step::Again);
        }
        let answer = Answer { status, version, headers, body: Bytes::new(), complete: false };
        let body = BytesMut::new();
        match framing(&answer, self.headless)? {
            Framing::Nothing => return Ok(Some(finish(answer, body))),
            Framing::Sized(left) => {
                self.most.allow(0, left)?;
                self.state = State::Sized { answer, body, left };
            }
            Framing::Chunked => self.state = State::ChunkLine { answer, body },
            Framing::UntilEnd => self.state = State::UntilEnd { answer, body },
        }
        Err(Step::Again)
    }

    /// Moves up to `left` bytes into the body and returns the number still missing.
    fn take(&mut self, body: &mut BytesMut, left: u64) -> u64 {
        let here = self.buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = self.buffer.split_to(here);
        body.extend_from_slice(&bytes[..self.most.room(body).min(here)]);
        left - here as u64
    }

    fn count_line(&mut self) -> Result<(), Step> {
        self.lines += 1;
        if self.lines > MAX_LINES {
            return Err(broken(&format!("more than {MAX_LINES} interim answers or trailer lines")));
        }
        Ok(())
    }

    fn line(&mut self) -> Result<Option<Bytes>, Step> {
        let Some(end) = self.buffer.windows(2).take(MAX_CHUNK_LINE).position(|pair| pair == b"\r\n") else {
            return if self.buffer.len() > MAX_CHUNK_LINE {
                Err(broken("chunk-size line too long"))
            } else {
                Ok(None)
            };
        };
        let line = self.buffer.split_to(end).freeze();
        let _ = self.buffer.split_to(2);
        Ok(Some(line))
    }
}

impl Most {
    /// Fails when `more` bytes would make the body too long.
    fn allow(self, there: usize, coming: u64) -> Result<(), Step> {
        match self {
            Self::All if coming > MAX_BODY.saturating_sub(there) as u64 => Err(too_long()),
            Self::All | Self::First(_) => Ok(()),
        }
    }

    /// Number of bytes that still fit into the kept body.
    fn room(self, body: &BytesMut) -> usize {
        match self {
            Self::All => usize::MAX,
            Self::First(most) => most.saturating_sub(body.len()),
        }
    }
}

/// Fault that ends the reading.
enum Step {
    Again,
    Broken(String),
}

fn broken(why: &str) -> Step {
    Step::Broken(why.to_owned())
}

fn too_long() -> Step {
    broken(&format!("body longer than {MAX_BODY} bytes"))
}

fn finish(mut answer: Answer, body: BytesMut) -> Answer {
    answer.body = body.freeze();
    answer.complete = true;
    answer
}

fn header_map(fields: &[httparse::Header<'_>]) -> Result<HeaderMap, Step> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|why| broken(&why.to_string()))?;
        let value = HeaderValue::from_bytes(field.value).map_err(|why| broken(&why.to_string()))?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// Framing of the body (RFC 9112 §6.3).
fn framing(answer: &Answer, headless: bool) -> Result<Framing, Step> {
    if headless || matches!(answer.status, 101 | 204 | 304) {
        return Ok(Framing::Nothing);
    }
    if let Some(coding) = answer.headers.get_all(http::header::TRANSFER_ENCODING).iter().next_back() {
        let last = coding.to_str().unwrap_or_default().rsplit(',').next().unwrap_or_default().trim();
        return Ok(if last.eq_ignore_ascii_case("chunked") { Framing::Chunked } else { Framing::UntilEnd });
    }
    let mut lengths = answer.headers.get_all(http::header::CONTENT_LENGTH).iter();
    let Some(first) = lengths.next() else { return Ok(Framing::UntilEnd) };
    if lengths.any(|other| other != first) {
        return Err(broken("two different Content-Length fields"));
    }
    let digits = first.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|text| text.parse().ok())
        .map(Framing::Sized)
        .ok_or_else(|| broken("Content-Length is not a number"))
}

fn chunk_size(line: &[u8]) -> Result<u64, Step> {
    let text = std::str::from_utf8(line).unwrap_or_default();
    let digits = text.split(';').next().unwrap_or_default().trim();
    // `from_str_radix` accepts a sign; a chunk size has none.
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain
        .then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
        .ok_or_else(|| broken("chunk size is not a number"))
}

#[cfg(test)]
mod tests;
