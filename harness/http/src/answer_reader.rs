use std::mem::MaybeUninit;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Version};

use super::grammar::{
    AnswerRequest, MessageRule, Violation, Violations, check_answer_head, check_chunk_line, check_trailer,
};
use super::{Answer, Draft};

/// Maximum head size (bytes).
const MAX_HEAD: usize = 64 * 1024;
/// Maximum number of header fields.
const MAX_HEADERS: usize = 256;
/// Maximum body size (bytes). Bodies of the interface have a few hundred.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// Maximum size of all chunk-size lines of an answer (bytes). More means endless tiny chunks.
const MAX_FRAMING: usize = 1024 * 1024;
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
    phase: ReadPhase,
    /// Answer without its body, once its head arrived.
    head: Option<Answer>,
    /// Body so far.
    body: BytesMut,
    /// An interim `100` arrived.
    continued: bool,
    /// Number of interim answers and trailer lines so far.
    lines: usize,
    /// Size of the chunk-size lines so far (bytes).
    framing: usize,
    /// Number of bytes of the body to keep; the rest is dropped. Unset: all, and a body or chunk-size lines over the maximum
    /// are an error.
    kept: Option<usize>,
    /// The request, if the head of the answer and the bytes after it are checked.
    checked: Option<AnswerRequest>,
    violations: Violations,
}

/// State of the answer after the bytes so far.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadProgress {
    /// The answer needs more bytes.
    More,
    /// The answer is complete.
    Done(Answer),
    /// The bytes are invalid HTTP or exceed a limit; the text names the fault.
    Broken(String),
}

/// Part of the answer that the next bytes belong to. A number: missing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadPhase {
    Head,
    Sized(u64),
    ChunkLine,
    Chunk(u64),
    Trailers,
    UntilEnd,
    Over,
}

/// Result of reading one part.
enum Step {
    Again,
    NeedsBytes,
    Complete,
}

impl AnswerReader {
    /// Creates a reader for the answer to a request with `method`.
    pub fn new(method: &str) -> Self {
        Self {
            buffer: BytesMut::new(),
            headless: method == "HEAD",
            phase: ReadPhase::Head,
            head: None,
            body: BytesMut::new(),
            continued: false,
            lines: 0,
            framing: 0,
            kept: None,
            checked: None,
            violations: Violations::default(),
        }
    }

    /// Creates a reader that checks the whole form of the answer to this request.
    pub(super) fn checking(draft: &Draft) -> Self {
        let request = AnswerRequest {
            http10: draft.form.http10,
            upgrades: draft.header_value("upgrade").is_some(),
            is_malformed: draft.body.is_malformed(),
        };
        Self { checked: Some(request), ..Self::new(&draft.method) }
    }

    /// Takes the violations of the grammar so far.
    pub(super) fn take_violations(&mut self) -> Vec<Violation> {
        self.violations.take()
    }

    /// Limits the body to its first `bytes` bytes and drops the rest, of any length.
    #[must_use]
    pub fn keeping(self, bytes: usize) -> Self {
        Self { kept: Some(bytes), ..self }
    }

    /// Whether an interim `100` arrived.
    pub fn continued(&self) -> bool {
        self.continued
    }

    /// Whether any byte of an answer arrived.
    pub fn began(&self) -> bool {
        self.phase != ReadPhase::Head || !self.buffer.is_empty()
    }

    /// Whether bytes are buffered that belong to no answer, or that follow a complete one.
    pub fn has_rest(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Creates a reader for the next answer on the same connection. It begins with the bytes that followed this answer.
    pub(super) fn next(self, draft: &Draft) -> Self {
        Self { buffer: self.buffer, ..Self::checking(draft) }
    }

    /// Notes that the client waited for an interim `100` in vain.
    pub(super) fn lacks_continue(&mut self) {
        self.violations.add(MessageRule::NoContinue, b"");
    }

    /// Takes the bytes after the last answer into account: those read so far, and `more`. `closes`: the answer ends the
    /// connection.
    pub(super) fn end_answers(&mut self, closes: bool, more: &[u8]) {
        let rest = std::mem::take(&mut self.buffer);
        if self.checked.is_none_or(|request| request.is_malformed) || (rest.is_empty() && more.is_empty()) {
            return;
        }
        let rule = if closes { MessageRule::BytesAfterLast } else { MessageRule::BytesAfterEnd };
        self.violations.add(rule, &[&rest, more].concat());
    }

    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) -> ReadProgress {
        self.buffer.extend_from_slice(bytes);
        loop {
            let step = self.step();
            if matches!(step, Ok(Step::Again)) {
                continue;
            }
            if matches!(step, Ok(Step::NeedsBytes)) {
                return ReadProgress::More;
            }
            self.phase = ReadPhase::Over;
            let answer = self.take_answer(true);
            return match step {
                Err(why) => ReadProgress::Broken(why),
                Ok(_) => ReadProgress::Done(answer.expect("a complete answer has a head")),
            };
        }
    }

    /// Ends the stream: yields the incomplete answer if its head is complete.
    pub fn end(mut self) -> Option<Answer> {
        let complete = self.phase == ReadPhase::UntilEnd;
        self.take_answer(complete)
    }

    fn take_answer(&mut self, complete: bool) -> Option<Answer> {
        let body = std::mem::take(&mut self.body).freeze();
        self.head.take().map(|head| Answer { body, complete, ..head })
    }

    fn step(&mut self) -> Result<Step, String> {
        match self.phase {
            ReadPhase::Head => return self.read_head(),
            ReadPhase::Sized(left) => {
                let left = self.read_body(left);
                self.phase = ReadPhase::Sized(left);
                return Ok(if left == 0 { Step::Complete } else { Step::NeedsBytes });
            }
            ReadPhase::ChunkLine => {
                let Some(line) = self.line()? else { return Ok(Step::NeedsBytes) };
                let left =
                    check_chunk_line(&line, &mut self.violations).ok_or("chunk size is not a number")?;
                self.allow(left)?;
                self.count_framing(line.len())?;
                self.phase = if left == 0 { ReadPhase::Trailers } else { ReadPhase::Chunk(left) };
            }
            ReadPhase::Chunk(left) => {
                let left = self.read_body(left);
                if left > 0 || self.buffer.len() < 2 {
                    self.phase = ReadPhase::Chunk(left);
                    return Ok(Step::NeedsBytes);
                }
                if self.buffer.split_to(2).as_ref() != b"\r\n" {
                    return Err("a chunk is longer than its size line says".into());
                }
                self.phase = ReadPhase::ChunkLine;
            }
            ReadPhase::Trailers => match self.line()? {
                None => return Ok(Step::NeedsBytes),
                Some(line) if line.is_empty() => return Ok(Step::Complete),
                Some(line) => {
                    check_trailer(&line, &mut self.violations);
                    self.count_line()?;
                }
            },
            ReadPhase::UntilEnd => {
                self.allow(self.buffer.len() as u64)?;
                self.read_body(u64::MAX);
                return Ok(Step::NeedsBytes);
            }
            ReadPhase::Over => return Err("extra bytes after the answer".into()),
        }
        Ok(Step::Again)
    }

    fn read_head(&mut self) -> Result<Step, String> {
        // Uninitialised on purpose: initialising the fields takes longer than parsing.
        let mut fields = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut []);
        let config = httparse::ParserConfig::default();
        let length = match config.parse_response_with_uninit_headers(&mut parsed, &self.buffer, &mut fields) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if self.buffer.len() > MAX_HEAD => {
                return Err(format!("head longer than {MAX_HEAD} bytes"));
            }
            Ok(httparse::Status::Partial) => return Ok(Step::NeedsBytes),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(format!("more than {MAX_HEADERS} header fields"));
            }
            Err(why) => return Err(why.to_string()),
        };
        let status = parsed.code.unwrap_or_default();
        let version = if parsed.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
        let headers = header_map(parsed.headers)?;
        let head = self.buffer.split_to(length);
        if let Some(request) = self.checked {
            check_answer_head(&head, request, &mut self.violations);
        }
        if (100..200).contains(&status) && status != 101 {
            self.count_line()?;
            self.continued |= status == 100;
            return Ok(Step::Again);
        }
        let answer = Answer { status, version, headers, body: Bytes::new(), complete: false };
        let framing = framing(&answer, self.headless)?;
        if let Some(ReadPhase::Sized(length)) = framing {
            self.allow(length)?;
        }
        self.head = Some(answer);
        let Some(phase) = framing else { return Ok(Step::Complete) };
        self.phase = phase;
        Ok(Step::Again)
    }

    /// Moves up to `left` bytes into the body and returns the number still missing.
    fn read_body(&mut self, left: u64) -> u64 {
        let here = self.buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut bytes = self.buffer.split_to(here);
        bytes.truncate(self.kept.map_or(usize::MAX, |kept| kept.saturating_sub(self.body.len())));
        // Adjacent parts are joined without a copy.
        self.body.unsplit(bytes);
        left - here as u64
    }

    /// Fails when `more` bytes would make the body too long.
    fn allow(&self, more: u64) -> Result<(), String> {
        if self.kept.is_none() && more > MAX_BODY.saturating_sub(self.body.len()) as u64 {
            return Err(format!("body longer than {MAX_BODY} bytes"));
        }
        Ok(())
    }

    fn count_framing(&mut self, line: usize) -> Result<(), String> {
        self.framing += line + "\r\n".len();
        if self.kept.is_none() && self.framing > MAX_FRAMING {
            return Err(format!("more than {MAX_FRAMING} bytes of chunk-size lines"));
        }
        Ok(())
    }

    fn count_line(&mut self) -> Result<(), String> {
        self.lines += 1;
        if self.lines > MAX_LINES {
            return Err(format!("more than {MAX_LINES} interim answers or trailer lines"));
        }
        Ok(())
    }

    fn line(&mut self) -> Result<Option<Bytes>, String> {
        let Some(end) = self.buffer.windows(2).take(MAX_CHUNK_LINE).position(|pair| pair == b"\r\n") else {
            let too_long = self.buffer.len() > MAX_CHUNK_LINE;
            return if too_long { Err("chunk-size line too long".into()) } else { Ok(None) };
        };
        let line = self.buffer.split_to(end).freeze();
        let _ = self.buffer.split_to(2);
        Ok(Some(line))
    }
}

fn header_map(fields: &[httparse::Header<'_>]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|why| why.to_string())?;
        let value = HeaderValue::from_bytes(field.value).map_err(|why| why.to_string())?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// Phase after the head (RFC 9112 §6.3); `None` for an answer without a body.
fn framing(answer: &Answer, headless: bool) -> Result<Option<ReadPhase>, String> {
    if headless || matches!(answer.status, 101 | 204 | 304) {
        return Ok(None);
    }
    if let Some(coding) = answer.headers.get_all(http::header::TRANSFER_ENCODING).iter().next_back() {
        let last = coding.to_str().unwrap_or_default().rsplit(',').next().unwrap_or_default().trim();
        return Ok(Some(if last.eq_ignore_ascii_case("chunked") {
            ReadPhase::ChunkLine
        } else {
            ReadPhase::UntilEnd
        }));
    }
    let mut lengths = answer.headers.get_all(http::header::CONTENT_LENGTH).iter();
    let Some(first) = lengths.next() else { return Ok(Some(ReadPhase::UntilEnd)) };
    if lengths.any(|other| other != first) {
        return Err("two different Content-Length fields".to_owned());
    }
    let digits = first.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|text| text.parse().ok())
        .map(|length| Some(ReadPhase::Sized(length)))
        .ok_or_else(|| "Content-Length is not a number".to_owned())
}

#[cfg(test)]
mod tests;
