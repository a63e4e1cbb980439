/// A rule of HTTP/1 messages that a sender broke (RFC 9110, RFC 9112).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageRule {
    /// Bytes that are no message, before the first line or in its place.
    FirstLine,
    /// One empty line before the first line.
    EmptyLineFirst,
    /// A line that ends with a line feed only.
    BareLineFeed,
    /// A carriage return without a line feed.
    BareCarriageReturn,
    /// A header field on several lines.
    Folding,
    /// White space between the name of a field and its colon.
    SpaceBeforeColon,
    /// A line that is no header field.
    FieldLine,
    /// A NUL in the value of a field.
    NulInValue,
    /// Another control character in the value of a field.
    ControlInValue,
    /// A value that the definition of its field does not permit, such as a date in another form.
    FieldValue,
    /// A field twice that can stand once only.
    RepeatedField,
    /// Both Content-Length and Transfer-Encoding.
    BothLengths,
    /// Content-Length twice, or as a list.
    RepeatedLength,
    /// A Content-Length that is no number.
    MalformedLength,
    /// A transfer coding besides a single `chunked`.
    TransferCoding,
    /// Transfer-Encoding in a message of HTTP/1.0, or in an answer to one.
    CodingInHttp10,
    /// Content-Length or Transfer-Encoding in an answer that cannot have a body.
    LengthWithoutBody,
    /// A chunk-size line that is malformed.
    ChunkLine,
    /// White space after the size of a chunk.
    PaddedChunkLine,
    /// A trailer field that only a header can have, or a line that is no field.
    Trailer,
    /// Bytes after the end of the message.
    BytesAfterEnd,
    /// Bytes after the end of the last message on a connection.
    BytesAfterLast,
    /// A request without Host.
    NoHost,
    /// A request with several Host fields.
    RepeatedHost,
    /// A switch of protocols that the request did not offer.
    UnrequestedSwitch,
    /// An interim answer to a request of HTTP/1.0.
    InterimToHttp10,
    /// Neither 100 nor a final answer to a client that waits for one of them before it sends its body.
    NoContinue,
}

/// A message that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The broken rule.
    pub rule: MessageRule,
    /// The bytes that break it, shortened, or the name of the field. No value of a field that may be secret.
    pub excerpt: String,
}

impl Violation {
    /// The violation without the bytes that show it, which may be secret.
    #[must_use]
    pub fn without_excerpt(self) -> Self {
        Self { excerpt: String::new(), ..self }
    }
}

impl MessageRule {
    /// Whether a conforming recipient may refuse such a message or read another one. False: every recipient reads the same.
    pub fn misleads(self) -> bool {
        !matches!(
            self,
            Self::EmptyLineFirst
                | Self::ControlInValue
                | Self::FieldValue
                | Self::RepeatedField
                | Self::LengthWithoutBody
                | Self::PaddedChunkLine
                | Self::Trailer
                | Self::BytesAfterLast
                | Self::NoContinue
        )
    }
}
