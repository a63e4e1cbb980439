use super::{MessageRule, Violations};

/// Header fields that give the length of a message.
#[derive(Debug, Default)]
pub(super) struct Framing {
    /// Number of Content-Length fields.
    lengths: usize,
    /// The number in the only one.
    length: Option<u64>,
    /// Transfer codings, in order.
    codings: Vec<String>,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyLength {
    /// After this many bytes.
    Bytes(u64),
    /// With its last chunk.
    Chunked,
    /// The fields contradict each other, or are malformed.
    Unclear,
}

/// Fields that a trailer cannot have: framing, routing, authentication, and how to process the content.
const HEADER_ONLY: [&str; 9] = [
    "transfer-encoding",
    "content-length",
    "host",
    "authorization",
    "content-type",
    "content-encoding",
    "content-range",
    "set-cookie",
    "access-control-allow-origin",
];

impl Framing {
    /// Takes a header field into account.
    pub(super) fn field(&mut self, name: &str, value: &[u8], violations: &mut Violations) {
        if name.eq_ignore_ascii_case("content-length") {
            self.lengths += 1;
            let text = std::str::from_utf8(value).unwrap_or_default();
            self.length = number(text, 10);
            if self.lengths > 1 || text.contains(',') {
                violations.add(MessageRule::RepeatedLength, value);
            } else if self.length.is_none() {
                violations.add(MessageRule::MalformedLength, value);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            let text = String::from_utf8_lossy(value);
            self.codings.extend(text.split(',').map(|coding| coding.trim().to_ascii_lowercase()));
        }
    }

    /// The codings of an answer: a client that sends no TE understands `chunked` only.
    pub(super) fn check_answer_codings(&self, violations: &mut Violations) {
        if self.is_coded() && self.codings != ["chunked"] {
            violations.add(MessageRule::TransferCoding, self.codings.join(", ").as_bytes());
        }
    }

    /// The codings of a request: `chunked` is the last one, and there once.
    fn check_request_codings(&self, violations: &mut Violations) {
        let is_chunked = |coding: &&String| *coding == "chunked";
        let is_right = self.codings.iter().filter(is_chunked).count() == 1
            && self.codings.last().as_ref().is_some_and(is_chunked);
        if self.is_coded() && !is_right {
            violations.add(MessageRule::TransferCoding, self.codings.join(", ").as_bytes());
        }
    }

    /// Whether there is a field.
    pub(super) fn is_given(&self) -> bool {
        self.lengths > 0 || !self.codings.is_empty()
    }

    /// Whether a field announces a body.
    pub(super) fn says_body(&self) -> bool {
        self.is_given() && !(self.codings.is_empty() && self.length == Some(0))
    }

    /// Whether there is Transfer-Encoding.
    pub(super) fn is_coded(&self) -> bool {
        !self.codings.is_empty()
    }

    /// The end of the body of a request with these fields.
    pub(super) fn of_request(&self, violations: &mut Violations) -> BodyLength {
        self.check_request_codings(violations);
        self.check_both(violations);
        match (self.lengths, self.codings.as_slice()) {
            (0, []) => BodyLength::Bytes(0),
            (1, []) => self.length.map_or(BodyLength::Unclear, BodyLength::Bytes),
            (0, [.., last]) if last == "chunked" => BodyLength::Chunked,
            _ => BodyLength::Unclear,
        }
    }

    /// A message has one kind of length.
    pub(super) fn check_both(&self, violations: &mut Violations) {
        if self.lengths > 0 && self.is_coded() {
            violations.add(MessageRule::BothLengths, b"");
        }
    }
}

/// Checks a chunk-size line, and yields its number of bytes. None: no size.
pub(crate) fn check_chunk_line(line: &[u8], violations: &mut Violations) -> Option<u64> {
    let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = size.trim_ascii_end();
    let bytes = std::str::from_utf8(digits).ok().and_then(|digits| number(digits, 16));
    if bytes.is_none() || line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        violations.add(MessageRule::ChunkLine, line);
    } else if digits.len() < size.len() && size.len() == line.len() {
        violations.add(MessageRule::PaddedChunkLine, line);
    }
    bytes
}

/// Checks a line of a trailer.
pub(crate) fn check_trailer(line: &[u8], violations: &mut Violations) {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_header_only = HEADER_ONLY.iter().any(|field| name.eq_ignore_ascii_case(field.as_bytes()));
    if is_header_only || name.len() == line.len() || !super::head::is_token(name) {
        violations.add(MessageRule::Trailer, name);
    }
}

/// Digits only: neither sign nor white space.
fn number(text: &str, radix: u32) -> Option<u64> {
    let digits = !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix));
    digits.then(|| u64::from_str_radix(text, radix).ok()).flatten()
}
