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
    /// What a message did that breaks the rule.
    pub fn describe(self) -> &'static str {
        match self {
            Self::FirstLine => "bytes that begin no message",
            Self::EmptyLineFirst => "an empty line before the first line",
            Self::BareLineFeed => "a line that ends without a carriage return",
            Self::BareCarriageReturn => "a carriage return within a line",
            Self::Folding => "a header field on several lines",
            Self::SpaceBeforeColon => "white space before the colon of a field",
            Self::FieldLine => "a line that is no header field",
            Self::NulInValue => "a NUL in the value of a field",
            Self::ControlInValue => "a control character in the value of a field",
            Self::FieldValue => "a value that the definition of its field does not permit",
            Self::RepeatedField => "a field twice that can stand once only",
            Self::BothLengths => "both Content-Length and Transfer-Encoding",
            Self::RepeatedLength => "more than one Content-Length",
            Self::MalformedLength => "a Content-Length that is no number",
            Self::TransferCoding => "a transfer coding that is not a single `chunked`",
            Self::CodingInHttp10 => "Transfer-Encoding with HTTP/1.0",
            Self::LengthWithoutBody => "a length on an answer without a body",
            Self::ChunkLine => "a malformed chunk size",
            Self::PaddedChunkLine => "white space after a chunk size",
            Self::Trailer => "a trailer field that cannot be one",
            Self::BytesAfterEnd => "bytes after the end of the message",
            Self::BytesAfterLast => "bytes after the end of the last message",
            Self::NoHost => "no Host",
            Self::RepeatedHost => "more than one Host",
            Self::UnrequestedSwitch => "101 to a request without Upgrade",
            Self::NoContinue => "neither 100 nor an answer to Expect: 100-continue",
            Self::InterimToHttp10 => "an interim answer to a request of HTTP/1.0",
        }
    }

    /// Where a standard states the rule.
    pub fn source(self) -> &'static str {
        match self {
            Self::FirstLine => "RFC 9112 §3 and §4",
            Self::EmptyLineFirst | Self::BareLineFeed | Self::BareCarriageReturn => "RFC 9112 §2.2",
            Self::Folding => "RFC 9112 §5.2",
            Self::SpaceBeforeColon | Self::FieldLine => "RFC 9112 §5.1",
            Self::NulInValue | Self::ControlInValue => "RFC 9110 §5.5",
            Self::FieldValue => "RFC 9110 §2.2",
            Self::RepeatedField => "RFC 9110 §5.3",
            Self::BothLengths => "RFC 9112 §6.2",
            Self::RepeatedLength | Self::MalformedLength => "RFC 9110 §8.6",
            Self::TransferCoding | Self::CodingInHttp10 => "RFC 9112 §6.1",
            Self::LengthWithoutBody => "RFC 9110 §8.6 and RFC 9112 §6.1",
            Self::ChunkLine | Self::PaddedChunkLine => "RFC 9112 §7.1",
            Self::Trailer => "RFC 9110 §6.5.1",
            Self::BytesAfterEnd | Self::BytesAfterLast => "RFC 9112 §6.3",
            Self::NoHost | Self::RepeatedHost => "RFC 9112 §3.2",
            Self::UnrequestedSwitch => "RFC 9110 §7.8",
            Self::NoContinue => "RFC 9110 §10.1.1",
            Self::InterimToHttp10 => "RFC 9110 §15.2",
        }
    }

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
