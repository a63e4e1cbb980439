//! Strict grammar of HTTP/1 messages (RFC 9110, RFC 9112), and of header fields: what parsers repair or accept in silence. httparse and hyper
//! have no mode that reports it.

mod field_value;
mod framing;
mod head;
mod request_log;
mod request_reader;
mod violation;

pub use field_value::field_violations;
pub(super) use framing::{check_chunk_line, check_trailer};
pub(super) use head::{AnswerRequest, check_answer_head};
pub use request_log::RequestViolation;
pub(super) use request_log::{RequestCheck, RequestLog};
pub use violation::{MessageRule, Violation};

use std::fmt::Write;

/// Violations of one message. Each rule counts once.
#[derive(Debug, Default)]
pub(super) struct Violations {
    /// Violations since the last [`Self::take`].
    found: Vec<Violation>,
    /// Rules that the message broke so far.
    broken: Vec<MessageRule>,
}

/// Longest excerpt (bytes). A piece of a token as short as this one is no secret.
const EXCERPT: usize = 20;

impl Violations {
    /// Adds a violation, with the bytes that show it.
    pub(super) fn add(&mut self, rule: MessageRule, bytes: &[u8]) {
        if self.broken.contains(&rule) {
            return;
        }
        self.broken.push(rule);
        let mut excerpt = bytes[..bytes.len().min(EXCERPT)].escape_ascii().to_string();
        if bytes.len() > EXCERPT {
            let _ = write!(excerpt, "…");
        }
        self.found.push(Violation { rule, excerpt });
    }

    /// Takes those that were not taken before.
    pub(super) fn take(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.found)
    }

    /// The next violations are of another message.
    fn begin_message(&mut self) {
        self.broken.clear();
    }
}

#[cfg(test)]
mod tests;
