use super::framing::{BodyLength, Framing};
use super::{MessageRule, Violations};

/// The request of an answer, as far as it decides what the answer may be.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AnswerRequest {
    /// HTTP/1.0.
    pub(crate) http10: bool,
    /// It has Upgrade.
    pub(crate) upgrades: bool,
    /// Its framing is malformed: a server can take the rest of it for a second request, and answer that too.
    pub(crate) is_malformed: bool,
}

/// Checks the head of an answer, interim or final. The head ends with its empty line.
pub(crate) fn check_answer_head(head: &[u8], request: AnswerRequest, violations: &mut Violations) {
    let mut lines = Lines(head);
    let first = lines.next(violations).unwrap_or_default();
    if first.is_empty() {
        return violations.add(MessageRule::FirstLine, head);
    }
    let status = status(first);
    let fields = Fields::check(lines, violations);
    let (framing, interim) = (fields.framing, status.is_some_and(|status| (100..200).contains(&status)));
    // A length of zero is wrong too, but it is what a recipient assumes.
    if framing.says_body() && (interim || status == Some(204)) {
        violations.add(MessageRule::LengthWithoutBody, first);
    }
    if framing.is_coded() && (request.http10 || first.starts_with(b"HTTP/1.0")) {
        violations.add(MessageRule::CodingInHttp10, b"");
    }
    framing.check_answer_codings(violations);
    framing.check_both(violations);
    if interim && request.http10 {
        violations.add(MessageRule::InterimToHttp10, first);
    }
    if status == Some(101) && !request.upgrades {
        violations.add(MessageRule::UnrequestedSwitch, first);
    }
}

/// Checks the head of a request, and yields how its body ends. The head ends with its empty line.
pub(super) fn check_request_head(head: &[u8], violations: &mut Violations) -> BodyLength {
    let mut lines = Lines(head);
    let mut first = lines.next(violations).unwrap_or_default();
    if first.is_empty() {
        violations.add(MessageRule::EmptyLineFirst, b"");
        first = lines.next(violations).unwrap_or_default();
    }
    let Some(http10) = request_is_http10(first) else {
        violations.add(MessageRule::FirstLine, first);
        return BodyLength::Unclear;
    };
    let fields = Fields::check(lines, violations);
    match fields.hosts {
        0 if !http10 => violations.add(MessageRule::NoHost, b""),
        0 | 1 => {}
        _ => violations.add(MessageRule::RepeatedHost, b""),
    }
    if fields.framing.is_coded() && http10 {
        violations.add(MessageRule::CodingInHttp10, b"");
    }
    fields.framing.of_request(violations)
}

/// Where the head at the start of these bytes ends, with its empty line. None: later.
pub(super) fn head_end(bytes: &[u8]) -> Option<usize> {
    let mut begins = 0;
    let mut had_line = false;
    for end in memchr::memchr_iter(b'\n', bytes) {
        let line = &bytes[begins..end];
        begins = end + 1;
        if !matches!(line, b"" | b"\r") {
            had_line = true;
        } else if had_line {
            return Some(begins);
        }
    }
    None
}

/// Whether a head of a request can begin with these bytes: empty lines, then a method.
pub(super) fn begins_head(bytes: &[u8]) -> bool {
    let lines = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
    let method = bytes[lines..].split(|byte| *byte == b' ').next().unwrap_or_default();
    lines == bytes.len() || is_token(method)
}

/// Whether these bytes are a token (RFC 9110 §5.6.2).
pub(super) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Lines of a head.
struct Lines<'h>(&'h [u8]);

impl<'h> Lines<'h> {
    /// The next line, without its end.
    fn next(&mut self, violations: &mut Violations) -> Option<&'h [u8]> {
        let (line, length) = line(self.0, violations)?;
        self.0 = &self.0[length..];
        if line.contains(&b'\r') {
            violations.add(MessageRule::BareCarriageReturn, name(line));
        }
        Some(line)
    }
}

/// The line at the start of these bytes, without its end, and its length with it. None: it has no end yet.
pub(super) fn line<'b>(bytes: &'b [u8], violations: &mut Violations) -> Option<(&'b [u8], usize)> {
    let end = memchr::memchr(b'\n', bytes)?;
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or_else(|| {
        violations.add(MessageRule::BareLineFeed, name(&bytes[..end]));
        &bytes[..end]
    });
    Some((line, end + 1))
}

/// What the header fields of a message say.
#[derive(Default)]
struct Fields {
    framing: Framing,
    /// Number of Host fields.
    hosts: usize,
}

impl Fields {
    /// Checks the lines up to the empty one.
    fn check(mut lines: Lines<'_>, violations: &mut Violations) -> Self {
        let mut fields = Self::default();
        while let Some(line) = lines.next(violations).filter(|line| !line.is_empty()) {
            fields.line(line, violations);
        }
        fields
    }

    fn line(&mut self, line: &[u8], violations: &mut Violations) {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            return violations.add(MessageRule::Folding, b"");
        }
        let Some(colon) = memchr::memchr(b':', line) else {
            return violations.add(MessageRule::FieldLine, b"");
        };
        let (spaced, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let name = spaced.trim_ascii_end();
        if !is_token(name) {
            return violations.add(MessageRule::FieldLine, name);
        }
        if name.len() < spaced.len() {
            violations.add(MessageRule::SpaceBeforeColon, name);
        }
        if value.contains(&0) {
            violations.add(MessageRule::NulInValue, name);
        } else if value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
            violations.add(MessageRule::ControlInValue, name);
        }
        // An invariant of tokens.
        let name = std::str::from_utf8(name).unwrap_or_default();
        self.hosts += usize::from(name.eq_ignore_ascii_case("host"));
        self.framing.field(name, value, violations);
    }
}

/// The part of a line that is no secret: the name of a field, the start of a first line.
pub(super) fn name(line: &[u8]) -> &[u8] {
    line.split(|byte| matches!(byte, b':' | b' ' | b'\r')).next().unwrap_or_default()
}

/// Status in a status line. httparse accepted the line.
fn status(line: &[u8]) -> Option<u16> {
    let digits = line.split(|byte| *byte == b' ').nth(1)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Whether a strict request line (RFC 9112 §3) is of HTTP/1.0. None: it is none.
fn request_is_http10(line: &[u8]) -> Option<bool> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (method, target, version) = (parts.next()?, parts.next()?, parts.next()?);
    let is_target = !target.is_empty() && target.iter().all(u8::is_ascii_graphic);
    if parts.next().is_some() || !is_token(method) || !is_target {
        return None;
    }
    match version {
        b"HTTP/1.0" => Some(true),
        b"HTTP/1.1" => Some(false),
        _ => None,
    }
}
